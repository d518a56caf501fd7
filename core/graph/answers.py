"""Find the facts of the graph that answer a question, by the memories that state them.

A fact answers when the question names its subject or object and asks for its kind: "Where does Ann live?" asks for
`lives_in`, by the word "live". Facts that have ended answer nothing. The words of the known kinds are listed here, in
English; a caller's own kind is asked for by its own words, such as "reports".
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple, cast

from muisti.core.graph.model import Relation
from muisti.core.graph.pagerank import lacks, named
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.graph.sql import graph_ties
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import ME
from muisti.core.model.errors import Conflict, NotFound
from muisti.core.model.times import to_us
from muisti.core.query.points import AsOf
from muisti.core.store.database import Rows
from muisti.core.text.terms import query_terms, tokenize

FACTS = 500  # that are looked at, the latest of all named entities
EACH = 5  # facts of one memory that are shown
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself)\b", re.IGNORECASE)
_KINDS: Mapping[str, str] = {
    "prefers": "prefer favourite favorite like",
    "likes": "like love enjoy fan favourite favorite",
    "dislikes": "dislike hate like",
    "avoids": "avoid eat drink",
    "allergic_to": "allergic allergy allergies",
    "uses": "use tool",
    "owns": "own have has got pet car",
    "made": "make made build built write wrote paint painted create created",
    "plans": "plan planning",
    "attended": "attend go went",
    "visited": "visit travel been trip",
    "lives_in": "live home city town reside residence address moved",
    "comes_from": "come born origin hometown country",
    "works_at": "work job employer company employed",
    "is": "job profession occupation work vegan vegetarian",
    "kin": "family relative sister brother mother father son daughter aunt uncle cousin",
    "spouse": "wife husband spouse partner married marry",
    "knows": "know friend boss colleague",
    "located_in": "located where country city",
    "based_in": "based headquarters office where",
    "killed": "kill murder",
}
_WORDS = {kind: frozenset(tokenize(words)) for kind, words in _KINDS.items()}


class Answering(NamedTuple):
    """Facts that answer a question, as short lines by the row of the version that states them; what is missing."""

    lines: Mapping[int, tuple[str, ...]] = {}
    degraded: tuple[str, ...] = ()


class FactAnswers:
    """Looks for facts that answer questions. Thread-safe."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader

    def ask(self, space: str, question: str, caller: Caller, now: int, as_of: AsOf | None) -> Answering:
        """Return the facts that a caller sees and that answer a question.

        Raises:
            NotFound: there is no such space.
            EpochGone, PastRetention, PointAhead: it cannot be shown as it was then.
        """
        try:
            opened, rows = asked_about(self._reader, space, question, caller, now, as_of, FACTS)
        except Conflict as off:
            return Answering(degraded=(f"{off}: ranked without its facts",))
        words, time = {*tokenize(question)}, opened.shown.point.time
        fitting = [row for row in rows if not words.isdisjoint(_asking(cast(str, row[3])))]
        lines: dict[int, list[str]] = {}
        for row, one in zip(fitting, self._reader.related(opened, fitting), strict=True):
            if one.valid_to is None or to_us(one.valid_to) > time:
                lines.setdefault(cast(int, row[0]), []).append(told(one))
        return Answering({row: tuple(own[:EACH]) for row, own in lines.items()}, lacks(opened.pending))


def asked_about(
    reader: GraphReader, space: str, question: str, caller: Caller, now: int, as_of: AsOf | None, most: int
) -> tuple[Opened, Rows]:
    """Open a space, and return the latest relations of what a question names, and of the user where it says "I".

    Raises:
        Conflict: the graph of the space is off.
        NotFound, EpochGone, PastRetention, PointAhead: the space cannot be opened.
    """
    opened = reader.open(space, caller, now, as_of, [ME])
    groups = named(reader, opened, question)
    if _FIRST_PERSON.search(question):
        with suppress(NotFound):  # nothing is known of the user
            groups.append(reader.find(opened, ME))
    members = {one for group in groups for one in group.members}
    if not members:
        return opened, []
    asked = graph_ties.of_entities(members, opened.shown, None, subject=True, target=True, limit=most)
    return opened, reader.database.read([asked])[0]


def told(one: Relation) -> str:
    """Return a relation as a short line, with the days between which it held where it has ended."""
    thing = one.literal or "" if one.object is None else one.object.name
    days = one.valid_from.date().isoformat()
    days = f"since {days}" if one.valid_to is None else f"{days} to {one.valid_to.date().isoformat()}"
    said = f"{'not ' if one.negative else ''}{one.kind.replace('_', ' ')}"
    return " ".join(f"{one.subject.name}: {said} {thing} ({days})".split())


def _asking(kind: str) -> frozenset[str]:
    """Return the words that ask for a kind.

    >>> sorted(_asking("reports_to"))
    ['report']
    """
    return _WORDS.get(kind) or frozenset(query_terms(kind.replace("_", " ")))
