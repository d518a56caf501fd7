"""How the code is built, in numbers: its files beside those of other projects, and the steps of a request."""
