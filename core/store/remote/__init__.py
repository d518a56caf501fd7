"""A database on a server that speaks Hrana over HTTP."""
