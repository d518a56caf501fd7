"""Measure which names the graph takes for one entity, on pairs that were judged by reading.

    python -m loadtests.quality.merging DATA… [--judged FILE] [--draw 40]

Each DATA is a folder of judged data; of chats with an assistant only the turns of users are read. FILE has a verdict on
each pair: the space, a hash of each spelling (`code_of`), and whether they are one entity. The rules were chosen on the
part `tuning`; the part `report` was judged after that, and before they ran on it. The row `in any case` adds the pairs
that differ in case or "the" alone, which were one key in earlier versions. `--draw` prints pairs to judge that
are not judged yet: of each set so many merges, and others. They come in random order, with the texts around them and
without what the rules say.
"""

import random
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Literal, NamedTuple

import click
import msgspec

from loadtests.quality import entity_sets
from loadtests.quality.contexts import opened, store
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.graph.entities.name_keys import code_of, folded, norm
from muisti.core.graph.model import Mentioned
from muisti.core.model.choices import ENTITIES_MAX
from muisti.service.evaluation.dataset import Document, load

JUDGED = Path(__file__).with_name("merging_judged.json")
SURE = 1.959964  # standard deviations of 95 %

Part = Literal["tuning", "report"]
PARTS: tuple[Part, ...] = ("tuning", "report")

AROUND = 60  # characters of a context on each side
CONTEXTS = 3  # of each name

Rule = Literal["key", "spelling", "acronym", "name_part", "proposal", "none"]
AUTOMATIC: tuple[Rule, ...] = ("key", "spelling", "acronym", "name_part")
RULES: tuple[Rule, ...] = (*AUTOMATIC, "proposal", "none")
Pair = tuple[str, str]


class Spelling(NamedTuple):
    """A text that names an entity somewhere: its key, how often it does, and some of the texts around it."""

    text: str
    key: str
    number: int
    contexts: Sequence[str]


class Read(NamedTuple):
    """Holds what the graph of a space says of spellings, which are given by the hashes of their texts (`code_of`).

    `heads` has the head of the entity of each key, and `sources` the rule by which a key belongs to another head.
    """

    spellings: Mapping[str, Spelling]
    heads: Mapping[str, str]
    sources: Mapping[str, Rule]
    proposals: frozenset[Pair]

    def rule(self, first: str, second: str) -> Rule:
        """Return the rule that ties two spellings, `none` when there is none or one is not there."""
        if first not in self.spellings or second not in self.spellings:
            return "none"
        one, other = (code_of(self.spellings[each].key) for each in (first, second))
        if one == other:
            return "key"
        heads = self.heads[one], self.heads[other]
        if heads[0] == heads[1]:
            return self.sources.get(one) or self.sources.get(other) or "none"
        return "proposal" if pair(*heads) in self.proposals else "none"

    def folds(self, first: str, second: str) -> bool:
        """Return whether two spellings differ in case or "the" alone."""
        both = [self.spellings[one].text for one in (first, second) if one in self.spellings]
        return len(both) == 2 and folded(both[0]) == folded(both[1])

    def usual(self) -> dict[str, str]:
        """Return the most frequent spelling of each key."""
        found: dict[str, str] = {}
        for code, one in sorted(self.spellings.items(), key=lambda item: (-item[1].number, item[0])):
            found.setdefault(code_of(one.key), code)
        return found

    def merged(self) -> list[Pair]:
        """Return a pair for each automatic merge: a further spelling of a key, or a further key of an entity."""
        usual = self.usual()
        found = {pair(code, usual[code_of(one.key)]) for code, one in self.spellings.items()}
        found |= {
            pair(usual[key], usual[self.heads[key]]) for key in self.sources if {key, self.heads[key]} <= usual.keys()
        }
        return sorted(both for both in found if both[0] != both[1])

    def proposed(self) -> list[Pair]:
        """Return the pairs that are proposed."""
        usual = self.usual()
        return sorted(pair(usual[one], usual[other]) for one, other in self.proposals)

    def sharing(self) -> list[Pair]:
        """Return the pairs of names that share a word, and are tied by no rule."""
        usual = self.usual()
        names = [(code, {*self.spellings[code].key.split()}) for code in sorted(usual.values())]
        shared = [pair(one, other) for (one, some), (other, more) in combinations(names, 2) if some & more]
        return [both for both in shared if self.rule(*both) == "none"]


def pair(first: str, second: str) -> Pair:
    """Return two codes in order."""
    return (first, second) if first < second else (second, first)


def spaces(folder: Path) -> Iterator[tuple[str, Read]]:
    """Yield the name of each space of judged data, and what its graph says.

    The folder has documents, a space for each group, or sentences as `train.jsonl`, which are one space.
    """
    name = folder.resolve().name
    for group, documents in _documents(folder).items():
        with opened(StaticEncoder()) as engine:
            store(engine, "group", [one for one in documents if one.meta.get("speaker") != "assistant"])
            engine.owner.graph.extend("group")
            yield f"{name}/{group}", read(engine, "group")


def _documents(folder: Path) -> Mapping[str, Sequence[Document]]:
    if (folder / "corpus.jsonl").exists():
        return load(folder).documents
    texts = [one.text for one in entity_sets.rows(folder / "train.jsonl")]
    return {"train": [Document(id=f"{n}", part=0, text=text, meta={}) for n, text in enumerate(texts) if text.strip()]}


def read(engine: Engine, space: str) -> Read:
    """Return what the graph of a space says; times are no names."""
    graph = engine.owner.graph
    heads: dict[str, str] = {}
    sources: dict[str, Rule] = {}
    texts: dict[str, list[str]] = {}
    for node in graph.export(space).nodes():
        if node.kind == "date":
            continue
        profile = graph.entity(space, node.id, facts=0, memories=ENTITIES_MAX)
        entity = profile.entity
        heads.update({one: entity.id for one in (entity.id, *(alias.id for alias in entity.aliases))})
        sources.update({one.id: one.source for one in entity.aliases if one.source != "manual"})
        for text, around in _around(engine, space, profile.mentioned):
            texts.setdefault(text, []).append(around)
    spellings = {code_of(text): Spelling(text, norm(text), len(all_), all_[:CONTEXTS]) for text, all_ in texts.items()}
    keys = {code_of(one.key) for one in spellings.values()}
    heads.update({key: key for key in keys - heads.keys()})
    pairs = [(one.first.id, one.second.id) for one in graph.proposals(space, limit=ENTITIES_MAX).items]
    return Read(spellings, heads, sources, frozenset(pair(*both) for both in pairs if keys.issuperset(both)))


def _around(engine: Engine, space: str, mentioned: Iterable[Mentioned]) -> Iterator[tuple[str, str]]:
    """Yield the text of each mention of an entity, and the text around it."""
    for one in mentioned:
        content = engine.owner.read.get(space, one.memory).memory.content
        around = content[max(one.start - AROUND, 0) : one.stop + AROUND] if one.start >= 0 else f"(author) {content}"
        text = " ".join(one.text.split())
        yield text, " ".join(around[: 2 * AROUND + len(text)].split())


def drawn(
    found: Mapping[str, Read], automatic: int, others: int, known: Collection[tuple[str, str, str]] = ()
) -> list[tuple[str, str, str]]:
    """Return pairs to judge, in random order: of each set merges, proposals, and half as many that share a word.

    Merges are drawn from all of the set that are not `known`, so each rule has the share that it has there.
    """
    draw = random.Random(0)
    by_set: dict[str, list[str]] = {}
    for space in found:
        by_set.setdefault(space.split("/")[0], []).append(space)
    chosen: list[tuple[str, str, str]] = []
    for mine in by_set.values():
        merged = [(space, *both) for space in mine for both in found[space].merged()]
        proposed = [(space, *both) for space in mine for both in found[space].proposed()]
        sharing = [(space, *both) for space in mine for both in found[space].sharing()]
        for some, number in ((merged, automatic), (proposed, others), (sharing, others // 2)):
            fresh = [one for one in some if one not in known]
            chosen += draw.sample(fresh, min(number, len(fresh)))
    draw.shuffle(chosen)
    return chosen


def lines(pairs: Iterable[tuple[str, str, str]], found: Mapping[str, Read]) -> Iterator[str]:
    """Yield pairs with the texts around them, and without what the rules say."""
    for number, (space, *codes) in enumerate(pairs):
        yield f"#{number} {space} {' '.join(codes)}"
        for code in codes:
            one = found[space].spellings[code]
            yield f"    {one.text!r}: " + " | ".join(one.contexts)


def counted(found: Read) -> Counter[Rule]:
    """Return how many automatic merges each rule has made."""
    return Counter(found.rule(*both) for both in found.merged())


class Judged(msgspec.Struct, frozen=True):
    """A verdict on two spellings of a space, given by their hashes."""

    space: str
    first: str
    second: str
    same: bool
    part: Part


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


def score(judged: Iterable[Judged], ruled: Mapping[Judged, Rule], rules: Sequence[Rule]) -> Score:
    """Return how well some rules find the pairs that are one entity."""
    every = list(judged)
    found = [one for one in every if ruled[one] in rules]
    return Score(len(found), sum(one.same for one in found), sum(one.same for one in every))


def interval(right: int, number: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson.

    >>> [round(end, 3) for end in interval(98, 100)]
    [0.93, 0.994]
    """
    if not number:
        return 0.0, 1.0
    share, square = right / number, SURE**2 / number
    middle, half = share + square / 2, SURE * sqrt(share * (1 - share) / number + square / (4 * number))
    return max((middle - half) / (1 + square), 0.0), min((middle + half) / (1 + square), 1.0)


def share(right: int, number: int, digits: int = 3) -> str:
    """Return a share with its 95 % interval by Wilson, or a dash without cases."""
    if not number:
        return "–"
    low, high = interval(right, number)
    return f"{right / number:.{digits}f} ({low:.{digits}f} {high:.{digits}f})"


def table(
    judged: Sequence[Judged], ruled: Mapping[Judged, Rule], folding: Container[Judged] = frozenset()
) -> Iterator[str]:
    """Yield the lines of a table: each rule in each part, and all automatic rules in each set.

    `folding` are the pairs that differ in case or "the" alone.
    """
    loose: dict[Judged, Rule] = {one: "key" if one in folding else rule for one, rule in ruled.items()}
    yield "| part | pairs | found | right | precision (95 %) | recall (95 %) |\n| --- | --- | --- | --- | --- | --- |"
    rows: dict[str, Sequence[Rule]] = {"all automatic": AUTOMATIC, **{rule: (rule,) for rule in RULES[:-1]}}
    rows["automatic or proposal"] = RULES[:-1]
    for part in PARTS:
        mine = [one for one in judged if one.part == part]
        asked = [(title, mine, rules) for title, rules in rows.items()]
        for name in sorted({one.space.split("/")[0] for one in mine}):
            own = [one for one in mine if one.space.split("/")[0] == name]
            asked.append((f"all automatic, {name}", own, AUTOMATIC))
        for title, some, rules in (*asked, ("all automatic, in any case", mine, AUTOMATIC)):
            one = score(some, loose if title.endswith("in any case") else ruled, rules)
            shares = f"{share(one.right, one.found)} | {share(one.right, one.wanted)}"
            yield f"| {part} | {title} | {one.found} | {one.right} | {shares} |"


def _errors(judged: Iterable[Judged], read: Mapping[str, Read], ruled: Mapping[Judged, Rule]) -> Iterator[str]:
    for one in judged:
        if one.same != (ruled[one] in AUTOMATIC) and (one.same or ruled[one] != "none"):
            known = read[one.space].spellings
            names = " / ".join(known[code].text if code in known else code for code in (one.first, one.second))
            yield f"{'missed' if one.same else 'wrong'} ({ruled[one]}), {one.part}, {one.space}: {names}"


@click.command()
@click.argument("data", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judged", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=JUDGED)
@click.option("--draw", type=click.IntRange(1), help="Print so many merges of each set to judge instead, and others.")
def main(data: Sequence[Path], *, judged: Path, draw: int | None) -> None:
    """Print how many judged pairs the rules and the proposals find, and which they get wrong."""
    read = {space: one for folder in data for space, one in spaces(folder)}
    verdicts = msgspec.json.decode(judged.read_bytes(), type=list[Judged])
    if draw is not None:
        judged_already = {(one.space, one.first, one.second) for one in verdicts}
        click.echo("\n".join(lines(drawn(read, draw, draw // 4, judged_already), read)))
        return
    known = [one for one in verdicts if one.space in read]
    ruled: dict[Judged, Rule] = {one: read[one.space].rule(one.first, one.second) for one in known}
    folding = {one for one in known if read[one.space].folds(one.first, one.second)}
    click.echo("\n".join(table(known, ruled, folding)))
    merges = sum((counted(one) for one in read.values()), Counter[Rule]())
    click.echo(f"merges of all names: {', '.join(f'{rule} {merges[rule]}' for rule in AUTOMATIC)}")
    click.echo("\n".join(_errors(known, read, ruled)))


if __name__ == "__main__":
    main()
