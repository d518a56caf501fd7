"""Progress of the build, one line at a time."""

import sys


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
