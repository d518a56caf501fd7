"""Progress of long work, reported by the code that does it."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # stage, done, of how many


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""
