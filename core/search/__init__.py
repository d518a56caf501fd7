"""The read pipeline: from a query to ranked hits."""
