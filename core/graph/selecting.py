"""Filters on entities: the versions that mention them, as one caller sees names at one point."""

from collections.abc import Callable
from typing import NamedTuple, cast

from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import NotFound
from muisti.core.query.filter_fields import ENTITY, VERSION_ROW
from muisti.core.query.filters import And, Filter, Leaf, Not, Or, fields_of
from muisti.core.query.points import AsOf
from muisti.core.store.sql import graph


class Meant(NamedTuple):
    """A filter that names no entity, and in words what is missing."""

    filter: Filter | None
    degraded: tuple[str, ...] = ()


def names_entities(filter: Filter | None) -> bool:
    """Return whether a filter names an entity, so that the graph must be read for it."""
    return filter is not None and ENTITY in fields_of(filter)


def lacks(pending: int) -> tuple[str, ...]:
    """Return in words that versions are not read yet."""
    if not pending:
        return ()
    return (f"{pending:,} versions of memories are not in the graph yet; it reads them in the background",)


class EntityFilters:
    """Reads the entities of filters. Thread-safe."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader

    def meant(self, space: str, filter: Filter | None, caller: Caller, as_of: AsOf | None, now: int) -> Meant:
        """Return the filter with rows of versions in place of entities; an unknown entity has none.

        Raises:
            NotFound: there is no such space.
            Conflict: the graph of the space is off.
            EpochGone, PastRetention, PointAhead: it cannot be shown as it was then.
        """
        if filter is None or not names_entities(filter):
            return Meant(filter)
        opened = self._reader.open(space, caller, now, as_of, _names(filter))
        return Meant(_resolved(filter, lambda leaf: self._versions(opened, leaf)), lacks(opened.pending))

    def _versions(self, opened: Opened, leaf: Leaf) -> Leaf:
        members: set[int] = set()
        for name in leaf.operands:
            try:
                members.update(self._reader.find(opened, str(name)).members)
            except NotFound:
                continue
        (rows,) = self._reader.database.read([graph.versions_of(members)])
        return Leaf(VERSION_ROW, "in", tuple(cast(int, row[0]) for row in rows))


def _names(filter: Filter) -> list[str]:
    """Return the names of entities in a filter."""
    match filter:
        case Leaf(field):
            return [str(name) for name in filter.operands] if field == ENTITY else []
        case Not(part):
            return _names(part)
        case And(parts) | Or(parts):
            return [name for part in parts for name in _names(part)]


def _resolved(filter: Filter, ask: Callable[[Leaf], Leaf]) -> Filter:
    match filter:
        case Leaf(field):
            return ask(filter) if field == ENTITY else filter
        case Not(part):
            return Not(_resolved(part, ask))
        case And(parts):
            return And(tuple(_resolved(part, ask) for part in parts))
        case Or(parts):
            return Or(tuple(_resolved(part, ask) for part in parts))
