"""Read which names the graph of a space takes for one entity, and draw pairs of names to judge."""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

from loadtests.quality import entity_sets
from loadtests.quality.contexts import opened, store
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.entities.names import code_of, folded, norm
from muisti.core.model.graph import Mentioned
from muisti.core.model.graph_terms import ENTITIES_MAX
from muisti.service.evaluation.dataset import Document, load

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
