"""Sets of texts with labelled names, each in the format that it is published in."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

KINDS = {
    **{kind: kind for kind in ("PER", "ORG", "LOC", "MISC")},
    **{"person": "PER", "location": "LOC", "corporation": "ORG", "group": "ORG", "product": "MISC"},
    **{"creative-work": "MISC", "Peop": "PER", "Loc": "LOC", "Org": "ORG", "Other": "MISC"},
}
"""Each set's own kinds, as one of four."""


class Judged(Struct, frozen=True):
    """A text with its names: start, stop, and one of four kinds. Places are in characters.

    `words` are those that the set cuts the text into; None for running text. A name that touches `optional` counts
    neither for nor against. `speakers` are the sides of a conversation.
    """

    text: str
    spans: tuple[tuple[int, int, str], ...]
    words: tuple[tuple[int, int], ...] | None = None
    optional: tuple[tuple[int, int], ...] = ()
    speakers: tuple[str, ...] = ()


def of_words(words: Sequence[str], spans: Sequence[tuple[int, int, str]]) -> Judged:
    """Return a judged text of words with one space between; `spans` count words."""
    places: list[tuple[int, int]] = []
    at = 0
    for word in words:
        places.append((at, at + len(word)))
        at += len(word) + 1
    found = tuple((places[start][0], places[stop - 1][1], KINDS[kind]) for start, stop, kind in spans)
    return Judged(" ".join(words), found, tuple(places))


def of_tags(words: Sequence[str], tags: Sequence[str]) -> Judged:
    """Return a judged text of words with tags in the IOB form, where "I" may begin a name as well."""
    spans: list[tuple[int, int, str]] = []
    for at, tag in enumerate(tags):
        kind = tag[2:]
        if spans and tag[0] == "I" and spans[-1][1] == at and spans[-1][2] == kind:
            spans[-1] = (spans[-1][0], at + 1, kind)
        elif tag != "O":
            spans.append((at, at + 1, kind))
    return of_words(words, spans)


def columns(path: Path, word: int, tag: int) -> list[Judged]:
    """Read a file of a word a line, with columns for the word and its tag, and an empty line after each sentence."""
    found: list[Judged] = []
    words: list[str] = []
    tags: list[str] = []
    for line in (*path.read_text("utf-8").splitlines(), ""):
        parts = line.split("\t") if "\t" in line else line.split()
        if line.strip() and not line.startswith(("-DOCSTART-", "#doc")):
            words.append(parts[word])
            tags.append(parts[tag])
        elif words:
            found.append(of_tags(words, tags))
            words, tags = [], []
    return found


def rows(path: Path) -> list[Judged]:
    """Read a file of a sentence a line, in JSON: `tokens`, and `entities` or `spans` that count them."""
    return [_row(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line]


def _row(row: dict) -> Judged:
    spans = row.get("spans") or [(one["start"], one["end"], one["type"]) for one in row.get("entities", ())]
    return of_words(row["tokens"], [(int(start), int(stop), kind) for start, stop, kind in spans])


def turns(labels: Path, conversations: Path) -> Iterator[Judged]:
    """Yield turns of conversations. `labels` has ids of turns and places in them; `conversations` has the texts.

    Raises KeyError when a turn is missing.
    """
    texts, speakers = {}, {}
    for line in conversations.read_text("utf-8").splitlines():
        row = json.loads(line)
        texts[row["id"]] = (row["group"], row["text"])
        speakers.setdefault(row["group"], set()).add(row["meta"]["speaker"])
    for label in json.loads(labels.read_text("utf-8")):
        group, text = texts[label["id"]]
        body = label["body"]
        spans = tuple((start - body, stop - body, kind) for start, stop, kind in label["spans"])
        optional = tuple((start - body, stop - body) for start, stop in label["optional"])
        yield Judged(text[body:], spans, None, optional, tuple(sorted(speakers[group])))
