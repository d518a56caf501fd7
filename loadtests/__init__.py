"""Benchmarks: what is claimed about speed is printed by these, side by side with what it is compared with."""
