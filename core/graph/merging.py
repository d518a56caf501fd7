"""Decide which names are one entity. Computed whenever it is asked for, from what a caller sees at a point.

Names merge when they have the same norm, and by these rules:

- People state it. The last statement on a pair of names holds.
- `spelling`: names are one but for their case. Neither is an identifier or a symbol of code. They do not both have
  capitals inside: `soxS` is a gene and SoxS its protein. A single word that is written small must be a speaker or
  stated by a person: in posts of strangers "dave" is not Dave. Words for times need none of this.
- `acronym`: a name of one word, in capitals, is the initials of exactly one longer name. That one is not in capitals,
  unless it is those letters one by one. Else both are of one kind, because a few letters are the initials of many
  names. Each word of the longer name has a capital: "African green monkey" is no AGM.
- `name_part`: a person of one word is the first or last word of exactly one longer name, also a person. Both are
  persons in most of their mentions, and the recogniser is `SURE` of one mention of the word. The word is never written
  small, and neither name is in capitals throughout: in shouted text a bush looks like a Bush. Each word of the longer
  name has a capital: "Piper nigrum" is a plant. When the first and the last word are both persons of one word, the
  longer name may be two persons, so neither merges. Two speakers are two persons, and "Ann Lee Sr." is not the only
  Ann.

All rules need a mention of one name at most `NEAR` changes of the space away from one of the other. A speaker needs
none, nor does the spelling of a name that a person has stated. In many texts of many people the only Rebecca is seldom
the only Rebecca Ferguson.

Longer names that people merged count as one. Names that people keep apart never merge by a rule, not through others
either. Vectors and spelling distances merge nothing, because they merge "Nate" with "Nature".
"""

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import msgspec

from muisti.core.graph.entities.name_keys import is_capitalised
from muisti.core.model.choices import AliasSource, EntityKind
from muisti.core.store.database import Row

_CODE = frozenset({"identifier", "symbol"})  # kinds of names in which case always counts
_GENERATIONS = (" Jr", " Jr.", " Sr", " Sr.", " II", " III")  # of names that several persons have
SURE = 0.9  # confidence of at least one mention of a person that merges by a part of a name
NEAR = 10  # changes of a space between mentions of a short name and its longer one

Pair = tuple[int, int]

_MENTIONS = msgspec.json.Decoder(list[tuple[str, str | None, float, str, int]])


class Name(NamedTuple):
    """A name as `entities` has it."""

    id: int
    code: str
    norm: str


class Sketch(NamedTuple):
    """Sums up the latest mentions of a name: its spelling, its kind, and whether it is in capitals.

    `small` tells whether any spelling begins with a small letter, and `clear` whether most mentions are of the kind.
    `speaks` tells whether it is a speaker, and `stated` whether a person has stated it. `changes` are the changes of
    the space that brought the mentions, in order.
    An import that gives no kind does not count for the kind.
    """

    spelling: str
    kind: EntityKind
    confidence: float
    capitals: bool
    small: bool = False
    clear: bool = True
    speaks: bool = False
    stated: bool = False
    changes: tuple[int, ...] = ()

    @classmethod
    def of(cls, mentions: str, norm: str) -> "Sketch | None":
        """Read the JSON of `graph.sketches`; None without mentions."""
        rows = _MENTIONS.decode(mentions)
        if not rows:
            return None
        kinds: dict[str, int] = {}
        written: dict[str, int] = {}
        for kind, spelling, _, source, _ in rows:
            if kind != "other" or source != "known":
                kinds[kind] = kinds.get(kind, 0) + 1
            if spelling:
                written[spelling] = written.get(spelling, 0) + 1
        spellings: dict[str, int] = {}
        for spelling, number in written.items():
            tidy = " ".join(spelling.split()).removesuffix("'s").removesuffix("’s")
            spellings[tidy] = spellings.get(tidy, 0) + number
        capitals = sum(number for one, number in spellings.items() if one.isupper())
        kind = _first(kinds) or "other"
        return cls(
            _first(spellings) or norm,
            cast(EntityKind, kind),
            max(row[2] for row in rows),
            capitals * 2 > sum(spellings.values()),
            any(one[0].islower() for one in spellings if one),
            kinds.get(kind, 0) * 2 > len(rows),
            any(row[3] == "speaker" for row in rows),
            any(row[3] == "manual" for row in rows),
            tuple(sorted({row[4] for row in rows})),
        )

    def is_near(self, other: "Sketch") -> bool:
        """Return whether a mention of one name is near one of the other, or one of them speaks."""
        if self.speaks or other.speaks:
            return True
        places = ((bisect_left(other.changes, one - NEAR), one + NEAR) for one in self.changes)
        return any(at < len(other.changes) and other.changes[at] <= last for at, last in places)


class Stated(NamedTuple):
    """A statement of a person: another name of an entity, or with `apart` a name that is not one."""

    entity: int
    alias: int
    apart: bool
    version: int
    memory: bytes
    text: str
    kind: EntityKind


class Candidate(NamedTuple):
    """A name, and the names that a rule may merge it with: longer ones, or other spellings."""

    short: int
    rule: AliasSource
    longs: tuple[int, ...]


class Group(NamedTuple):
    """Names that are one entity. `joined` tells by which rule or memory each but the head belongs to it."""

    head: int
    members: tuple[int, ...]
    joined: Mapping[int, tuple[AliasSource, bytes | None]]


def current(statements: Iterable[Stated]) -> dict[Pair, Stated]:
    """Return the last statement on each pair of names, in either order."""
    found: dict[Pair, Stated] = {}
    for one in sorted(statements, key=lambda one: (one.version, one.apart)):
        if one.entity == one.alias:
            continue
        found[min(one.entity, one.alias), max(one.entity, one.alias)] = one
    return found


def grouped(
    names: Collection[int],
    norms: Mapping[int, str],
    statements: Mapping[Pair, Stated],
    candidates: Sequence[Candidate],
    sketches: Mapping[int, Sketch],
) -> dict[int, Group]:
    """Return the group of each name.

    `candidates` must be all of the names given, `statements` all that concern them and the longer names.
    """
    sets = _Sets()
    joined: dict[int, tuple[AliasSource, bytes | None]] = {}
    aliases: set[int] = set()
    for one in statements.values():
        if not one.apart:
            sets.join(one.entity, one.alias)
            joined[one.alias] = ("manual", one.memory)
            aliases.add(one.alias)
    apart = [pair for pair, one in statements.items() if one.apart]
    united = _united(candidates)
    for head, other in _spelled(united, sketches, norms):
        if sets.root(head) != sets.root(other) and not _are_apart(sets, head, other, apart):
            sets.join(head, other)
            if other not in aliases:
                joined[other] = ("spelling", None)
                aliases.add(other)
    unsure = _of_two_persons(united, sets, sketches)
    accepted: list[tuple[str, int, int, AliasSource]] = [
        (norms[one.short], one.short, long, one.rule)
        for one in united
        if one.rule != "spelling"
        for long in [_one_long(one, sets, sketches, norms)]
        if long is not None and (one.rule != "name_part" or long not in unsure)
    ]
    for _, short, long, rule in sorted(accepted):
        if sets.root(short) != sets.root(long) and not _are_apart(sets, short, long, apart):
            sets.join(long, short)
            if short not in aliases:
                joined[short] = (rule, None)
                aliases.add(short)
    return _groups({*names, *sets.known}, sets, aliases, joined, norms)


def _united(candidates: Sequence[Candidate]) -> list[Candidate]:
    longs: dict[tuple[int, AliasSource], dict[int, None]] = {}
    for one in candidates:
        longs.setdefault((one.short, one.rule), {}).update(dict.fromkeys(one.longs))
    return [Candidate(short, rule, tuple(found)) for (short, rule), found in longs.items()]


def _spelled(candidates: Iterable[Candidate], sketches: Mapping[int, Sketch], norms: Mapping[int, str]) -> list[Pair]:
    """Return the pairs of names that are one but for their spelling, the one with the usual spelling first."""
    found: set[tuple[tuple[bool, str], tuple[bool, str], int, int]] = set()
    for one in candidates:
        for other in one.longs if one.rule == "spelling" else ():
            first, second = sorted((one.short, other), key=lambda name: _unusual(norms[name]))
            both = sketches.get(first), sketches.get(second)
            if both[0] and both[1] and _are_one(both[0], both[1], norms[first], norms[second]):
                found.add((_unusual(norms[first]), _unusual(norms[second]), first, second))
    return [(first, second) for *_, first, second in sorted(found)]


def _unusual(key: str) -> tuple[bool, str]:
    """Return the order of spellings of a name: those with a capital and small letters come first."""
    return key[:1].islower() or key.isupper(), key


def _are_one(first: Sketch, second: Sketch, key: str, other: str) -> bool:
    if first.kind == second.kind == "date" or first.stated or second.stated:
        return True
    if not first.is_near(second) or not _CODE.isdisjoint((first.kind, second.kind)):
        return False
    if key.casefold() != other.casefold():
        return False  # one has "The", which may be a part of the name of another thing
    if " " in key:
        return True
    small = (key[:1].islower() or other[:1].islower()) and not (first.speaks or second.speaks)
    return not small and not (_is_mixed(key) and _is_mixed(other))


def _is_mixed(key: str) -> bool:
    """Return whether a word has a capital inside, and is not all capitals."""
    return key[1:] != key[1:].lower() and not key.isupper()


def _of_two_persons(candidates: Sequence[Candidate], sets: "_Sets", sketches: Mapping[int, Sketch]) -> set[int]:
    """Return the longer names of which both the first and the last word are persons, whom nobody has merged with it."""
    parts: dict[int, set[int]] = {}
    for one in candidates:
        short = sketches.get(one.short)
        for long in one.longs if one.rule == "name_part" and short is not None else ():
            whole = sketches.get(long)
            if whole and short and _is_part(short, whole) and sets.root(one.short) != sets.root(long):
                parts.setdefault(long, set()).add(one.short)
    return {long for long, shorts in parts.items() if len(shorts) > 1}


def _one_long(one: Candidate, sets: "_Sets", sketches: Mapping[int, Sketch], norms: Mapping[int, str]) -> int | None:
    """Return the longer name that a short one stands for; None when there are several, or it may be another thing."""
    short = sketches.get(one.short)
    if short is None or len({sets.root(long) for long in one.longs}) != 1:
        return None
    found = min(one.longs, key=lambda long: norms[long])
    long = sketches.get(found)
    acronym = one.rule == "acronym"
    if long is None or not short.is_near(long) or (short.speaks and long.speaks and not acronym):
        return None
    fits = _is_acronym(short, long, norms[one.short], norms[found]) if acronym else _is_part(short, long)
    whole = acronym or (is_capitalised(norms[found]) and not norms[found].endswith(_GENERATIONS))
    return found if fits and whole else None


def _is_acronym(short: Sketch, long: Sketch, key: str, long_key: str) -> bool:
    words = long_key.split(" ")
    if not short.capitals or len(key) < 2:
        return False
    if all(len(word) == 1 for word in words):
        return True
    return not long.capitals and len(words[-1]) > 1 and short.kind == long.kind and is_capitalised(long_key)


def _is_part(short: Sketch, long: Sketch) -> bool:
    persons = short.kind == long.kind == "person" and short.clear and long.clear and short.confidence >= SURE
    return persons and not (short.capitals or long.capitals or short.small)


def _are_apart(sets: "_Sets", first: int, second: int, apart: Sequence[Pair]) -> bool:
    both = {sets.root(first), sets.root(second)}
    return any({sets.root(one), sets.root(other)} == both for one, other in apart)


def _groups(
    names: Iterable[int],
    sets: "_Sets",
    aliases: Collection[int],
    joined: Mapping[int, tuple[AliasSource, bytes | None]],
    norms: Mapping[int, str],
) -> dict[int, Group]:
    members: dict[int, list[int]] = {}
    for name in names:
        members.setdefault(sets.root(name), []).append(name)
    found: dict[int, Group] = {}
    for some in members.values():
        head = min((one for one in some if one not in aliases), key=norms.__getitem__, default=None)
        head = min(some, key=norms.__getitem__) if head is None else head
        group = Group(head, tuple(sorted(some)), {one: joined[one] for one in some if one != head and one in joined})
        found.update(dict.fromkeys(some, group))
    return found


class _Sets:
    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    @property
    def known(self) -> Collection[int]:
        return self._parents.keys()

    def root(self, one: int) -> int:
        while (parent := self._parents.get(one, one)) != one:
            one = parent
        return one

    def join(self, first: int, second: int) -> None:
        self._parents.setdefault(first, first)
        self._parents.setdefault(second, second)
        self._parents[self.root(second)] = self.root(first)


def name_of(row: Row) -> Name:
    """Read a row of `graph.names`."""
    return Name(*cast(tuple[int, str, str], row[:3]))


def stated_of(row: Row) -> Stated:
    """Read a row of `graph.stated`."""
    entity, alias, apart, version, memory, text, kind = cast(tuple[int, int, int, int, bytes, str, str | None], row)
    return Stated(entity, alias, bool(apart), version, memory, text, cast(EntityKind, kind or "other"))


def candidate_of(row: Row) -> Candidate:
    """Read a row of `graph.longs`."""
    short, rule, longs = cast(tuple[int, AliasSource, str], row)
    return Candidate(short, rule, tuple(json.loads(longs)))


def _first(counted: Mapping[str, int]) -> str:
    """Return the most frequent text, the first in order of those that are as frequent."""
    return min(counted, key=lambda one: (-counted[one], one), default="")
