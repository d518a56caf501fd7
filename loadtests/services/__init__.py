"""Memory services over HTTP, each in a process of its own, set up as its documentation recommends."""
