"""Observability of the service: logs, counters, traces, times of the stages of a start."""
