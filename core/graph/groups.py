"""Find the groups of names that are one entity, around some names, as a caller sees them at a point."""

from collections.abc import Collection, Iterable, Sequence
from typing import cast

from muisti.core.graph.entities.names import folded, lookups, norm
from muisti.core.graph.merging import (
    Candidate,
    Group,
    Name,
    Sketch,
    Stated,
    candidate_of,
    current,
    grouped,
    name_of,
    stated_of,
)
from muisti.core.graph.sql import graph
from muisti.core.graph.sql.graph_shown import Shown
from muisti.core.model.graph import End
from muisti.core.model.graph_terms import EntityKind
from muisti.core.store.database import Database, Row, Rows, Statement

ROUNDS = 8  # of following names that belong together


class Groups:
    """Names and what belongs together with them, read as far as it was asked for. For one answer."""

    def __init__(self, database: Database, shown: Shown) -> None:
        self._database, self._shown = database, shown
        self.names: dict[int, Name] = {}
        self._stated: dict[tuple[int, int, int], Stated] = {}
        self._candidates: dict[tuple[int, str], Candidate] = {}
        self._sketches: dict[int, Sketch | None] = {}
        self._briefs: dict[int, Sketch | None] = {}
        self._related: dict[int, bool] = {}  # whether other names may belong to a name
        self._explored: set[int] = set()
        self._knows_statements: set[int] = set()
        self._knows_longs: set[int] = set()
        self._found: dict[int, Group] = {}

    def of(self, ids: Iterable[int]) -> dict[int, Group]:
        """Return the group of each name."""
        wanted = {*ids}
        frontier = wanted - self._explored
        for _ in range(ROUNDS):
            if not frontier:
                break
            self._explore(frontier)
            frontier = {other for one in wanted for other in self._found[one].members} - self._explored
        return {one: self._found[one] for one in wanted}

    def is_alone(self, head: int) -> bool:
        """Return whether a known group has one name."""
        group = self._found.get(head)
        return self._related.get(head) is False or (group is not None and len(group.members) == 1)

    def called(self, text: str) -> list[int]:
        """Return the known names that are a text but for their case, or have it as their code.

        Those with its very letters come first, then those that are mentioned most.
        """
        key, places = norm(text), {key: place for place, key in enumerate(lookups(text))}
        found: list[tuple[bool, int, int, str, int]] = []
        for one in self.names.values():
            exact = one.norm == key or one.code == text.strip()
            place = places.get(folded(one.norm))
            if exact or place is not None:
                sketch = self._sketches.get(one.id)
                mentions = len(sketch.changes) if sketch else 0
                found.append((not exact, place or 0, -mentions, one.norm, one.id))
        return [id_ for *_, id_ in sorted(found)]

    def heads(self, ids: Iterable[int]) -> dict[int, int]:
        """Return the head of the group of each name."""
        wanted = {*ids}
        alone = {one for one in wanted if self._related.get(one) is False}
        return {one: one for one in alone} | {one: group.head for one, group in self.of(wanted - alone).items()}

    def ends(self, heads: Iterable[int]) -> dict[int, End]:
        """Return entities as the ends of relations, by the heads of their groups."""
        groups = self.of(heads)
        asked = self.unsketched(groups)
        if asked:
            self.learn_ends(self._database.read(asked))
        return {head: self.end(group) for head, group in groups.items()}

    def unsketched(self, heads: Iterable[int]) -> list[Statement]:
        """Return the statements that read what `ends` needs and is not known yet, for `learn_ends`; none else."""
        missing = self._unsketched(self.of(heads).values())
        return [graph.names(missing), graph.sketches(missing, self._shown, graph.BRIEF)] if missing else []

    def _unsketched(self, groups: Iterable[Group]) -> set[int]:
        return {one for group in groups for one in group.members} - self._sketches.keys() - self._briefs.keys()

    def learn_ends(self, answers: Sequence[Rows]) -> None:
        """Take the rows of the statements of `unsketched`."""
        if answers:
            names, sketches = answers
            self.add(names)
            self._briefs.update(self._read(sketches))

    def end(self, group: Group) -> End:
        """Return a group as the end of a relation; its names must be sketched."""
        spelling, kind, _ = self.told(group)
        return End(id=self.names[group.head].code, name=spelling, kind=kind)

    def told(self, group: Group) -> tuple[str, EntityKind, Stated | None]:
        """Return the name and the kind of a group, and the statement of a person on it."""
        said = self.statement(group)
        sketches = [self._sketches.get(one) or self._briefs.get(one) for one in (group.head, *group.members)]
        sketch = next((one for one in sketches if one is not None), None)
        name = said.text if said else sketch.spelling if sketch else self.names[group.head].norm
        kind = said.kind if said and said.kind != "other" else sketch.kind if sketch else "other"
        return name, kind, said

    def statement(self, group: Group) -> Stated | None:
        """Return the last statement of a person that is about the head of a group."""
        own = [one for one in self._stated.values() if one.entity == one.alias == group.head]
        return max(own, key=lambda one: one.version, default=None)

    def are_apart(self, first: int, second: int) -> bool:
        """Return whether people keep two names apart, or others of their groups; both must be known."""
        one, other = self._found[first].members, self._found[second].members
        said = current(self._stated.values())
        return any(said[pair].apart for a in one for b in other for pair in [(min(a, b), max(a, b))] if pair in said)

    def sketched(self, name: int) -> Sketch | None:
        return self._sketches.get(name)

    def sketch(self, names: Collection[int]) -> None:
        """Read the latest mentions of names."""
        wanted = {*names} - self._sketches.keys()
        if wanted:
            self._load_names(wanted)
            (rows,) = self._database.read([graph.sketches(wanted, self._shown)])
            self._sketches.update(self._read(rows))

    def _read(self, rows: Rows) -> dict[int, Sketch | None]:
        return {id_: Sketch.of(told, self.names[id_].norm) for id_, told in cast(list[tuple[int, str]], rows)}

    def add(self, rows: Iterable[Row]) -> list[int]:
        """Take the ids, codes and norms of names, and return the ids."""
        found = [name_of(row) for row in rows]
        self.names.update((one.id, one) for one in found)
        return [one.id for one in found]

    def learn(self, rows: Sequence[Row], *, brief: bool) -> None:
        """Take rows of names with their sketches, where they have one; those with `brief` are of fewer mentions."""
        self._learn_names(rows)
        sketches = self._briefs if brief else self._sketches
        sketches.update(self._read([(row[0], row[4]) for row in rows if row[4] is not None]))

    def learn_related(self, names: Iterable[tuple[int, int]]) -> None:
        """Take whether other names may belong to names."""
        self._related.update((id_, bool(related)) for id_, related in names)

    def _learn_names(self, rows: Iterable[Row]) -> None:
        for row in rows:
            one = name_of(row)
            self.names[one.id], self._related[one.id] = one, bool(row[3])

    def _explore(self, frontier: set[int]) -> None:
        """Group names with all that may belong together with them."""
        unknown = frontier - self._related.keys()
        if unknown:
            (rows,) = self._database.read([graph.names(unknown)])
            self._learn_names(rows)
        self._explored |= frontier
        related = {one for one in frontier if self._related.get(one)}
        if related and self._gather(related):
            self._found.update(self._grouped())
        else:
            self._found.update((one, Group(one, (one,), {})) for one in frontier)

    def _gather(self, related: set[int]) -> bool:
        """Read the statements on names, their longer and shorter names; return whether there is any."""
        shown = self._shown
        asked = [graph.stated(related, shown), graph.longs(related, shown), graph.shorts(related)]
        stated, longs, shorts, *named = self._database.read([*asked, *self._unnamed(related)])
        for rows in named:
            self.add(rows)
        self._take(stated, longs, related)
        self._knows_longs |= related
        fresh = {cast(int, one) for (one,) in shorts} - self._knows_longs
        if fresh:
            names, more = self._database.read([graph.names(fresh), graph.longs(fresh, shown)])
            self.add(names)
            self._take((), more, ())
            self._knows_longs |= fresh
        self._look_at_candidates()
        return bool(stated or longs or shorts)

    def _look_at_candidates(self) -> None:
        """Read the statements on the names of candidates, and sketch these names."""
        mine = [*self._candidates.values()]
        ends = {one for each in mine for one in (each.short, *each.longs)} - self._knows_statements
        if ends:
            (stated,) = self._database.read([graph.stated(ends, self._shown)])
            self._take(stated, (), ends)
        self._load_names({one for key in self._stated for one in key[:2]} | ends)
        self.sketch({name for one in mine for name in (one.short, *one.longs)})

    def _take(self, stated: Iterable[Sequence[object]], longs: Rows | tuple[()], about: Iterable[int]) -> None:
        for row in stated:
            one = stated_of(cast("tuple[int, ...]", row))
            self._stated[one.entity, one.alias, one.version] = one
        for row in longs:
            candidate = candidate_of(row)
            known = self._candidates.get((candidate.short, candidate.rule))
            more = () if known is None else known.longs
            both = tuple(dict.fromkeys((*more, *candidate.longs)))
            self._candidates[candidate.short, candidate.rule] = candidate._replace(longs=both)
        self._knows_statements |= {*about}

    def _load_names(self, ids: set[int]) -> None:
        asked = self._unnamed(ids)
        if asked:
            (rows,) = self._database.read(asked)
            self.add(rows)

    def _unnamed(self, ids: set[int]) -> list[Statement]:
        """Return the statement that reads names that are not known yet; none else."""
        missing = ids - self.names.keys()
        return [graph.names(missing)] if missing else []

    def _grouped(self) -> dict[int, Group]:
        norms = {id_: name.norm for id_, name in self.names.items()}
        sketches = {id_: sketch for id_, sketch in self._sketches.items() if sketch is not None}
        candidates = [*self._candidates.values()]
        return grouped(self.names.keys(), norms, current(self._stated.values()), candidates, sketches)
