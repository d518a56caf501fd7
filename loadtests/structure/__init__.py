"""Figures of the code's structure: its files compared with those of other projects, and the steps of a request."""
