"""Requests of applications: searches, writes, and calls of tools, with texts and questions that never repeat."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from loadtests.http_load import Request
from loadtests.mcp import call
from loadtests.open_loop import TimedProtocol
from loadtests.services import muisti

MIXES: Mapping[str, Mapping[str, float]] = {
    "mixed": {"search": 0.6, "add": 0.25, "recall": 0.1, "remember": 0.05},
    "searches": {"search": 1.0},
    "writes": {"add": 1.0},
    "tools": {"recall": 0.7, "remember": 0.3},
}
WRITES = ("add", "remember")  # kinds whose answer acknowledges a memory


class Traffic:
    """Requests of several kinds, at random by their weights."""

    def __init__(self, texts: Sequence[str], questions: Sequence[str], weights: Mapping[str, float], seed: int) -> None:
        self._texts, self._questions = texts, questions
        self._kinds, self._weights = list(weights), list(weights.values())
        self._rng = random.Random(seed)
        self._number = 0
        self._make: Mapping[str, Callable[[], Request]] = {
            "search": lambda: muisti.search(self._question()),
            "add": lambda: muisti.write(self._text(), "keep"),
            "recall": lambda: call(self._number, "recall", {"query": self._question(), "space": muisti.SPACE}),
            "remember": lambda: call(
                self._number, "remember", {"content": self._text(), "on_conflict": "keep", "space": muisti.SPACE}
            ),
        }

    def requests(self) -> Iterator[tuple[str, Request]]:
        """Kind and request, without end."""
        while True:
            (kind,) = self._rng.choices(self._kinds, self._weights)
            self._number += 1
            yield kind, self._make[kind]()

    def due(self, times: Iterable[float]) -> Iterator[TimedProtocol]:
        """A request at each of these times. Answers to writes are kept."""
        for at, (kind, request) in zip(times, self.requests(), strict=False):
            yield TimedProtocol(at, kind, request, kept=kind in WRITES)

    def _question(self) -> str:
        first, second = self._rng.choice(self._questions), self._rng.choice(self._questions)
        return f"{first} {max(second.split(), key=len)}"

    def _text(self) -> str:
        return f"{self._rng.choice(self._texts)} ({self._number})"
