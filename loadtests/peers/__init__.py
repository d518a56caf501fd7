"""The libraries that Muisti is measured beside, an adapter each, set up as their own documentation recommends."""
