"""A recogniser of toy texts, and the graph of a list of memories as a plain program finds it."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations

from muisti.core.graph.entities.name_keys import folded, initials, norm
from muisti.core.graph.extraction import Reader
from muisti.core.graph.facts.between import AUTHOR, Fact, Named
from muisti.core.graph.merging import NEAR
from muisti.core.graph.model import Mention
from muisti.core.model.choices import EntityKind, RelationKind
from muisti.core.model.values import Memory

_NAME = re.compile(r"\b[A-Z]\w*(?: [A-Z]\w*)*")
_FACT = re.compile(
    r"(?P<subject>\bI\b|[A-Z]\w*(?: [A-Z]\w*)*) (?P<kind>live in|like|work at) (?P<object>[A-Z]\w*(?: [A-Z]\w*)*)"
)
_KINDS: Mapping[str, RelationKind] = {"live in": "lives_in", "like": "likes", "work at": "works_at"}
PLACES = {"Turku", "Oslo", "Kemi", "TU"}


class Toy:
    """Finds words with a capital; what is not a known place is a person. `I` is no name."""

    def __init__(self, identity: str = "toy") -> None:
        self.identity = identity
        self.texts = 0

    def read(self, text: str, *, speakers: Collection[str] = (), known: Collection[str] = ()) -> list[Mention]:
        self.texts += 1
        return [Mention(one.start(), one.stop(), kind_of(one.group()), 0.9, "recogniser") for one in _names(text)]


def toy_facts(text: str, mentions: Sequence[Named], author: str | None) -> list[Fact]:
    places = {(one.start, one.stop): number for number, one in enumerate(mentions)}
    found = []
    for one in _FACT.finditer(text):
        subject = AUTHOR if one["subject"] == "I" else places.get(one.span("subject"))
        target = places.get(one.span("object"))
        if subject is not None and target is not None:
            found.append(Fact(subject, _KINDS[one["kind"]], target, None, True, 0.8, one.start(), one.end()))
    return found


def toy_reader() -> Reader:
    return Reader(Toy(), toy_facts)


def kind_of(name: str) -> EntityKind:
    return "place" if norm(name) in PLACES else "person"


class _Match:
    def __init__(self, found: re.Match[str]) -> None:
        self.start, self.stop, self.group = found.start, found.end, found.group


def _names(text: str) -> list[_Match]:
    return [_Match(one) for one in _NAME.finditer(text) if one.group() != "I"]


class Plain:
    """The graph of the memories that are current, without tables: entities with their names, and relations."""

    def __init__(self, memories: Iterable[Memory], changes: Mapping[tuple[str, int], int]) -> None:
        """`changes` are those that brought the versions, by memory and number."""
        self.changes = changes
        self.places: dict[str, set[int]] = defaultdict(set)  # changes that brought mentions of each norm
        self.speakers: set[str] = set()
        self.said: dict[str, list[tuple[str, str]]] = defaultdict(list)  # (memory, spelling) of each norm
        self.kinds: dict[str, Counter[str]] = defaultdict(Counter)
        self.facts: list[tuple[str, str, str, str]] = []  # (subject, kind, object, memory)
        self.stated: list[tuple[object, str, str, bool]] = []
        self.declared: set[str] = set()
        for memory in memories:
            self._take(memory)
        self._union()

    def _take(self, memory: Memory) -> None:
        if memory.kind == "entity":
            own = norm(memory.content)
            self.declared.add(own)
            self.kinds[own]["other"] += 1
            self.places[own].add(self._change(memory))
            for apart, field in ((False, "aliases"), (True, "apart")):
                names = memory.structure.get(field)
                for name in names if isinstance(names, list) else ():
                    self.stated.append((memory.updated_at, own, norm(str(name)), apart))
            return
        if memory.kind == "relation":
            one, two = norm(str(memory.structure["subject"])), norm(str(memory.structure["object"]))
            self.declared |= {one, two}
            self.facts.append((one, str(memory.structure["kind"]), two, memory.id))
            for name in (one, two):
                self.kinds[name]["other"] += 1
                self.places[name].add(self._change(memory))
            return
        self._read(memory)

    def _read(self, memory: Memory) -> None:
        for one in _names(memory.content):
            self._mention(norm(one.group()), memory, one.group(), kind_of(one.group()))
        if memory.author:
            self.speakers.add(norm(memory.author))
            self._mention(norm(memory.author), memory, memory.author, "person")
        for one in _FACT.finditer(memory.content):
            subject = norm(memory.author or "user") if one["subject"] == "I" else norm(one["subject"])
            if one["subject"] == "I" and not memory.author:
                self.speakers.add("user")
                self._mention("user", memory, "", "person")
            if subject != norm(one["object"]):
                self.facts.append((subject, _KINDS[one["kind"]], norm(one["object"]), memory.id))

    def _mention(self, key: str, memory: Memory, spelling: str, kind: str) -> None:
        self.said[key].append((memory.id, spelling))
        self.kinds[key][kind] += 1
        self.places[key].add(self._change(memory))

    def _change(self, memory: Memory) -> int:
        return self.changes[memory.id, memory.version]

    def _is_near(self, short: str, long: str) -> bool:
        distances = [abs(one - other) for one in self.places[short] for other in self.places[long]]
        return bool(self.speakers & {short, long}) or min(distances, default=NEAR + 1) <= NEAR

    def _union(self) -> None:
        there = {*self.said, *self.declared}
        last: dict[frozenset[str], tuple[str, str, bool]] = {}
        for _, own, other, apart in sorted(self.stated, key=lambda one: (one[0], one[3])):
            last[frozenset((own, other))] = (own, other, apart)
        sets = {name: {name} for name in {*there, *(name for pair in last for name in pair)}}

        def join(one: str, other: str) -> None:
            both = sets[one] | sets[other]
            for name in both:
                sets[name] = both

        aliases = set()
        for own, other, apart in last.values():
            if not apart:
                join(own, other)
                aliases.add(other)
        apart = [tuple(pair) for pair, (_, _, is_apart) in last.items() if is_apart]
        self._by_rules(there, sets, apart, aliases, join)
        self.groups = {
            frozenset(name for name in group) for group in sets.values() if any(name in there for name in group)
        }
        self.heads = {}
        for group in self.groups:
            head = min((name for name in group if name not in aliases), default=min(group))
            self.heads |= dict.fromkeys(group, head)

    def _by_rules(
        self, there: set[str], sets: dict[str, set[str]], apart: list[tuple[str, ...]], aliases: set[str],
        join: Callable[[str, str], None],
    ) -> None:  # fmt: skip
        self._by_spelling(there, sets, apart, aliases, join)
        parts = {
            long: [
                short
                for short in there
                if self._may_be(short, long, "name_part") and self._fits(short, long, "name_part")
                if sets[short] is not sets[long]
            ]
            for long in there
        }
        planned = []
        for short in sorted(there):
            for rule in ("acronym", "name_part"):
                longs = [long for long in there if self._may_be(short, long, rule)]
                if not longs or len({id(sets[long]) for long in longs}) > 1:
                    continue
                two_persons = rule == "name_part" and len(parts[min(longs)]) > 1
                if self._fits(short, min(longs), rule) and self._is_near(short, min(longs)) and not two_persons:
                    planned.append((short, min(longs)))
        for short, long in planned:
            whole = (sets[short], sets[long])
            split = any({id(sets[one]), id(sets[other])} == {id(whole[0]), id(whole[1])} for one, other in apart)
            if whole[0] is not whole[1] and not split:
                join(long, short)
                aliases.add(short)

    def _by_spelling(
        self, there: set[str], sets: dict[str, set[str]], apart: list[tuple[str, ...]], aliases: set[str],
        join: Callable[[str, str], None],
    ) -> None:  # fmt: skip
        for one in sorted(there):
            for other in sorted(there):
                if one < other and folded(one) == folded(other) and self._is_spelling(one, other):
                    split = any({id(sets[a]), id(sets[b])} == {id(sets[one]), id(sets[other])} for a, b in apart)
                    first, second = sorted((one, other), key=lambda name: (name[0].islower() or name.isupper(), name))
                    if sets[one] is not sets[other] and not split:
                        join(first, second)
                        aliases.add(second)

    def _is_spelling(self, one: str, other: str) -> bool:
        near = self._is_near(one, other) or bool(self.declared & {one, other})
        small = " " not in one and (one[0].islower() or other[0].islower()) and not self.speakers & {one, other}
        return near and one.casefold() == other.casefold() and not small

    def _may_be(self, short: str, long: str, rule: str) -> bool:
        words = long.split(" ")
        if " " in short or len(words) < 2:
            return False
        if rule == "acronym":
            return initials(words) == short
        return short in (words[0], words[-1])

    def _fits(self, short: str, long: str, rule: str) -> bool:
        if rule == "acronym":
            letters = [len(word) == 1 for word in long.split(" ")]
            alike = self._kind(short) == self._kind(long)
            fits = all(letters) or (not letters[-1] and not self._is_shouted(long) and alike)
            return fits and len(short) > 1 and self._is_shouted(short)
        persons = all(self.kinds[name]["person"] * 2 > self.kinds[name].total() for name in (short, long))
        small = any(spelling[0].islower() for _, spelling in self.said[short] if spelling)
        persons = persons and not {short, long} <= self.speakers
        return persons and not small and not self._is_shouted(short) and not self._is_shouted(long)

    def _kind(self, name: str) -> str:
        return min(self.kinds[name], key=lambda one: (-self.kinds[name][one], one), default="")

    def _is_shouted(self, name: str) -> bool:
        spellings = [spelling for _, spelling in self.said[name] if spelling]
        return sum(one.isupper() for one in spellings) * 2 > len(spellings) > 0

    def counted(self) -> dict[str, int]:
        """Return how many memories mention each entity, by the norm of its head."""
        return {
            self.heads[next(iter(group))]: len({memory for name in group for memory, _ in self.said.get(name, ())})
            for group in self.groups
        }

    def related(self) -> list[tuple[str, str, str, str]]:
        return sorted((self.heads[one], kind, self.heads[two], memory) for one, kind, two, memory in self.facts)

    def tied(self) -> dict[str, set[str]]:
        """Return the heads that one tie joins each head with."""
        ties: dict[str, set[str]] = defaultdict(set)
        by_memory: dict[str, set[str]] = defaultdict(set)
        for name, mentions in self.said.items():
            for memory, _ in mentions:
                by_memory[memory].add(self.heads[name])
        pairs = [pair for heads in by_memory.values() for pair in combinations(sorted(heads), 2)]
        pairs += [(one, two) for one, _, two, _ in self.related()]
        for one, two in pairs:
            if one != two:
                ties[one].add(two)
                ties[two].add(one)
        return ties
