"""The code of docs/how-to/frameworks.md, run against a server: `make frameworks-test`."""
