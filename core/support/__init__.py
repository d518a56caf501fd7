"""Small parts that know nothing of memories: locks, counters, a notifier, remembered results."""
