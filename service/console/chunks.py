"""A document as people read it: its chunks with their borders, and the outline of its headings. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Item = Mapping[str, Any]


class Shown(NamedTuple):
    """A chunk with its place. `again` is the text that it repeats of the chunk before, `text` the rest."""

    number: int
    id: str
    place: str
    tokens: int
    again: str
    text: str


class Heading(NamedTuple):
    """A heading of the outline, how deep it is, and the number of the first chunk below it."""

    title: str
    depth: int
    chunk: int


def shown(items: Sequence[Item], first: int = 1) -> list[Shown]:
    """Return the chunks of a page; `first` is the number of the first one in the document."""
    return [
        Shown(
            number=number,
            id=one["id"],
            place=place_of(one),
            tokens=one["tokens"],
            again=one["content"][: one["overlap"]],
            text=one["content"][one["overlap"] :],
        )
        for number, one in enumerate(items, first)
    ]


def place_of(one: Item) -> str:
    """Return where a chunk or a cut is: its symbol, page, lines and characters, as far as they are known.

    >>> place_of({"start": 0, "stop": 172, "first_line": 1, "last_line": 8, "page": 2, "symbol": None})
    'page 2, lines 1 to 8, characters 0 to 172'
    """
    parts = [f"{one['symbol']}"] if one["symbol"] else []
    if one["page"]:
        parts.append(f"page {one['page']}")
    if one.get("first_line"):
        same = one["first_line"] == one["last_line"]
        parts.append(f"line {one['first_line']}" if same else f"lines {one['first_line']} to {one['last_line']}")
    return ", ".join([*parts, f"characters {one['start']:,} to {one['stop']:,}"])


def outline(items: Sequence[Item], first: int = 1) -> list[Heading]:
    """Return the headings above the chunks of a page, each once where it begins.

    >>> outline([{"headings": ["A"]}, {"headings": ["A", "B"]}, {"headings": ["C"]}])
    [Heading(title='A', depth=0, chunk=1), Heading(title='B', depth=1, chunk=2), Heading(title='C', depth=0, chunk=3)]
    """
    found: list[Heading] = []
    before: Sequence[str] = ()
    for number, one in enumerate(items, first):
        path: Sequence[str] = one["headings"]
        common = 0
        while common < min(len(path), len(before)) and path[common] == before[common]:
            common += 1
        found += [Heading(title, depth, number) for depth, title in enumerate(path) if depth >= common]
        before = path
    return found
