"""Sentences with entities and relations that people judged (CoNLL04), and how well a reader of relations finds them."""

import ast
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from muisti.core.graph.facts import between
from muisti.core.graph.facts.between import Named
from muisti.core.graph.facts.reading import sentences as parts
from muisti.core.model.choices import RelationKind
from muisti.service.evaluation.dataset import DatasetError

ENTITIES = {"Peop": "person", "Org": "organisation", "Loc": "place", "Other": "other"}
RELATIONS: dict[str, RelationKind] = {
    "Work_For": "works_at",
    "Live_In": "lives_in",
    "Located_In": "located_in",
    "OrgBased_In": "based_in",
    "Kill": "killed",
}
_NO_SPACE_BEFORE = frozenset([",", ".", ";", ":", "?", "!", ")", "'", "%", "'s", "'re", "'ve", "'ll", "n't", "''"])
_NO_SPACE_AFTER = frozenset(["(", "`", "``", "$", "#"])

Found = tuple[int, int, RelationKind, int, int]  # the span of a subject, a kind, the span of an object


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a sentence, in characters."""

    start: int
    stop: int
    kind: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence as a text, its entities in order, and the relations that people found in it."""

    text: str
    mentions: tuple[Mention, ...]
    relations: frozenset[Found]
    tokens: tuple[tuple[int, int], ...]  # of those who judged it


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def sentences(path: Path) -> list[Judged]:
    """Return the sentences of a file: JSON lines, or columns as the set is published.

    Raises:
        DatasetError: the file is in neither form.
    """
    try:
        rows = _lines(path) if path.suffix == ".jsonl" else _columns(path)
        return [_judged(*row) for row in rows]
    except (KeyError, ValueError, IndexError, SyntaxError) as error:
        raise DatasetError(f"{path} has no sentences with entities and relations: {error}") from error


Row = tuple[list[str], list[tuple[int, int, str]], list[tuple[int, int, str]]]  # tokens, entities, relations


def _lines(path: Path) -> Iterator[Row]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        entities = [(one["start"], one["end"], one["type"]) for one in row["entities"]]
        yield row["tokens"], entities, [(one["head"], one["tail"], one["type"]) for one in row["relations"]]


def _columns(path: Path) -> Iterator[Row]:
    for document in path.read_text(encoding="utf-8").split("#doc")[1:]:
        rows = [line.split("\t") for line in document.splitlines()[1:] if line]
        entities: list[tuple[int, int, str]] = []
        for at, row in enumerate(rows):
            if row[2].startswith("B-"):
                entities.append((at, at + 1, row[2][2:]))
            elif row[2].startswith("I-"):
                first, _, kind = entities.pop()
                entities.append((first, at + 1, kind))
        last = {stop - 1: number for number, (_, stop, _) in enumerate(entities)}
        relations = [
            (last[at], last[other], kind)
            for at, row in enumerate(rows)
            for kind, other in zip(ast.literal_eval(row[3]), ast.literal_eval(row[4]), strict=True)
            if kind != "N"
        ]
        yield [row[1] for row in rows], entities, relations


def _judged(
    tokens: Sequence[str], entities: Sequence[tuple[int, int, str]], relations: Sequence[tuple[int, int, str]]
) -> Judged:
    """Join the tokens to a text as people write it, and turn places in tokens into places in characters."""
    text, starts, stops, before = "", [], [], "("
    for token in tokens:
        if token not in _NO_SPACE_BEFORE and before not in _NO_SPACE_AFTER:
            text += " "
        starts.append(len(text))
        text += token
        stops.append(len(text))
        before = token
    mentions = tuple(Mention(starts[first], stops[end - 1], ENTITIES[kind]) for first, end, kind in entities)
    found: Iterator[Found] = (
        (mentions[head].start, mentions[head].stop, RELATIONS[kind], mentions[tail].start, mentions[tail].stop)
        for head, tail, kind in relations
    )
    return Judged(text, mentions, frozenset(found), tuple(zip(starts, stops, strict=True)))


def judged_pairs(sentence: Judged, mentions: Sequence[Named]) -> Iterator[tuple[Found, list[int]]]:
    """Yield the pairs of a sentence that a relation may tie, each with the buckets of its features."""
    for part in parts(sentence.text, mentions):
        for pair in between.pairs(part.words, part.spans):
            one, other = mentions[pair.subject], mentions[pair.object]
            yield (one.start, one.stop, pair.kind, other.start, other.stop), pair.features


def score(found: Sequence[Collection[Found]], judged: Sequence[Judged]) -> Score:
    """Compare the relations that were found in each sentence with the judged ones: both spans, kind and direction."""
    right = sum(len(one.relations & set(those)) for those, one in zip(found, judged, strict=True))
    told, wanted = sum(map(len, found)), sum(len(one.relations) for one in judged)
    return Score(right / told if told else 0.0, right / wanted if wanted else 0.0)


def related(
    judge: between.Judge, sentence: Judged, mentions: Sequence[Named], least: float | None = None
) -> set[Found]:
    """Return the relations of a sentence that are at least so sure; by default as sure as Muisti asks for."""
    sure = {(one.start, one.stop): one for one in mentions}
    return {
        found
        for found, features in judged_pairs(sentence, mentions)
        if between.confidence(judge.probability(features), [sure[found[:2]], sure[found[3:]]])
        >= (judge.sure[found[2]] if least is None else least)
    }
