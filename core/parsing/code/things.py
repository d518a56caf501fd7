"""Types for what a name in a source file may refer to, the order of its classes, and what an answer depends on."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

from muisti.core.parsing.code.records import CONTAINERS, TOP, Binding, Definition, Record


class Trail:
    """Keys that were asked for. A part of the search that is remembered has its own keys, which count as often."""

    def __init__(self) -> None:
        self.keys: set[str] = set()

    def add(self, keys: Iterable[str]) -> None:
        """Take in keys."""
        self.keys.update(keys)

    def begin(self) -> set[str]:
        """Begin a part. Return the keys so far, for `end`."""
        before, self.keys = self.keys, set()
        return before

    def end(self, before: set[str]) -> set[str]:
        """End a part, and return its keys."""
        own, self.keys = self.keys, before | self.keys
        return own


class Source(Struct, eq=False):
    """A record with its names by scope. `names` has both the definitions, by number, and the bindings."""

    path: str
    record: Record
    members: dict[int, dict[str, int]]
    bindings: dict[int, dict[str, list[Binding]]]
    exports: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, record: Record) -> "Source":
        members: dict[int, dict[str, int]] = {}
        for number, one in enumerate(record.definitions):
            if one.kind != "constant" and one.name and "constructor" not in one.flags:
                names = members.setdefault(one.parent, {})
                if one.name not in names or record.definitions[one.parent].kind not in CONTAINERS:
                    names[one.name] = number
        bindings: dict[int, dict[str, list[Binding]]] = {}
        for one in record.bindings:
            bindings.setdefault(one.scope, {}).setdefault(one.name, []).append(one)
        exports = {one.name: (one.local, one.module) for one in record.exports}
        return cls(record.path, record, members, bindings, exports)


class Thing(NamedTuple):
    """A value, as far as it is known: a module, a definition, an instance of a class, a collection, or one outside."""

    form: Literal["module", "definition", "instance", "many", "map", "giver", "outside"]
    source: Source | None = None
    number: int = TOP
    inner: "Thing | None" = None

    @property
    def definition(self) -> Definition | None:
        """The definition that this is, or is an instance of."""
        if self.source is None or self.number == TOP:
            return None
        return self.source.record.definitions[self.number]


OUTSIDE = Thing("outside")
MISSING = Thing("outside", number=-2)  # no such name, where a value outside of the project has one


def is_class(thing: Thing) -> bool:
    """Return whether a value is a class or another type itself, and no instance."""
    definition = thing.definition
    return thing.form == "definition" and definition is not None and definition.kind in CONTAINERS


MOST_BASES = 60  # classes above a class that are looked at


class Orders:
    """Orders of classes, each found once. `direct` gives the bases of a class, None for one outside of the project."""

    def __init__(self, trail: Trail, direct: Callable[[Thing], Iterator[Thing | None]]) -> None:
        self._trail, self._direct = trail, direct
        self._known: dict[tuple[str, int], tuple[list[Thing], bool, set[str]]] = {}

    def of(self, thing: Thing) -> tuple[list[Thing], bool]:
        """Return a class and all above it in the order in which members are looked up.

        Whether one of them has a base outside of the project is the second value.
        """
        assert thing.source is not None
        key = (thing.source.path, thing.number)
        if (known := self._known.get(key)) is not None:
            self._trail.add(known[2])
            return known[0], known[1]
        self._known[key] = ([Thing("definition", thing.source, thing.number)], False, set())
        before = self._trail.begin()
        found, outside = self._linear(Thing("definition", thing.source, thing.number))
        self._known[key] = (found, outside, self._trail.end(before))
        return found, outside

    def _linear(self, thing: Thing) -> tuple[list[Thing], bool]:
        """Linearise the classes above a class by C3, or depth first where that has no solution."""
        lines: list[list[Thing]] = []
        outside = False
        direct = [*self._direct(thing)]
        for base in direct:
            if base is None:
                outside = True
                continue
            line, open_above = self.of(base)
            lines.append([*line])
            outside = outside or open_above
        lines.append([base for base in direct if base is not None])
        order = [thing]
        while lines := [line for line in lines if line]:
            head = next((line[0] for line in lines if all(line[0] not in other[1:] for other in lines)), lines[0][0])
            if head not in order:
                order.append(head)
            lines = [[one for one in line if one != head] for line in lines]
            if len(order) > MOST_BASES:
                break
        return order, outside
