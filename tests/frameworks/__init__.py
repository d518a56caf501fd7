"""The code of docs/frameworks.md, run against a server: `make frameworks-test`."""
