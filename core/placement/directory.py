"""The directory: the databases, the map from buckets to them, spaces that are elsewhere than their bucket, and moves.

It is one of the databases, the first. Each process has a copy of the map, which works on while the directory is down.
"""

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import msgspec

from muisti.core.model.buckets import BUCKETS, EVERYTHING, bucket_of, in_unit, unit_of
from muisti.core.model.decoding import convert
from muisti.core.model.errors import AlreadyExists, Conflict, NotFound
from muisti.core.model.location import Location, base_url, is_remote
from muisti.core.store.database import Database, Refusal, Refused, Row, Scalar, Statement, refuse
from muisti.core.store.sql import operations
from muisti.core.support.regex import regex

MAIN, MAIN_NAME = 0, "main"  # the id and the name of the directory
GIB = 1 << 30
MOST_BYTES = 20 * GIB  # of a database by default, which is restored within minutes
TRIES = 16
LEASE_US = 5_000_000  # after which another process goes on with a move
_PLACE = regex(r"\?(\d)")
NOW = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"

Step = Literal["asked", "copying", "following", "left", "arrived", "switched", "ended", "back"]
Why = Literal["moved", "pinned", "promoted", "drained", "forked"]


def numbered(sql: str, args: Sequence[Scalar]) -> Statement:
    """Return a statement whose placeholders are `?1`, `?2` and so on, which servers count otherwise than files."""
    places = [int(place) - 1 for place in _PLACE.findall(sql)]
    return Statement(_PLACE.sub("?", sql), tuple(args[place] for place in places))


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A database that holds spaces. `token_file` is a path in each process; without one, the first database's is used.

    `most_bytes` is the size that can be restored in the time that a restore may take.
    """

    id: int
    name: str
    url: str
    namespace: str | None = None
    replica_url: str | None = None
    token_file: str | None = None
    most_bytes: int = MOST_BYTES
    draining: bool = False

    def location(self, home: Location) -> Location:
        """Return where the database is; `home` is the location of the directory, with its credentials."""
        if self.id == MAIN:
            return home
        file = None if self.token_file is None else Path(self.token_file)
        own = file is not None or not _same_server(self.url, home.url)
        return Location(
            url=self.url,
            namespace=self.namespace,
            replica_url=self.replica_url,
            token=None if own else home.token,
            token_file=file if own else home.token_file,
            seconds=home.seconds,
        )


class Map(msgspec.Struct, frozen=True):
    """Where each space is, at an epoch of the map."""

    epoch: int
    buckets: "array[int]"
    exceptions: Mapping[str, int]
    targets: Mapping[int, Target]

    def of(self, space: str) -> int:
        """Return the id of the database of a space, whether it exists or not."""
        found = self.exceptions.get(space)
        return self.buckets[bucket_of(space)] if found is None else found

    def of_unit(self, unit: str) -> int:
        bucket = in_unit(unit)
        return self.of(unit) if bucket is None else self.buckets[bucket]

    def named(self, name: str) -> Target:
        """Return the database of a name.

        Raises:
            NotFound: there is none.
        """
        found = next((one for one in self.targets.values() if one.name == name), None)
        if found is None:
            raise NotFound("database", name)
        return found


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """A move of a unit from a database to another. Its id is the epoch of the placement. Times are in microseconds."""

    id: int
    unit: str
    source: int
    target: int
    why: Why
    step: Step
    asked_at: int
    ended_at: int | None
    actor: str
    copied: int
    fences: int
    fenced_us: int
    error: str | None


_MOVE = (
    "SELECT id, unit, source_id, target_id, why, step, asked_at, ended_at, actor, copied, fences, fenced_us, error "
    "FROM moves"
)
_TARGETS = Statement(
    "SELECT id, name, url, namespace, replica_url, token_file, most_bytes, draining FROM databases ORDER BY id"
)
_PLACEMENT = Statement("SELECT epoch, buckets FROM placement")
_EXCEPTIONS = Statement("SELECT space, database_id FROM placed_spaces")


class Directory:
    """The directory in a database. `map` is the newest map that this process has read. Thread-safe."""

    def __init__(self, database: Database, url: str = "") -> None:
        """Read the map; `url` is where the database is."""
        self._database = database
        self._main = Target(id=MAIN, name=MAIN_NAME, url=url)
        self.map = self.load()

    def load(self) -> Map:
        """Read the map, and keep it.

        Raises:
            StoreUnavailable: the directory does not answer.
        """
        targets, placement, exceptions = self._database.read([_TARGETS, _PLACEMENT, _EXCEPTIONS])
        epoch, buckets = cast(tuple[int, bytes], placement[0]) if placement else (0, bytes(2 * BUCKETS))
        known = [self._main, *(_target(row) for row in targets)]
        self.map = Map(
            epoch,
            array("H", buckets),
            {str(space): cast(int, target) for space, target in exceptions},
            {one.id: one for one in known},
        )
        return self.map

    def add(self, target: Target, actor: str, now: int) -> Target:
        """Add a database; it holds nothing yet.

        Raises:
            AlreadyExists: a database has this name.
        """
        if target.name == self._main.name:
            raise AlreadyExists(f"a database {target.name!r} exists already")
        try:
            self._database.write([
                Statement("INSERT INTO placement SELECT 0, 1, zeroblob(?) WHERE NOT EXISTS (SELECT 1 FROM placement)",
                          (2 * BUCKETS,)),
                Statement(
                    "INSERT INTO databases (name, url, namespace, replica_url, token_file, most_bytes, added_at) "
                    f"VALUES (?, ?, ?, ?, ?, ?, {NOW})",
                    (*_settings(target), target.most_bytes),
                ),
                Statement("UPDATE placement SET epoch = epoch + 1"),
                operations.audit(now, actor, "database_added", target=target.name),
            ])  # fmt: skip
        except Refused as refused:
            raise AlreadyExists(f"a database {target.name!r} exists already") from refused
        return self.load().named(target.name)

    def drain(self, name: str, actor: str, now: int) -> Target:
        """Let a database take no more spaces."""
        found = self.load().named(name)
        if found.id == MAIN:
            raise Conflict("the first database is the directory and stays; move its buckets where they should be")
        self._database.write([
            Statement("UPDATE databases SET draining = 1 WHERE id = ?", (found.id,)),
            operations.audit(now, actor, "database_drained", target=name),
        ])  # fmt: skip
        return self.load().named(name)

    def ask(self, units: Sequence[str], target: Target, why: Why, actor: str, now: int) -> list[Move]:
        """Ask for moves, which any process does; those of units that are there already are left out.

        Raises:
            Conflict: one of the units is moving already, or the database takes no more.
        """
        known = self.load()
        if target.draining:
            raise Conflict(f"the database {target.name!r} is being drained and takes no spaces")
        wanted = [unit for unit in dict.fromkeys(units) if known.of_unit(unit) != target.id]
        moving = {_bucket(move.unit): move for move in self.moves()}
        if busy := next((unit for unit in wanted if _bucket(unit) in moving), None):
            raise Conflict(f"{busy} cannot move before move {moving[_bucket(busy)].id} of its bucket has ended")
        made = [
            Statement(
                "INSERT INTO moves (unit, source_id, target_id, why, step, asked_at, actor) "
                f"VALUES (?, ?, ?, ?, 'asked', {NOW}, ?)",
                (unit, known.of_unit(unit), target.id, why, actor),
            )
            for unit in wanted
        ]
        audits = [operations.audit(now, actor, "move_asked", target=f"{unit} to {target.name}") for unit in wanted]
        unchanged = f"{refuse(Refusal.STALE)} WHERE coalesce((SELECT epoch FROM placement), 0) <> ?"
        try:
            self._database.write([Statement(unchanged, (known.epoch,)), *made, *audits])
        except Refused as refused:
            if refused.code == Refusal.STALE:
                return self.ask(units, target, why, actor, now)
            raise Conflict(f"{wanted[refused.statement - 1]} is moving already; wait until that move ends") from refused
        return [move for move in self.moves() if move.unit in set(wanted)]

    def moves(self, *, ended: int = 0) -> list[Move]:
        """Return the moves under way, and so many of those that have ended, newest last."""
        under_way, over = self._database.read([
            Statement(f"{_MOVE} WHERE ended_at IS NULL ORDER BY id"),
            Statement(f"{_MOVE} WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT ?", (ended,)),
        ])  # fmt: skip
        return sorted([_move(row) for row in (*under_way, *over)], key=lambda move: move.id)

    def move(self, id_: int) -> Move:
        """Raises NotFound when there is no such move."""
        (rows,) = self._database.read([Statement(f"{_MOVE} WHERE id = ?", (id_,))])
        if not rows:
            raise NotFound("move", str(id_))
        return _move(rows[0])

    def claim(self, owner: str, id_: int | None = None) -> Move | None:
        """Return a move that nobody works on, now this owner's for `LEASE_US`; or that of an id, if it can be had.

        One move at a time leaves a database, so that each is soon done.
        """
        free = (
            f"SELECT m.id FROM moves m WHERE m.ended_at IS NULL AND (m.owner = '' OR m.lease_until < {NOW} "
            "OR m.owner = ?1) AND (?2 IS NULL OR m.id = ?2) AND NOT EXISTS (SELECT 1 FROM moves o WHERE "
            "o.ended_at IS NULL AND o.id <> m.id AND o.source_id = m.source_id AND o.owner NOT IN ('', ?1) "
            f"AND o.lease_until >= {NOW}) ORDER BY m.step = 'asked', m.id LIMIT 1"
        )
        *_, rows = self._database.write([
            numbered(
                f"UPDATE moves SET owner = ?1, lease_until = {NOW} + ?3 WHERE id = ({free})", (owner, id_, LEASE_US)
            ),
            numbered(
                "SELECT id FROM moves WHERE owner = ?1 AND ended_at IS NULL AND (?2 IS NULL OR id = ?2) "
                f"AND lease_until >= {NOW} ORDER BY lease_until DESC LIMIT 1",
                (owner, id_),
            ),
        ])  # fmt: skip
        return self.move(cast(int, rows[0][0])) if rows else None

    def note(self, move: Move, owner: str, *, copied: int = 0, fences: int = 0, fenced_us: int = 0) -> None:
        """Count what a move has done, and keep its lease.

        Raises:
            Refused: another process has the move.
        """
        self._database.write([
            _owned(move, owner),
            Statement(
                f"UPDATE moves SET lease_until = {NOW} + ?, copied = copied + ?, fences = fences + ?, "
                "fenced_us = fenced_us + ? WHERE id = ?",
                (LEASE_US, copied, fences, fenced_us, move.id),
            ),
        ])  # fmt: skip

    def advance(self, move: Move, owner: str, step: Step, error: str | None = None) -> Move:
        """Record that a move is at a step.

        Raises:
            Refused: another process has the move.
        """
        over = f", ended_at = {NOW}" if step in ("ended", "back") else ""
        self._database.write([
            _owned(move, owner),
            Statement(
                f"UPDATE moves SET step = ?, error = ?, lease_until = {NOW} + ?{over} WHERE id = ?",
                (step, error, LEASE_US, move.id),
            ),
        ])  # fmt: skip
        return self.move(move.id)

    def switch(self, move: Move) -> None:
        """Let the map say that the unit is in the target of its move. A second call changes nothing."""
        for _ in range(TRIES):
            known = self.load()
            bucket = in_unit(move.unit)
            buckets = array("H", known.buckets)
            exceptions: list[Statement] = []
            if bucket is not None:
                buckets[bucket] = move.target
            else:
                exceptions.append(
                    Statement(
                        "INSERT OR REPLACE INTO placed_spaces VALUES (?, ?, ?)", (move.unit, move.target, move.why)
                    )
                )
            stale = f"{refuse(Refusal.STALE)} WHERE (SELECT epoch FROM placement) <> ?"
            late = (
                f"{refuse(Refusal.TASK_LOST)} WHERE NOT EXISTS (SELECT 1 FROM moves WHERE id = ? AND step = 'arrived')"
            )
            try:
                self._database.write([
                    Statement(late, (move.id,)),
                    Statement(stale, (known.epoch,)),
                    *exceptions,
                    Statement("UPDATE placement SET epoch = epoch + 1, buckets = ?", (buckets.tobytes(),)),
                    Statement("UPDATE moves SET step = 'switched' WHERE id = ?", (move.id,)),
                ])  # fmt: skip
            except Refused as refused:
                if refused.code == Refusal.TASK_LOST:  # somebody else has switched it
                    break
                continue
            break
        self.load()

    def arrived(self, move: Move) -> None:
        """Record that the target holds the unit, whoever sees it first. Nothing leads back from here."""
        self._database.write(
            [Statement("UPDATE moves SET step = 'arrived' WHERE id = ? AND step IN ('following', 'left')", (move.id,))]
        )

    def pin(self, space: str, target: int, why: Why) -> bool:
        """Place a space that does not exist yet elsewhere than its bucket; return whether that was needed.

        Raises:
            Refused: the map has changed meanwhile.
        """
        known = self.load()
        if known.of(space) == target:
            return False
        stale = f"{refuse(Refusal.STALE)} WHERE (SELECT epoch FROM placement) <> ?"
        self._database.write([
            Statement(stale, (known.epoch,)),
            Statement("INSERT OR REPLACE INTO placed_spaces VALUES (?, ?, ?)", (space, target, why)),
            Statement("UPDATE placement SET epoch = epoch + 1"),
        ])  # fmt: skip
        self.load()
        return True


def is_directory(database: Database) -> bool:
    """Tell whether a database has the tables of a directory; one of an earlier version has not."""
    return bool(database.read([Statement("SELECT 1 FROM sqlite_master WHERE name = 'placement'")])[0])


def _owned(move: Move, owner: str) -> Statement:
    return Statement(
        f"{refuse(Refusal.TASK_LOST)} WHERE NOT EXISTS (SELECT 1 FROM moves WHERE id = ? AND owner = ? "
        "AND ended_at IS NULL)",
        (move.id, owner),
    )


def _bucket(unit: str) -> int:
    bucket = in_unit(unit)
    return bucket_of(unit) if bucket is None else bucket


def _target(row: Row) -> Target:
    id_, name, url, namespace, replica, token, most, draining = row
    return Target(
        id=cast(int, id_),
        name=str(name),
        url=str(url),
        namespace=cast("str | None", namespace),
        replica_url=cast("str | None", replica),
        token_file=cast("str | None", token),
        most_bytes=cast(int, most),
        draining=bool(draining),
    )


def _move(row: Row) -> Move:
    return convert(dict(zip(Move.__struct_fields__, row, strict=True)), Move)


def _settings(target: Target) -> tuple[str | None, ...]:
    return target.name, target.url, target.namespace, target.replica_url, target.token_file


def _same_server(url: str, other: str) -> bool:
    return is_remote(url) and is_remote(other) and base_url(url) == base_url(other)


__all__ = ["EVERYTHING", "MAIN", "Directory", "Map", "Move", "Step", "Target", "Why", "unit_of"]


def demand_single(database: Database) -> None:
    """Raise `Conflict` when spaces are in several databases, which only a server knows all of."""
    if len(Directory(database).map.targets) > 1:
        raise Conflict("spaces are in several databases: start `muisti serve`, and name it with --url")
