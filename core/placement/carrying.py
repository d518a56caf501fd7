"""Carry the rows of spaces from a database to another: all as of a change, then what has changed since.

Each batch is atomic in the target and says what it brought. So a copy that breaks off goes on, and two of them at the
same time double nothing.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from muisti.core.model.errors import Conflict
from muisti.core.placement.directory import numbered
from muisti.core.placement.rows import BY_NAME, CARRIED, PART, PARTS, VERSIONS, Carried, noted
from muisti.core.store.database import Database, Refusal, Refused, Row, Rows, Scalar, Statement, refuse, slots
from muisti.core.store.sql.spaces import AWAY
from muisti.core.store.sql.table import words

AT_ONCE = 200  # versions that are read together
BYTES = 1_000_000  # of values in a batch
VALUES = 20_000  # in a statement
KEYS = 100  # rows that are read by their keys together
_FIELDS = words(  # of the row of a space, which is carried last
    "epoch seq created_at committed_at settings kept_from policy feedback shadow_served embedded second_embedded"
)
_MODELS = words("generation_id shadow_generation_id second_generation_id")

Table = Mapping[int, int]
Keep = Callable[[int], None]  # hears how many rows were carried, and says by an error that another process goes on


class Leaving(NamedTuple):
    """A space of the source: its row, its name, its epoch, and the change as of which it is copied first."""

    id: int
    name: str
    epoch: str
    seq: int


class Carrier:
    """Carries spaces of one move. `epoch` is that of the move."""

    def __init__(self, source: Database, target: Database, epoch: int, keep: Keep) -> None:
        self._source, self._target, self._epoch, self._keep = source, target, epoch, keep
        self._models: dict[int, int] = {}
        self._last: list[Scalar] = [0]  # number in the trail that was followed last

    def copy_all(self, spaces: Sequence[Leaving]) -> None:
        """Copy those of the spaces that are not copied yet."""
        at = self._positions()
        for space in spaces:
            if f"{space.id}" not in at:
                self._copy(space, at)

    def _copy(self, space: Leaving, at: Mapping[str, list[Scalar]]) -> None:
        """Copy a space as of its change; what was copied before is not copied again."""
        there, seq = self._arriving(space)
        space = space._replace(seq=seq)
        for carried in CARRIED:
            if carried.table.name not in PARTS:
                self._copy_table(carried, space, there, at.get(f"{space.id} {carried.table.name}"))
        self._copied([self._position(f"{space.id}", [])])

    def follow(self) -> int:
        """Bring what has changed since the last time, and return how many changes that were."""
        last = self._last = self._positions().get("trail", [0])
        (rows,) = self._source.read([
            Statement(
                "SELECT number, name, row FROM trail WHERE epoch = ? AND number > ? ORDER BY number",
                (self._epoch, *last),
            )
        ])  # fmt: skip
        if not rows:
            return 0
        keys: defaultdict[str, dict[tuple[Scalar, ...], None]] = defaultdict(dict)
        for _, name, row in rows:
            keys[str(name)][noted(str(row))] = None
        self._bring({name: list(found) for name, found in keys.items()})
        upto = cast(int, rows[-1][0])
        self._write([self._position("trail", [upto])])
        self._last = [upto]
        self._source.write([Statement("DELETE FROM trail WHERE epoch = ? AND number <= ?", (self._epoch, upto))])
        self._keep(len(rows))
        return len(rows)

    def finish(self, spaces: Sequence[Leaving]) -> None:
        """Carry the rows of the fenced spaces themselves, and compare what both databases count.

        Raises:
            Conflict: the target has not what the source has; nothing was switched.
        """
        fields = ", ".join((*_FIELDS, *_MODELS, "memories", "bytes", "objects"))
        counts = ", ".join(f"(SELECT count(*) FROM {name} WHERE space_id = s.id)" for name in (VERSIONS, "changes"))
        there = self._numbers("spaces", [one.id for one in spaces])
        statements: list[Statement] = []
        for one in spaces:
            ask = f"SELECT {fields}, {counts} FROM spaces s WHERE id = ?"
            (found,), (copied,) = (
                self._source.read([Statement(ask, (one.id,))])[0],
                self._target.read([Statement(ask, (there[one.id],))])[0],
            )
            if found[-5:] != copied[-5:]:
                raise Conflict(f"the copy of {one.name!r} counts {copied[-5:]}, not {found[-5:]}; nothing was switched")
            models = [self._model(cast("int | None", id_)) for id_ in found[len(_FIELDS) : -5]]
            sets = ", ".join(f"{name} = ?" for name in _MODELS)
            statements.append(Statement(f"UPDATE spaces SET {sets} WHERE id = ?", (*models, there[one.id])))
            sets = ", ".join(f"{name} = ?" for name in _FIELDS)  # after the models, whose change resets two of these
            statements.append(
                Statement(f"UPDATE spaces SET {sets} WHERE id = ?", (*found[: len(_FIELDS)], there[one.id]))
            )
        known = [there[one.id] for one in spaces]
        gone = f"DELETE FROM spaces WHERE name LIKE '{AWAY}{self._epoch} %' AND id NOT IN {slots(known)}"
        self._write([*statements, Statement(gone, tuple(known))])

    def _arriving(self, space: Leaving) -> tuple[int, int]:
        """Return the row of a space in the target, which callers do not see, and the change as of which it is copied.

        A missing one is made.
        """
        name = f"{AWAY}{self._epoch} {space.name}"
        made = [
            numbered(
                "INSERT INTO spaces (name, epoch, created_at, committed_at, settings, seq, placed) "
                "SELECT ?1, ?2, 0, 0, '{}', ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE name = ?1)",
                (name, space.epoch, space.seq, self._epoch),
            ),
            Statement(
                "INSERT OR IGNORE INTO carried SELECT ?, 'spaces', ?, id FROM spaces WHERE name = ?",
                (self._epoch, space.id, name),
            ),
        ]
        ask = [Statement(f"SELECT {column} FROM spaces WHERE name = ?", (name,)) for column in ("id", "seq")]
        *_, ((there,),), ((seq,),) = self._copied([*made, *ask])
        return cast(int, there), cast(int, seq)

    def _copy_table(self, carried: Carried, space: Leaving, there: int, last: list[Scalar] | None) -> None:
        position = f"{space.id} {carried.table.name}"
        while True:
            if carried.table.name == VERSIONS:
                (rows,) = self._source.read([_versions(carried, space, cast(int, (last or [0])[0]))])
            else:
                (rows,) = self._source.read([carried.after(space.id, _values(last or []))])
            if not rows:
                return
            keys = [[row[carried.table.columns.index("born")]] for row in rows] if carried.table.name == VERSIONS else [
                [*carried.key_of(row)] for row in rows
            ]  # fmt: skip
            parts = self._parts([cast(int, row[0]) for row in rows]) if carried.table.name == VERSIONS else {}
            for some, end in _batches(rows, parts):
                now = _plain(keys[end - 1])
                self._copied(
                    [
                        self._unmoved(position, last),
                        *self._inserted(carried, some, there, parts),
                        self._position(position, now),
                    ]
                )
                last = now
                self._keep(len(some))

    def _bring(self, keys: Mapping[str, Sequence[tuple[Scalar, ...]]]) -> None:
        """Let the rows of these keys be in the target as they are now in the source."""
        found: dict[str, Rows] = {}
        for carried in CARRIED:
            named = keys.get(carried.table.name, ())
            rows: Rows = []
            for start in range(0, len(named), KEYS):
                rows += self._source.read([carried.keyed(named[start : start + KEYS])])[0]
            found[carried.table.name] = rows
        for carried in reversed(CARRIED):
            there = {carried.key_of(row) for row in found[carried.table.name]}
            gone = [key for key in keys.get(carried.table.name, ()) if key not in there]
            for start in range(0, len(gone), KEYS):
                self._drop(carried, gone[start : start + KEYS])
        for carried in CARRIED:
            if rows := found[carried.table.name]:
                self._put(carried, rows)
            if carried.table.name == VERSIONS:
                versions = [cast(int, key[0]) for key in keys.get(PART, ())]
                for start in range(0, len(versions), KEYS):
                    self._bring_parts(versions[start : start + KEYS])

    def _put(self, carried: Carried, rows: Rows) -> None:
        if carried.table.name == VERSIONS:
            rows = sorted(rows, key=lambda row: cast(int, row[carried.table.columns.index("born")]))
        if carried.numbered:  # ends of rows that are there come first, since they give up what others take
            known = self._numbers(carried.table.name, [cast(int, row[0]) for row in rows])
            before = [row for row in rows if row[0] in known]
            rows = [row for row in rows if row[0] not in known]
            for some, _ in _batches(before, {}):
                self._write(self._mapped(carried, some, None))
        parts = self._parts([cast(int, row[0]) for row in rows]) if carried.table.name == VERSIONS else {}
        for some, _ in _batches(rows, parts):
            self._write(self._inserted(carried, some, None, parts))

    def _bring_parts(self, versions: Sequence[int]) -> None:
        there = self._numbers(VERSIONS, versions)
        known = [one for one in versions if one in there]
        if not known:
            return
        parts = self._parts(known)
        new = [there[one] for one in known]
        drop = [
            Statement(f"DELETE FROM {name} WHERE version_id IN {slots(new)}", tuple(new)) for name in reversed(PARTS)
        ]
        self._write([*drop, *self._of_parts(known, there, parts)])

    def _drop(self, carried: Carried, keys: Sequence[tuple[Scalar, ...]]) -> None:
        numbers = {
            name: self._numbers(table, [cast(int, key[place]) for key in keys])
            for place, name in enumerate(carried.key)
            if (table := carried.numbers.get(name)) is not None
        }
        gone: list[Statement] = []
        for key in keys:
            values = [
                numbers[name].get(cast(int, value)) if name in numbers else value
                for name, value in zip(carried.key, key, strict=True)
            ]
            if not any(value is None for value in values):
                gone.append(carried.drop(values))
            if carried.numbered:
                gone.append(
                    Statement(
                        "DELETE FROM carried WHERE epoch = ? AND name = ? AND old = ?",
                        (self._epoch, carried.table.name, key[0]),
                    )
                )
        if gone:
            self._write(gone)

    def _inserted(
        self, carried: Carried, rows: Rows, there: int | None, parts: Mapping[str, Mapping[int, Rows]]
    ) -> list[Statement]:
        """Return what inserts rows that are not there, with the parts of versions."""
        if not carried.numbered:
            return self._mapped(carried, rows, there)
        name, old = carried.table.name, [cast(int, row[0]) for row in rows]
        numbers = dict(zip(old, self._reserved(name, len(old)), strict=True))
        note = [
            Statement(f"INSERT INTO carried VALUES {', '.join(['(?,?,?,?)'] * len(some))}", tuple(some_values))
            for some in _some(old)
            for some_values in [[value for one in some for value in (self._epoch, name, one, numbers[one])]]
        ]
        mine = [one for one in old if one in numbers]
        return [
            *note,
            *self._mapped(carried, rows, there, numbers),
            *(self._of_parts(mine, numbers, parts) if name == VERSIONS else ()),
        ]

    def _of_parts(
        self, versions: Sequence[int], numbers: Table, parts: Mapping[str, Mapping[int, Rows]]
    ) -> list[Statement]:
        made: list[Statement] = []
        for name in PARTS:
            rows = [row for version in versions for row in parts[name].get(version, ())]
            if rows:
                made += self._mapped(BY_NAME[name], rows, None, numbers)
        return made

    def _mapped(self, carried: Carried, rows: Rows, there: int | None, own: Table | None = None) -> list[Statement]:
        """Return what puts rows with the numbers of the target; rows that refer to what has not come are left out."""
        columns, kept = carried.table.columns, [list(row) for row in rows]
        for name, table in carried.numbers.items():
            place = columns.index(name)
            old = [cast(int, row[place]) for row in kept if row[place] is not None]
            if table == "generations":
                numbers: Table = {one: cast(int, self._model(one)) for one in set(old)}
            elif table == "spaces" and there is not None:
                numbers = dict.fromkeys(old, there)
            elif own is not None and (table == carried.table.name or (name == "version_id" and table == VERSIONS)):
                numbers = own
            else:
                numbers = self._numbers(table, old)
            optional = name == "import_id"
            kept = [row for row in kept if row[place] is None or row[place] in numbers or optional]
            for row in kept:
                row[place] = None if row[place] is None else numbers.get(cast(int, row[place]))
        most = max(1, VALUES // len(columns))
        return [carried.put(kept[start : start + most]) for start in range(0, len(kept), most)]

    def _parts(self, versions: Sequence[int]) -> dict[str, dict[int, Rows]]:
        """Return the parts of versions, by table and version."""
        where = f"t.version_id IN {slots(versions)}"
        results = self._source.read([BY_NAME[name].selected(where, versions) for name in PARTS]) if versions else ()
        found: dict[str, dict[int, Rows]] = {name: defaultdict(list) for name in PARTS}
        for name, rows in zip(PARTS, results, strict=False):
            for row in rows:
                found[name][cast(int, row[0])].append(row)
        return found

    def _numbers(self, table: str, old: Iterable[int]) -> dict[int, int]:
        """Return the numbers that rows have in the target, of those that are there."""
        asked, found = list(dict.fromkeys(old)), dict[int, int]()
        for some in _some(asked):
            ask = f"SELECT old, new FROM carried WHERE epoch = ? AND name = ? AND old IN {slots(some)}"
            (rows,) = self._target.read([Statement(ask, (self._epoch, table, *some))])
            found |= dict(cast(list[tuple[int, int]], rows))
        return found

    def _reserved(self, table: str, count: int) -> range:
        """Return row numbers that no other row of the target will get."""
        *_, ((last,),) = self._target.write([
            numbered("INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE NOT EXISTS "
                      "(SELECT 1 FROM sqlite_sequence WHERE name = ?1)", (table,)),
            Statement("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?", (count, table)),
            Statement("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)),
        ])  # fmt: skip
        return range(cast(int, last) - count + 1, cast(int, last) + 1)

    def _model(self, id_: int | None) -> int | None:
        """Return the number that a model has in the target, where it is made known."""
        if id_ is None:
            return None
        if id_ not in self._models:
            ask = "SELECT hash, model, dimensions, created_at, probes, seen_at FROM generations WHERE id = ?"
            ((row,),) = self._source.read([Statement(ask, (id_,))])
            *_, ((new,),) = self._target.write([
                Statement("INSERT INTO generations (hash, model, dimensions, created_at, probes, seen_at) "
                          "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING", row),
                Statement("SELECT id FROM generations WHERE hash = ?", row[:1]),
            ])  # fmt: skip
            self._models[id_] = cast(int, new)
        return self._models[id_]

    def _write(self, statements: Sequence[Statement]) -> None:
        """Write what was read after the last change that was followed, unless another process has followed more."""
        last = None if self._last == [0] else self._last
        self._copied([self._unmoved("trail", last), *statements])

    def _copied(self, statements: Sequence[Statement]) -> list[Rows]:
        """Write to spaces that still arrive."""
        arriving = "EXISTS (SELECT 1 FROM holdings WHERE epoch = ? AND state = 'arriving')"
        guard = Statement(f"{refuse(Refusal.STALE)} WHERE NOT {arriving}", (self._epoch,))
        return self._target.write([guard, *statements])[1:]

    def _positions(self) -> dict[str, list[Scalar]]:
        (rows,) = self._target.read([
            Statement("SELECT name, position FROM arrivals WHERE epoch = ?", (self._epoch,))
        ])  # fmt: skip
        return {str(name): cast(list[Scalar], json.loads(str(position))) for name, position in rows}

    def _position(self, name: str, position: Sequence[Scalar]) -> Statement:
        return Statement("INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?)", (self._epoch, name, json.dumps(position)))

    def _unmoved(self, name: str, last: Sequence[Scalar] | None) -> Statement:
        """Refuse when another process has copied further."""
        return Statement(
            f"{refuse(Refusal.STALE)} WHERE (SELECT position FROM arrivals WHERE epoch = ? AND name = ?) IS NOT ?",
            (self._epoch, name, None if last is None else json.dumps(last)),
        )


def _versions(carried: Carried, space: Leaving, born: int) -> Statement:
    """Select the next versions of a space as they were at its change."""
    columns = ", ".join(
        f"iif(t.died > {space.seq}, NULL, t.died)" if name == "died" else f"t.{name}" for name in carried.table.columns
    )
    return Statement(
        f"SELECT {columns} FROM versions t WHERE t.space_id = ? AND t.born > ? AND t.born <= ? ORDER BY t.born LIMIT ?",
        (space.id, born, space.seq, AT_ONCE),
    )


def _batches(rows: Rows, parts: Mapping[str, Mapping[int, Rows]]) -> Iterable[tuple[Rows, int]]:
    """Divide rows into batches of at most `BYTES`, unless a single one is larger; with each comes where it ends."""
    some, size = Rows(), 0
    for place, row in enumerate(rows):
        some.append(row)
        size += _size(row) + sum(_size(part) for of in parts.values() for part in of.get(cast(int, row[0]), ()))
        if size >= BYTES:
            yield some, place + 1
            some, size = Rows(), 0
    if some:
        yield some, len(rows)


def _size(row: Row) -> int:
    return sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)


def _some(values: Sequence[int]) -> list[Sequence[int]]:
    return [values[start : start + 1_000] for start in range(0, len(values), 1_000)]


def _plain(key: Sequence[Scalar]) -> list[Scalar]:
    """Return a key as JSON can have it; see `_values`."""
    return [f"x{one.hex()}" if isinstance(one, bytes) else f"s{one}" if isinstance(one, str) else one for one in key]


def _values(position: Sequence[Scalar]) -> tuple[Scalar, ...]:
    return noted(json.dumps(list(position)))


__all__ = ["Carrier", "Leaving", "Refused"]
