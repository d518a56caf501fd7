"""The console: pages in a browser that show what agents remember. It is a client of the public API alone."""

ROOT = "/console"
