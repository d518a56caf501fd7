"""The entities that a question names, looked up among those of the space by the words of the question."""

import re
from typing import cast

from muisti.core.entities.names import folded, lookups, norm
from muisti.core.graph.merging import Group
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.store.sql import graph
from muisti.core.text.terms import query_terms

WORDS = 100  # of a question that are looked at
LONGEST = 5  # words of a name in a question
_ASKING = "who whose whom what when where why which how did does was were has have can could"
ASKING = frozenset(_ASKING.split(" "))  # words of questions, that are no names
_WORD = re.compile(r"\S+")


def candidates(text: str) -> list[tuple[int, int, str]]:
    """Return what may be a name in a text, as (first word, word after, norm): the longest first, then in order.

    A name begins and ends with no small letter, and with no stop word or word of questions.

    >>> candidates("Where does Ann Lee's dog sleep?")
    [(2, 4, 'Ann Lee'), (2, 3, 'Ann'), (3, 4, 'Lee')]
    """
    words = [(one.start(), one.end()) for one in _WORD.finditer(text)][:WORDS]
    found: list[tuple[int, int, str]] = []
    for first, (start, _) in enumerate(words):
        for after in range(first + 1, min(first + LONGEST, len(words)) + 1):
            name = text[start : words[after - 1][1]].lstrip("\"'“‘([")
            if _may_be(name):
                found.append((first, after, norm(name)))
    return sorted(found, key=lambda one: (one[0] - one[1], one[0]))


def _may_be(name: str) -> bool:
    words = name.split()
    ends = (words[0], words[-1]) if words else ()
    return bool(ends) and all(not end[0].islower() and folded(end) not in ASKING and query_terms(end) for end in ends)


def named(reader: GraphReader, opened: Opened, text: str) -> list[Group]:
    """Return the entities that a text names, in the order of the text; of overlapping names the longest."""
    spoken = candidates(text)
    if not spoken:
        return []
    asked = [key for *_, name in spoken for key in lookups(name)]
    (rows,) = reader.database.read([graph.called(opened.space.space.name, asked, [], opened.shown)])
    opened.groups.learn(rows, brief=False)
    groups = opened.groups.of(cast(int, row[0]) for row in rows)
    opened.groups.sketch({one for group in groups.values() for one in group.members})
    taken: dict[int, Group] = {}
    covered: set[int] = set()
    for first, after, name in spoken:
        group = next((groups[one] for one in opened.groups.called(name) if one in groups), None)
        if group is None or not covered.isdisjoint(range(first, after)):
            continue
        if any(opened.groups.sketched(one) for one in group.members):
            taken[first] = group
            covered.update(range(first, after))
    return [*{taken[first].head: taken[first] for first in sorted(taken)}.values()]
