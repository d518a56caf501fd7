"""Names that a model elsewhere reports, without their places: they are found in the text here, and never believed.

A name counts wherever a sentence has it exactly as it was reported. A name that no sentence has is dropped.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

from muisti.core.graph.entities.knowing import Names
from muisti.core.graph.entities.recogniser import with_rules
from muisti.core.graph.entities.tokens import stretches
from muisti.core.model.graph import Mention
from muisti.core.model.graph_terms import NAME_CHARACTERS, EntityKind
from muisti.core.text.terms import is_unspaced

CONFIDENCE = 0.65  # set by hand: models tell none that is comparable
WINDOW = 6_000  # characters of a text that are asked about at a time
GAP = 20  # characters between sentences that are asked about together: more are code


class Reported(NamedTuple):
    """A name as a model has written it, with its kind."""

    name: str
    kind: EntityKind


class Asked(Protocol):
    """Interface of models elsewhere that are asked for names. Equal identities are asked in the same way."""

    @property
    def identity(self) -> str: ...

    def ask(self, texts: Sequence[str]) -> Sequence[Sequence[Reported] | None]:
        """Return the names in each text; None for a text about which there was no good answer."""
        ...

    def close(self) -> None: ...


def windows(text: str) -> list[tuple[int, int]]:
    """Return the start and stop of the parts of a text that are asked about: whole sentences, and no code blocks."""
    found: list[tuple[int, int]] = []
    for part in stretches(text):
        start, stop = part.words[0][0], part.words[-1][1]
        if stop - start > WINDOW:
            continue
        if found and stop - found[-1][0] <= WINDOW and start - found[-1][1] <= GAP:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found


def mentions(text: str, reported: Sequence[Reported], speakers: Collection[str]) -> tuple[list[Mention], int]:
    """Return the mentions of a text, in order, without overlaps, and how many of the names reported are not in it.

    The rules of the shipped recogniser come first: identifiers, symbols, quoted titles, speakers; words for times last.
    """
    placed, dropped = _placed(text, reported)
    names, found = Names(speakers, ()), list[Mention]()
    at = 0
    for part in stretches(text):
        start, stop = part.words[0][0], part.words[-1][1]
        while at < len(placed) and placed[at].start < start:
            at += 1
        own: list[Mention] = []
        while at < len(placed) and placed[at].start < stop:
            if placed[at].stop <= stop:
                own.append(placed[at])
            at += 1
        found += with_rules(text, part, names, own)
    return found, dropped


def _placed(text: str, reported: Sequence[Reported]) -> tuple[list[Mention], int]:
    """Return where a text has names, in order, the longest at each place; and how many it has not."""
    kinds: dict[str, EntityKind] = {}
    dropped = 0
    for name, kind in reported:
        bare = name.strip()
        if 0 < len(bare) <= NAME_CHARACTERS and any(map(str.isalnum, bare)) and next(_places(text, bare), None):
            kinds.setdefault(bare, kind)
        else:
            dropped += 1
    found: list[Mention] = []
    taken = bytearray(len(text))
    for name in sorted(kinds, key=lambda one: (-len(one), one)):
        for start, stop in _places(text, name):
            if not any(taken[start:stop]):
                taken[start:stop] = b"\1" * (stop - start)
                found.append(Mention(start, stop, kinds[name], CONFIDENCE, "endpoint"))
    return sorted(found, key=lambda one: one.start), dropped


def _places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has a name as whole words. Scripts without spaces have no such borders."""
    before = "" if is_unspaced(name[0]) or not name[0].isalnum() else r"(?<!\w)"
    after = "" if is_unspaced(name[-1]) or not name[-1].isalnum() else r"(?!\w)"
    return (match.span() for match in re.finditer(before + re.escape(name) + after, text))
