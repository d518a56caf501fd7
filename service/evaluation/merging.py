"""Measure which names the graph takes for one entity, on pairs that a person has judged by reading.

    python -m muisti.service.evaluation.merging DATA… [--judged FILE] [--draw 200]

Each DATA is a folder of judged data; of chats with an assistant only the turns of users are read. FILE has a verdict on
each pair: the space, an id of each name, and whether they are one entity. Ids are hashes of names (`code_of`), of
spellings where two spellings have the same key. `--draw` prints pairs to judge, in random order, with the texts around
them and without what the rules say.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

import click
import msgspec

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.entities.names import code_of, norm
from muisti.core.model.graph import Entity
from muisti.service.evaluation.contexts import opened, store
from muisti.service.evaluation.dataset import Dataset, load

JUDGED = Path(__file__).with_name("merging_judged.json")
KEYS = 30  # pairs of spellings with the same key that are drawn
PROPOSED = 100  # proposals that are drawn
AROUND = 60  # characters of a context on each side
CONTEXTS = 3  # of each name

Rule = Literal["key", "acronym", "name_part", "proposal", "none"]
AUTOMATIC: tuple[Rule, ...] = ("key", "acronym", "name_part")
RULES: tuple[Rule, ...] = (*AUTOMATIC, "proposal", "none")


class Judged(msgspec.Struct, frozen=True):
    """A verdict on two names of a space, given by their ids."""

    space: str
    first: str
    second: str
    same: bool


class Score(NamedTuple):
    """Counts pairs that some rules take for one entity, those of them that are, and all pairs that are."""

    found: int
    right: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else float("nan")


class Read(NamedTuple):
    """Holds what the graph of a space says: pairs by their rule, and for each name its spelling and contexts."""

    rules: Mapping[tuple[str, str], Rule]
    spellings: Mapping[str, str]
    contexts: Mapping[str, Sequence[str]]
    words: Sequence[tuple[str, str]]

    def rule(self, first: str, second: str) -> Rule:
        """Return the rule that ties two names, `none` when there is none."""
        return self.rules.get(_pair(first, second), "none")


def score(judged: Iterable[Judged], ruled: Mapping[Judged, Rule], rules: Sequence[Rule]) -> Score:
    """Return how well some rules find the pairs that are one entity."""
    every = list(judged)
    found = [one for one in every if ruled[one] in rules]
    return Score(len(found), sum(one.same for one in found), sum(one.same for one in every))


def spaces(data: Dataset) -> Iterator[tuple[str, Read]]:
    """Yield the name of each space of a dataset, and what its graph says."""
    for group, documents in data.documents.items():
        with opened(StaticEncoder()) as engine:
            store(engine, "group", [one for one in documents if one.meta.get("speaker") != "assistant"])
            engine.owner.graph.extend("group")
            yield f"{data.name}/{group}", _read(engine)


def _read(engine: Engine) -> Read:
    graph = engine.owner.graph
    entities = [one for one in graph.entities("group", limit=1000).items if one.kind != "date"]
    rules: dict[tuple[str, str], Rule] = {}
    spellings: dict[str, str] = {}
    contexts: dict[str, list[str]] = {}
    for entity in entities:
        rules.update({_pair(entity.id, one.id): one.source for one in entity.aliases if one.source != "manual"})
        rules.update(_spelled(engine, entity, spellings, contexts))
    for pair in graph.proposals("group", limit=1000).items:
        if pair.first.id in contexts and pair.second.id in contexts:
            rules.setdefault(_pair(pair.first.id, pair.second.id), "proposal")
    return Read(rules, spellings, contexts, [*_sharing(spellings, contexts)])


def _spelled(
    engine: Engine, entity: Entity, spellings: dict[str, str], contexts: dict[str, list[str]]
) -> dict[tuple[str, str], Rule]:
    """Note the spellings and contexts of an entity, and return the pairs of spellings with the same key."""
    found: dict[str, dict[str, None]] = {}
    for one in engine.owner.graph.entity("group", entity.id, facts=0, memories=1000).mentioned:
        content = engine.owner.read.get("group", one.memory).memory.content
        around = content[max(one.start - AROUND, 0) : one.stop + AROUND] if one.start >= 0 else f"(author) {content}"
        text = " ".join(one.text.split())
        found.setdefault(norm(text), {}).setdefault(text)
        for code in (code_of(norm(text)), code_of(text)):
            contexts.setdefault(code, []).append(" ".join(around[: 2 * AROUND + len(text)].split()))
            spellings.setdefault(code, text)
    return {
        _pair(code_of(first), code_of(second)): "key"
        for texts in found.values()
        for first, second in combinations(texts, 2)
    }


def _sharing(spellings: Mapping[str, str], contexts: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names that share a word, or of which one is the beginning letters of the other."""
    names = {code: text for code, text in spellings.items() if code == code_of(norm(text)) and code in contexts}
    for (one, first), (other, second) in combinations(sorted(names.items()), 2):
        if set(norm(first).split()) & set(norm(second).split()):
            yield _pair(one, other)


def _pair(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first < second else (second, first)


def drawn(read: Mapping[str, Read], total: int) -> list[tuple[str, str, str]]:
    """Return pairs to judge: all that rules merge, and samples of equal keys, of proposals, and of shared words."""
    draw = random.Random(0)
    ruled = {rule: [(space, *pair) for space, one in read.items() for pair in _of(one, rule)] for rule in RULES}
    shared = [(space, *pair) for space, one in read.items() for pair in one.words if one.rule(*pair) == "none"]
    found = [*ruled["acronym"], *ruled["name_part"]]
    for some, number in ((ruled["key"], KEYS), (ruled["proposal"], PROPOSED)):
        found += draw.sample(some, min(number, len(some)))
    found += draw.sample(shared, min(max(total - len(found), 0), len(shared)))
    return draw.sample(found, len(found))


def _of(read: Read, rule: Rule) -> list[tuple[str, str]]:
    return sorted(pair for pair, given in read.rules.items() if given == rule)


def _lines(pairs: Iterable[tuple[str, str, str]], read: Mapping[str, Read]) -> Iterator[str]:
    for number, (space, *codes) in enumerate(pairs):
        yield f"#{number} {space} {' '.join(codes)}"
        for code in codes:
            one = read[space]
            yield f"    {one.spellings[code]!r}: " + " | ".join(one.contexts[code][:CONTEXTS])


def _table(judged: Sequence[Judged], ruled: Mapping[Judged, Rule]) -> Iterator[str]:
    rows: dict[str, Sequence[Rule]] = {"automatic": AUTOMATIC, "automatic, other keys": AUTOMATIC[1:]}
    rows |= {rule: (rule,) for rule in RULES[:-1]}
    rows["automatic or proposal"] = RULES[:-1]
    parts = {"": list(judged)}
    for one in judged:
        parts.setdefault(f", {one.space.split('/')[0]}", []).append(one)
    yield "| pairs | found | right | precision | recall |\n| --- | --- | --- | --- | --- |"
    for title, rules in rows.items():
        for part, some in parts.items():
            mine = [one for one in some if title != "automatic, other keys" or ruled[one] != "key"]
            one = score(mine, ruled, rules)
            yield f"| {title}{part} | {one.found} | {one.right} | {one.precision:.3f} | {one.recall:.3f} |"


@click.command()
@click.argument("data", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judged", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=JUDGED)
@click.option("--draw", type=click.IntRange(1), help="Print so many pairs to judge instead.")
def main(data: Sequence[Path], *, judged: Path, draw: int | None) -> None:
    """Print how many judged pairs the rules and the proposals find, and which they get wrong."""
    read = {space: one for folder in data for space, one in spaces(load(folder))}
    if draw is not None:
        click.echo("\n".join(_lines(drawn(read, draw), read)))
        return
    verdicts = msgspec.json.decode(judged.read_bytes(), type=list[Judged])
    known = [one for one in verdicts if one.space in read]
    ruled: dict[Judged, Rule] = {one: read[one.space].rule(one.first, one.second) for one in known}
    click.echo("\n".join(_table(known, ruled)))
    for one in known:
        if one.same != (ruled[one] in AUTOMATIC) and (one.same or ruled[one] != "none"):
            names = " / ".join(read[one.space].spellings.get(code, code) for code in (one.first, one.second))
            click.echo(f"{'missed' if one.same else 'wrong'} ({ruled[one]}), {one.space}: {names}")


if __name__ == "__main__":
    main()
