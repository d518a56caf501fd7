"""Types for what a name in a source file may refer to, and records with their names by scope."""

from typing import Literal, NamedTuple

from msgspec import Struct

from muisti.core.parsing.code.records import CONTAINERS, TOP, Binding, Definition, Record


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
