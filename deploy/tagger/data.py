"""Sentences with labelled names, read from the folders of judged data."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

TAGS = ("O", *(f"{begin}-{kind}" for kind in ("PER", "ORG", "LOC", "MISC") for begin in "BI"))
TRAINING = ("ner_wnut17", "ner_btc", "ner_wikigold", "relations_conll04")
TUNING = ("ner_wnut17", "relations_conll04")

_KINDS = {
    **{kind: kind for kind in ("PER", "ORG", "LOC", "MISC")},
    **{"person": "PER", "location": "LOC", "corporation": "ORG", "group": "ORG", "product": "MISC"},
    **{"creative-work": "MISC", "Peop": "PER", "Loc": "LOC", "Org": "ORG", "Other": "MISC"},
}


class Sentence(msgspec.Struct, frozen=True):
    """A sentence in words. A span is its first word, the word after its last, and its kind."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int, str], ...]

    def tags(self) -> list[int]:
        """Return the number of each word's tag."""
        found = [0] * len(self.words)
        for start, stop, kind in self.spans:
            begin = TAGS.index(f"B-{kind}")
            found[start:stop] = [begin, *[begin + 1] * (stop - start - 1)]
        return found


def sentences(folder: Path, name: str, part: str) -> list[Sentence]:
    """Return the sentences of a part, `train` or `dev`, of a set. Raises OSError when it is not there."""
    lines = (folder / name / f"{part}.jsonl").read_text("utf-8").splitlines()
    return [_sentence(json.loads(line)) for line in lines if line]


def _sentence(row: dict) -> Sentence:
    if "spans" in row:
        spans: Iterable[Sequence] = row["spans"]
    else:
        spans = ((one["start"], one["end"], one["type"]) for one in row["entities"])
    return Sentence(tuple(row["tokens"]), tuple((int(start), int(stop), _KINDS[kind]) for start, stop, kind in spans))


def lowered(found: Sequence[Sentence], every: int) -> Iterator[Sentence]:
    """Yield each `every`-th sentence in lower case, so that names are learned without their capitals too."""
    for sentence in found[::every]:
        yield Sentence(tuple(word.lower() for word in sentence.words), sentence.spans)
