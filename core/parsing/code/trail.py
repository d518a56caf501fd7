"""Keys of the files and names that an answer depends on, collected while it is looked for."""

from collections.abc import Iterable


class Trail:
    """Keys that were asked for. A part of the search that is remembered has its own keys, which count as often."""

    def __init__(self) -> None:
        self.keys: set[str] = set()

    def add(self, keys: Iterable[str]) -> None:
        """Take in keys."""
        self.keys.update(keys)

    def begin(self) -> set[str]:
        """Begin a part. Return the keys so far, for `end`."""
        before, self.keys = self.keys, set()
        return before

    def end(self, before: set[str]) -> set[str]:
        """End a part, and return its keys."""
        own, self.keys = self.keys, before | self.keys
        return own
