"""Find the groups of names that are one entity, around some names, and which relations later ones have ended."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from muisti.core.graph import merging
from muisti.core.graph.entities.name_keys import folded, lookups, norm
from muisti.core.graph.model import End, StatedKind
from muisti.core.graph.sql import graph
from muisti.core.graph.sql.graph_rows import Shown
from muisti.core.model.choices import FUNCTIONAL, EntityKind, ProposalReason, RelationSource
from muisti.core.store.database import Database, Row, Rows, Statement


class StatedRelation(NamedTuple):
    """A relation as a version states it. Times are in microseconds since 1970."""

    row: int
    number: int
    subject: int
    kind: StatedKind
    object: int | None
    polarity: int
    confidence: float
    source: RelationSource
    start: int
    stop: int
    literal: str | None
    evidence: str
    memory: bytes
    version: int
    valid_from: int
    valid_to: int | None
    author: str | None


def stated_relation(row: Row) -> StatedRelation:
    """Read a row of `graph.RELATION`."""
    return StatedRelation(*cast(tuple[Any, ...], row))


def closed(stated: Iterable[StatedRelation], heads: Mapping[int, int]) -> dict[tuple[int, int], StatedRelation]:
    """Return what has ended relations, by their version and number.

    A subject has one object of a functional kind at a time. So a relation is ended by the first later one of the same
    subject and kind that has another object. A relation that is denied ends none, and of two that begin at the same
    time neither ends the other. `heads` has the head of the group of each entity.
    """
    found: dict[tuple[int, int], StatedRelation] = {}
    lines: dict[tuple[int, str], list[StatedRelation]] = {}
    for one in stated:
        if one.kind in FUNCTIONAL and one.polarity > 0:
            lines.setdefault((heads[one.subject], one.kind), []).append(one)
    for line in lines.values():
        line.sort(key=lambda one: (one.valid_from, one.row, one.number), reverse=True)
        later: list[StatedRelation] = []
        for one in line:
            thing = _object(one, heads)
            ends = [other for other in later if other.valid_from > one.valid_from and _object(other, heads) != thing]
            if ends:
                found[one.row, one.number] = ends[-1]
            later.append(one)
    return found


def _object(one: StatedRelation, heads: Mapping[int, int]) -> int | str:
    return (one.literal or "").casefold() if one.object is None else heads[one.object]


SHORTEST = 3  # characters of a name that is compared
BUCKET = 60  # names of one bucket that are compared with each other


class Named(NamedTuple):
    """A name with the number of memories that mention it."""

    id: int
    norm: str
    mentions: int


class Pair(NamedTuple):
    """Two names that look alike, the one that is mentioned more first."""

    first: Named
    second: Named
    reason: ProposalReason


def alike(names: Sequence[Named]) -> list[Pair]:
    """Return pairs of names that look alike: those with the same letters first, then those that are mentioned most.

    The names come with the most mentioned first. Case does not count. Names that differ in their digits are never
    alike.
    """
    found: dict[tuple[int, int], Pair] = {}
    buckets: dict[str, list[Named]] = {}
    for one in names:
        if len(one.norm) < SHORTEST or any(part.isdigit() for part in one.norm):
            continue
        norm = one.norm.casefold()
        for key in _keys(norm):
            bucket = buckets.setdefault(key, [])
            for other in bucket:
                reason = _reason(other.norm.casefold(), norm)
                if reason is not None:
                    found.setdefault((other.id, one.id), Pair(other, one, reason))
            if len(bucket) < BUCKET:
                bucket.append(one)
    return sorted(found.values(), key=_order)


def _order(pair: Pair) -> tuple[bool, int, int, str, str]:
    both = pair.first.mentions, pair.second.mentions
    same = pair.first.norm.casefold() == pair.second.norm.casefold()
    return not same, -min(both), -max(both), pair.first.norm, pair.second.norm


def _keys(norm: str) -> set[str]:
    """Return the buckets of a name: its words, their beginnings, and the name without each of its characters."""
    words = norm.split(" ")
    keys = {f"w{word}" for word in words if len(word) >= SHORTEST}
    keys |= {f"p{norm[:SHORTEST]}"} if len(words) == 1 else set()
    if len(norm) > 4:
        keys |= {f"d{norm[:place]}{norm[place + 1 :]}" for place in range(len(norm))} | {f"d{norm}"}
    return keys


def _reason(one: str, other: str) -> ProposalReason | None:
    if one == other:
        return "spelling"
    short, long = sorted((one, other), key=len)
    words = long.split(" ")
    if " " not in short and len(words) > 1 and short in (words[0], words[-1]):
        return "name_part"
    if len(words) == 1 and long.startswith(short) and len(short) >= SHORTEST:
        return "prefix"
    if len(short) > 4 and len(long) - len(short) <= 1 and _one_edit(short, long):
        return "spelling"
    return None


def _one_edit(short: str, long: str) -> bool:
    """Return whether one character was changed, added, or exchanged with the next."""
    place = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[place:] == long[place + 1 :]
    return short[place + 1 :] == long[place + 1 :] or (
        short[place : place + 2] == long[place : place + 2][::-1] and short[place + 2 :] == long[place + 2 :]
    )


ROUNDS = 8  # of following names that belong together


class Groups:
    """Names and what belongs together with them, read as far as it was asked for. For one answer."""

    def __init__(self, database: Database, shown: Shown) -> None:
        self._database, self._shown = database, shown
        self.names: dict[int, merging.Name] = {}
        self._stated: dict[tuple[int, int, int], merging.Stated] = {}
        self._candidates: dict[tuple[int, str], merging.Candidate] = {}
        self._sketches: dict[int, merging.Sketch | None] = {}
        self._briefs: dict[int, merging.Sketch | None] = {}
        self._related: dict[int, bool] = {}  # whether other names may belong to a name
        self._explored: set[int] = set()
        self._knows_statements: set[int] = set()
        self._knows_longs: set[int] = set()
        self._found: dict[int, merging.Group] = {}

    def of(self, ids: Iterable[int]) -> dict[int, merging.Group]:
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
        members = {one for group in self.of(heads).values() for one in group.members}
        missing = members - self._sketches.keys() - self._briefs.keys()
        return [graph.names(missing), graph.sketches(missing, self._shown, graph.BRIEF)] if missing else []

    def learn_ends(self, answers: Sequence[Rows]) -> None:
        """Take the rows of the statements of `unsketched`."""
        if answers:
            names, sketches = answers
            self.add(names)
            self._briefs.update(self._read(sketches))

    def end(self, group: merging.Group) -> End:
        """Return a group as the end of a relation; its names must be sketched."""
        spelling, kind, _ = self.told(group)
        return End(id=self.names[group.head].code, name=spelling, kind=kind)

    def told(self, group: merging.Group) -> tuple[str, EntityKind, merging.Stated | None]:
        """Return the name and the kind of a group, and the statement of a person on it."""
        said = self.statement(group)
        sketches = [self._sketches.get(one) or self._briefs.get(one) for one in (group.head, *group.members)]
        sketch = next((one for one in sketches if one is not None), None)
        name = said.text if said else sketch.spelling if sketch else self.names[group.head].norm
        kind = said.kind if said and said.kind != "other" else sketch.kind if sketch else "other"
        return name, kind, said

    def statement(self, group: merging.Group) -> merging.Stated | None:
        """Return the last statement of a person that is about the head of a group."""
        own = [one for one in self._stated.values() if one.entity == one.alias == group.head]
        return max(own, key=lambda one: one.version, default=None)

    def are_apart(self, first: int, second: int) -> bool:
        """Return whether people keep two names apart, or others of their groups; both must be known."""
        one, other = self._found[first].members, self._found[second].members
        said = merging.current(self._stated.values())
        return any(said[pair].apart for a in one for b in other for pair in [(min(a, b), max(a, b))] if pair in said)

    def sketched(self, name: int) -> merging.Sketch | None:
        return self._sketches.get(name)

    def sketch(self, names: Collection[int]) -> None:
        """Read the latest mentions of names."""
        wanted = {*names} - self._sketches.keys()
        if wanted:
            self._load_names(wanted)
            (rows,) = self._database.read([graph.sketches(wanted, self._shown)])
            self._sketches.update(self._read(rows))

    def _read(self, rows: Rows) -> dict[int, merging.Sketch | None]:
        return {id_: merging.Sketch.of(told, self.names[id_].norm) for id_, told in cast(list[tuple[int, str]], rows)}

    def add(self, rows: Iterable[Row]) -> list[int]:
        """Take the ids, codes and norms of names, and return the ids."""
        found = [merging.name_of(row) for row in rows]
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
            one = merging.name_of(row)
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
            self._found.update((one, merging.Group(one, (one,), {})) for one in frontier)

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
            one = merging.stated_of(cast("tuple[int, ...]", row))
            self._stated[one.entity, one.alias, one.version] = one
        for row in longs:
            candidate = merging.candidate_of(row)
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

    def _grouped(self) -> dict[int, merging.Group]:
        norms = {id_: name.norm for id_, name in self.names.items()}
        sketches = {id_: sketch for id_, sketch in self._sketches.items() if sketch is not None}
        candidates = [*self._candidates.values()]
        return merging.grouped(self.names.keys(), norms, merging.current(self._stated.values()), candidates, sketches)
