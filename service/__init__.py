"""HTTP, command line and settings around the core: translates, never decides."""
