"""Building the parts of the core: shared ones first, then a group for each view, then what works on all spaces."""
