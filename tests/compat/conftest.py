collect_ignore = ["theirs.py"]  # runs in an environment of its own
