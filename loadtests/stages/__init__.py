"""Stages of the benchmark: each measures on a `Bed` of one size and returns plain values for JSON."""
