"""What the service tells about itself: logs, counters, traces, times of a start."""
