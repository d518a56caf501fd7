"""Resolution of the names in source files, by scopes, imports, declared types and the values that are assigned.

A name that the rules of the language do not settle gets no edge. In languages whose types are not fully followed here,
it refers to the only definition of that name, and the edge is `probable`.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from muisti.core.code.modules import Modules
from muisti.core.code.records import TOP, Chain, Record, Use
from muisti.core.code.things import Source
from muisti.core.code.values import Values

FOLLOWED = ("python", "javascript", "typescript", "tsx")  # a name that is left over gets no edge
DECLARED = ("java", "c")  # members of types from elsewhere have no edge

Certainty = Literal["certain", "probable"]
EdgeKind = Literal["calls", "inherits", "imports", "references"]
_KINDS: Mapping[Use, EdgeKind] = {"call": "calls", "inherit": "inherits", "reference": "references"}


class Edge(NamedTuple):
    """A use in a file of a definition, which is named by its file and its qualified name.

    `scope` is the number of the definition that uses it, `TOP` for the file itself. A target without a name is a file.
    """

    scope: int
    kind: EdgeKind
    path: str
    name: str
    line: int
    column: int
    certainty: Certainty = "certain"


class Resolved(NamedTuple):
    """Edges of a file, the number of uses without one, and the keys of the files that they depend on."""

    edges: list[Edge]
    unresolved: int
    keys: frozenset[str]


class Resolver:
    """Resolves the files of one project. `load` returns the record of a path; the records must not change meanwhile."""

    def __init__(
        self,
        modules: Modules,
        load: Callable[[str], Record],
        named: Callable[[str, str], tuple[str, str] | None] | None = None,
    ) -> None:
        """`named` returns the path and qualified name of the only definition of a name in a language."""
        self._values, self._named = Values(modules, load), named

    def resolve(self, path: str) -> Resolved:
        """Return the edges of a file."""
        trail = self._values.trail
        trail.begin()
        source = self._values.source(path)
        edges: dict[Edge, None] = {}
        unresolved = 0
        for module, line in source.record.imports:
            found = self._values.module(source, module)
            if found is not None and found.source is not None and found.source is not source:
                edges[Edge(TOP, "imports", found.source.path, "", line, 0)] = None
        for one in source.record.mentions:
            found, certainty = self._found(source, one.scope, one.chain)
            if found is None:
                unresolved += 1
            else:
                edges[Edge(one.scope, _KINDS[one.use], *found, one.line, one.column, certainty)] = None
        return Resolved([*edges], unresolved, frozenset(trail.keys))

    def _found(self, source: Source, scope: int, chain: Chain) -> tuple[tuple[str, str] | None, Certainty]:
        thing = None if chain[0] == "?" else self._values.value(source, scope, chain)
        definition = None if thing is None or thing.form != "definition" else thing.definition
        if definition is not None and "elsewhere" not in definition.flags and thing is not None and thing.source:
            return (thing.source.path, definition.qualified), "certain"
        if self._named is None or source.record.language in FOLLOWED or chain[-1] in ("()", "[]", "@new"):
            return None, "certain"
        outside = thing is not None and thing.form == "outside" and bool(chain[1:])
        if outside and source.record.language in DECLARED:
            return None, "certain"  # a member of what comes from elsewhere
        self._values.trail.add((f"name:{chain[-1]}",))
        return self._named(source.record.language, chain[-1]), "probable"
