"""Pairs of texts with people's word on whether both can be true: SICK, MRPC, BEAM's changed facts, and written ones.

`changed_facts.json` says where BEAM's conversations state a fact that changes: places in its messages and questions,
and none of its text. From each place four pairs are made: the whole messages, the clauses that state the fact,
statements, and a statement with a later clause. A statement has the subject in the words of the question, with either
value. Facts of different subjects are the pairs that must not be called. So is a statement beside a clause with the
same value.

`everyday_pairs.json` was written before the rules by subject were. Every second pair of a kind is held out.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import Any

from tests.core import changed_values_held_out
from tests.core.changed_values import made

FACTS, EVERYDAY = (Path(__file__).with_name(name) for name in ("changed_facts.json", "everyday_pairs.json"))
HELD_OUT = frozenset(f"beam100k_{number}" for number in range(6, 11))  # the conversations no rule was made with
# Name of the pairs, and the way to state the fact in the existing and in the new text.
_WAYS = (
    ("beam statements", "statement", "statement"),
    ("beam statement and clause", "statement", "clause"),
    ("beam clauses", "clause", "clause"),
    ("beam messages", "message", "message"),
)
_DENIALS = re.compile(
    r"LLM response should mention: (?:[Yy]ou (?:also )?(?:said|mentioned) (?:that )?)?(.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, and whether people say that both cannot be true at the same time."""

    source: str
    held_out: bool
    existing: str
    new: str
    conflict: bool


@dataclass(frozen=True, slots=True)
class _Fact:
    """A fact before and after its change, in each way to state it."""

    held_out: bool
    existing: Mapping[str, str]
    new: Mapping[str, str]


def load(pairs: Path, beam: Path) -> list[Pair]:
    """Return the pairs of all sources. `pairs` has SICK and MRPC, `beam` the conversations of BEAM."""
    return [
        *_labelled(pairs, "sick"),
        *_labelled(pairs, "mrpc"),
        *_changed(beam),
        *_denied(beam),
        *_made(),
        *_everyday(),
    ]


def _labelled(folder: Path, name: str) -> Iterator[Pair]:
    """Yield the pairs of a set with labels. Without a dev file every fifth pair is held out."""
    alone = not (folder / f"{name}_dev.jsonl").exists()
    for path in sorted(folder.glob(f"{name}_*.jsonl")):
        for place, line in enumerate(map(json.loads, path.read_text("utf-8").splitlines())):
            held_out = place % 5 == 0 if alone else path.stem.endswith("_dev")
            yield Pair(name, held_out, line["a"], line["b"], line.get("label") == "contradiction")


def _changed(beam: Path) -> Iterator[Pair]:
    """Yield the pairs of changed facts: each with its own successor, and with those of other facts."""
    facts = list(_facts(beam))
    for held_out, (source, before, after) in product((False, True), _WAYS):
        chosen = [fact for fact in facts if fact.held_out == held_out]
        for fact in chosen:
            yield Pair(source, held_out, fact.existing[before], fact.new[after], conflict=True)
        if before != after:
            for fact in chosen:
                yield Pair(source, held_out, fact.new[before], fact.new[after], conflict=False)
        for one, other in permutations(chosen, 2):
            yield Pair(source, held_out, one.existing[before], other.new[after], conflict=False)


def _facts(beam: Path) -> Iterator[_Fact]:
    texts, questions = (_lines(beam / name) for name in ("corpus.jsonl", "queries.jsonl"))
    for fact in json.loads(FACTS.read_text("utf-8")):
        question = questions[fact["query"]]
        parts = [part if isinstance(part, str) else _cut(question["text"], part) for part in fact["statement"]]
        sides = [_side(texts[fact[side]]["text"], fact, side, "".join(parts)) for side in ("existing", "new")]
        yield _Fact(question["group"] in HELD_OUT, *sides)


def _side(text: str, fact: Mapping[str, Any], side: str, statement: str) -> dict[str, str]:
    words = statement.replace("VALUE", _cut(text, fact[f"{side}_value"]))
    return {"message": text, "clause": _cut(text, fact[f"{side}_span"]), "statement": f"{words[0].upper()}{words[1:]}."}


def _denied(beam: Path) -> Iterator[Pair]:
    """Yield the pairs of what BEAM's users say and later deny, in the words of its judges."""
    pairs: list[tuple[bool, Sequence[str]]] = []
    for query in _lines(beam / "queries.jsonl").values():
        said = [found[1] for found in map(_DENIALS.match, query.get("rubric", ())) if found]
        if query["category"] == "contradiction_resolution" and len(said) >= len(("existing", "new")):
            pairs.append((query["group"] in HELD_OUT, said))
    for held_out in (False, True):
        chosen = [said for part, said in pairs if part == held_out]
        for (place, one), (other_place, other) in product(enumerate(chosen), repeat=2):
            yield Pair("beam denials", held_out, one[0], other[1], conflict=place == other_place)


def _made() -> Iterator[Pair]:
    for held_out, pairs in (
        (False, made()),
        (True, made(changed_values_held_out.CHANGED, changed_values_held_out.KEPT)),
    ):
        for pair in pairs:
            yield Pair("made", held_out, pair.existing, pair.new, pair.changed)


def _everyday() -> Iterator[Pair]:
    for name, kinds in json.loads(EVERYDAY.read_text("utf-8")).items():
        for pairs in kinds.values():
            for place, (existing, new) in enumerate(pairs):
                yield Pair("everyday", bool(place % 2), existing, new, name == "conflicts")


def _lines(path: Path) -> dict[str, dict[str, Any]]:
    return {line["id"]: line for line in map(json.loads, path.read_text("utf-8").splitlines())}


def _cut(text: str, span: Sequence[int]) -> str:
    first, stop = span
    return text[first:stop]
