"""Names that the space itself knows: those of speakers, and those of other memories."""

from collections.abc import Callable, Collection, Iterator, Sequence, Set

from muisti.core.graph.entities.names import folded
from muisti.core.graph.entities.spans import Span
from muisti.core.model.graph import Mention
from muisti.core.model.graph_terms import EntityKind

SPEAKER, KNOWN = 0.98, 0.85  # set by hand
LONGEST = 5  # words of a known name
ROLES = frozenset({"user", "assistant", "system", "human", "ai", "bot", "tool", "agent", "model"})


class Names:
    """Names of speakers, and keys of entities."""

    def __init__(self, speakers: Collection[str], known: Collection[str]) -> None:
        full = {tuple(speaker.casefold().split()) for speaker in speakers if speaker.casefold() not in ROLES}
        self._speakers = {name for name in full if name} | {(word,) for name in full for word in name if len(word) > 1}
        self._longest = max(map(len, self._speakers), default=0)
        self._known = known

    def speakers(self, text: str, words: Sequence[tuple[int, int]]) -> Iterator[Mention]:
        """Yield where the words name a speaker, by the full name or by a word of it."""
        if not self._speakers:
            return
        folded = [text[start:stop].casefold() for start, stop in words]
        at = 0
        while at < len(words):
            size = next(
                (
                    size
                    for size in range(min(self._longest, len(words) - at), 0, -1)
                    if text[words[at][0]].isupper() and tuple(folded[at : at + size]) in self._speakers
                ),
                0,
            )
            if size:
                yield Mention(words[at][0], words[at + size - 1][1], "person", SPEAKER, "speaker")
            at += size or 1

    def known(
        self, words: Sequence[str], found: Sequence[Span], kind: Callable[[int, int], EntityKind]
    ) -> Iterator[Span]:
        """Yield where words with a capital are the key of an entity and in no span; `kind` tells that of words."""
        if not self._known:
            return
        taken = {at for span in found for at in range(span.start, span.stop)}
        at = 0
        while at < len(words):
            stop = self._end(words, at, taken)
            if stop > at:
                yield Span(at, stop, kind(at, stop), KNOWN, "known")
            at = max(stop, at + 1)

    def _end(self, words: Sequence[str], start: int, taken: Set[int]) -> int:
        """Return where the longest known name that begins at `start` ends; `start` when none begins."""
        if not words[start][:1].isupper():
            return start
        for stop in range(min(len(words), start + LONGEST), start, -1):
            if taken.isdisjoint(range(start, stop)) and folded(" ".join(words[start:stop])) in self._known:
                return stop
        return start
