"""Move a unit from a database to another while it is used.

Both databases learn of the move, the rows are copied, and changes are followed. Writes are refused for a moment, while
the last changes come. Then the source lets go, the target takes over, the map says so, and the source forgets. A
process that is killed at any step is followed by another one, or by itself, which goes on from what the databases say.
"""

from collections.abc import Callable
from time import monotonic, sleep
from typing import cast

from muisti.core.model.buckets import bucket_of, in_unit
from muisti.core.model.errors import Conflict, MuistiError, SpaceMoving
from muisti.core.placement.carrying import Carrier, Leaving
from muisti.core.placement.directory import NOW, Directory, Move, Step, numbered
from muisti.core.placement.forgetting import forget
from muisti.core.placement.holdings import FENCE_US, holding, unfenced
from muisti.core.placement.rows import CARRIED, OFF_SPACES, ON_SPACES
from muisti.core.store.database import Database, Refusal, Refused, Rows, Statement, refuse, slots
from muisti.core.store.free_space import Traces
from muisti.core.store.sql.spaces import AWAY, STAGING

SHORT = 200  # changes that are followed within a fence
ROUNDS = 200  # of following until the source must be slower; then the move goes back
TRIES = 3  # of a step in which another process was faster
NOTE_SECONDS = 1.0  # between two notes of progress, which keep the lease
FENCES = 8  # tries of a fence that takes too long
PAUSE_SECONDS = 0.05

_STALE = refuse(Refusal.STALE)

Opened = Callable[[int], Database]
After = Callable[[str], None]  # hears of each step that is done; a test kills the process in it


def _nothing(step: str) -> None:
    """Hear of a step, and do nothing."""


class Mover:
    """Does the moves of a directory for one process. `opened` returns a database by its id."""

    def __init__(self, directory: Directory, opened: Opened, owner: str, after: After = _nothing) -> None:
        self._directory, self._opened, self._owner, self._after = directory, opened, owner, after

    def run(self, id_: int | None = None) -> Move | None:
        """Do a move that nobody works on, or that of an id, to its end; None when there is none.

        Raises:
            MuistiError: a database does not answer; the move goes on when it does.
        """
        move = self._directory.claim(self._owner, id_)
        if move is None:
            return None
        tries = TRIES
        while move.ended_at is None:
            try:
                move = self._step(move)
            except (Conflict, Refused) as error:
                try:
                    self._directory.note(move, self._owner)
                except Refused:
                    return self._directory.move(move.id)  # another process goes on
                tries -= 1
                move = self._directory.move(move.id)
                if isinstance(error, Conflict) or not tries:
                    move = self.back(move, str(error))
        return move

    def _step(self, move: Move) -> Move:
        source, target = self._opened(move.source).primary, self._opened(move.target).primary
        if move.step == "asked":
            self._begin(move, source, target)
            return self._advance(move, "copying")
        if move.step == "copying":
            self._carrier(move, source, target).copy_all(self._leaving(move, source))
            return self._advance(move, "following")
        if move.step == "following":
            self._follow(move, source, target)
            return self._advance(move, "left")
        if move.step == "left":
            self._arrive(move, target)
            return self._advance(move, "arrived")
        if move.step == "arrived":
            self._directory.switch(move)
            self._after("switched")
            return self._directory.move(move.id)
        self._forget(move, source)
        return self._advance(move, "ended")

    def _advance(self, move: Move, step: Step) -> Move:
        self._after(f"before {step}")
        done = self._directory.advance(move, self._owner, step)
        self._after(step)
        return done

    def _carrier(self, move: Move, source: Database, target: Database) -> Carrier:
        told, waiting = monotonic(), 0

        def keep(rows: int) -> None:
            nonlocal told, waiting
            waiting += rows
            if monotonic() - told >= (NOTE_SECONDS if waiting > 0 else 0):
                self._directory.note(move, self._owner, copied=waiting)
                told, waiting = monotonic(), 0

        return Carrier(source, target, move.id, keep)

    def _begin(self, move: Move, source: Database, target: Database) -> None:
        if not holding(source, move.unit).holds:
            raise Conflict("the source does not hold the unit")
        late = f"{_STALE} WHERE EXISTS (SELECT 1 FROM holdings WHERE unit = ? AND epoch >= ? AND state <> ?)"
        put = "INSERT OR REPLACE INTO holdings VALUES (?, ?, ?, 0)"
        target.write([
            Statement(late, (move.unit, move.id, "arriving")),
            Statement(f"{_STALE} WHERE EXISTS (SELECT 1 FROM holdings WHERE unit = ? AND "
                      "state IN ('held', 'following', 'fenced'))", (move.unit,)),
            Statement(put, (move.unit, move.id, "arriving")),
        ])  # fmt: skip
        source.write([
            Statement(late, (move.unit, move.id, "following")),
            Statement(put, (move.unit, move.id, "following")),
            *(each for carried in CARRIED for each in carried.triggers()),
            *ON_SPACES,
        ])  # fmt: skip
        self._add_leaving(move, source)

    def _add_leaving(self, move: Move, source: Database) -> int:
        """Let the trail follow the spaces of the unit; return the last space of the database."""
        found, leaving, ((last,),) = source.read([
            Statement(f"SELECT id, name FROM spaces WHERE name NOT LIKE '{STAGING}%'"),
            Statement("SELECT space_id FROM leaving"),
            Statement("SELECT coalesce(max(id), 0) FROM spaces"),
        ])  # fmt: skip
        known = {row[0] for row in leaving}
        mine = self._of_unit(move, found)
        new = [id_ for id_ in mine if id_ not in known]
        linked = f"SELECT 1 FROM forks WHERE (space_id IN {slots(mine)}) <> (target_id IN {slots(mine)})"
        staged = f"SELECT 1 FROM imports WHERE space_id IN {slots(mine)} AND staging_id IS NOT NULL"
        forks, imports = source.read([Statement(linked, (*mine, *mine)), Statement(staged, tuple(mine))])
        if forks:
            raise Conflict("a fork links a space of the unit with one that stays: a merge needs both in one database")
        if imports:
            raise Conflict("an import into a space of the unit is under way; move it when that has ended")
        if new:
            followed = f"WHERE EXISTS (SELECT 1 FROM holdings WHERE epoch = {move.id} AND state = 'following')"
            source.write([
                Statement(f"INSERT OR IGNORE INTO leaving (space_id, epoch) SELECT ?, ? {followed}", (id_, move.id))
                for id_ in new
            ])  # fmt: skip
        return cast(int, last)

    def _of_unit(self, move: Move, found: Rows) -> list[int]:
        bucket, apart = in_unit(move.unit), self._directory.map.exceptions
        if bucket is None:
            return [cast(int, id_) for id_, name in found if name == move.unit]
        return [cast(int, id_) for id_, name in found if bucket_of(str(name)) == bucket and name not in apart]

    def _leaving(self, move: Move, source: Database) -> list[Leaving]:
        ask = "SELECT s.id, s.name, s.epoch, s.seq FROM leaving l JOIN spaces s ON s.id = l.space_id WHERE l.epoch = ?"
        (rows,) = source.read([Statement(f"{ask} ORDER BY 1", (move.id,))])
        return [Leaving(*cast(tuple[int, str, str, int], row)) for row in rows]

    def _follow(self, move: Move, source: Database, target: Database) -> None:
        """Follow the changes until few are left, then fence, bring those, and let go."""
        if holding(source, move.unit)[1:3] == (move.id, "gone"):
            return  # a process was killed after this
        carrier, fences = self._carrier(move, source, target), 0
        for _ in range(ROUNDS):
            last = self._add_leaving(move, source)
            carrier.copy_all(self._leaving(move, source))
            if carrier.follow() > SHORT:
                continue
            self._after("followed")
            if not self._fenced(move, source, last):
                continue
            if self._handed_over(move, source, carrier):
                return
            fences += 1
            if fences == FENCES:
                break
            sleep(PAUSE_SECONDS)
        raise Conflict("the unit changes faster than it can be copied")

    def _handed_over(self, move: Move, source: Database, carrier: Carrier) -> bool:
        """Bring the last changes of the fenced spaces, and let go; False when that takes too long."""
        began = monotonic()
        try:
            self._after("fenced")
            while carrier.follow():
                pass
            carrier.finish(self._leaving(move, source))
            self._after("drained")
            left = self._let_go(move, source)
        except Exception:  # whatever it is, writes must go on; it is raised again
            source.write(unfenced(move.id))
            raise
        took = int((monotonic() - began) * 1_000_000)
        self._directory.note(move, self._owner, fences=1, fenced_us=took)
        return left

    def _fenced(self, move: Move, source: Database, last: int) -> bool:
        """Refuse writes for a moment; False when a space has come meanwhile."""
        try:
            source.write([
                Statement(f"{_STALE} WHERE (SELECT coalesce(max(id), 0) FROM spaces) <> ?", (last,)),
                Statement(f"{_STALE} WHERE NOT EXISTS (SELECT 1 FROM holdings WHERE unit = ? AND epoch = ? "
                          "AND state IN ('following', 'fenced'))", (move.unit, move.id)),
                Statement("UPDATE spaces SET placed = -1 - placed WHERE placed >= 0 AND id IN "
                          "(SELECT space_id FROM leaving WHERE epoch = ?)", (move.id,)),
                Statement("UPDATE leaving SET fenced = 1 WHERE epoch = ?", (move.id,)),
                Statement(f"UPDATE holdings SET state = 'fenced', until = {NOW} + ? WHERE unit = ?",
                          (FENCE_US, move.unit)),
            ])  # fmt: skip
        except Refused as refused:
            if refused.code != Refusal.STALE:
                raise
            return False
        return True

    def _let_go(self, move: Move, source: Database) -> bool:
        """Let the source hold the unit no longer; False when somebody has lifted the fence."""
        mine = "(SELECT space_id FROM leaving WHERE epoch = ?1)"
        try:
            source.write([
                Statement(f"{_STALE} WHERE NOT EXISTS (SELECT 1 FROM holdings WHERE unit = ? AND epoch = ? "
                          f"AND state = 'fenced' AND until >= {NOW})", (move.unit, move.id)),
                Statement("UPDATE holdings SET state = 'gone' WHERE unit = ?", (move.unit,)),
                numbered(f"UPDATE spaces SET placed = -1 - ?1, name = '{AWAY}left ' || ?1 || ' ' || id, "
                          f"epoch = epoch || ' ' || ?1 WHERE id IN {mine}", (move.id,)),
                Statement("DELETE FROM trail WHERE epoch = ?", (move.id,)),
            ])  # fmt: skip
        except Refused as refused:
            if refused.code != Refusal.STALE:
                raise
            source.write(unfenced(move.id))
            return False
        return True

    def _arrive(self, move: Move, target: Database) -> None:
        arrive(move, target)
        self._directory.arrived(move)

    def _forget(self, move: Move, source: Database) -> None:
        """Delete what has left, in steps, and the triggers when nothing else is leaving.

        The last move from a database scrubs it, as a purge does.
        """
        source.write([Statement("DELETE FROM leaving WHERE epoch = ?", (move.id,))])
        forget(source, f"{AWAY}left {move.id} %", lambda: self._directory.note(move, self._owner))
        self._end_triggers(source)
        if not any(one.source == move.source and one.id != move.id for one in self._directory.moves()):
            source.scrub(Traces())

    def _end_triggers(self, source: Database) -> None:
        try:
            source.write([
                Statement(f"{_STALE} WHERE EXISTS (SELECT 1 FROM holdings WHERE state IN ('following', 'fenced'))"
                          " OR EXISTS (SELECT 1 FROM leaving)"),
                *(each for carried in CARRIED for each in carried.no_triggers()),
                *OFF_SPACES,
            ])  # fmt: skip
        except Refused as refused:
            if refused.code != Refusal.STALE:  # another move needs them
                raise

    def back(self, move: Move, why: str) -> Move:
        """Take a move back that has not left the source. The source holds the unit as before.

        Raises:
            Conflict: the source has let go; the move goes on.
        """
        source, target = self._opened(move.source).primary, self._opened(move.target).primary
        if move.step not in ("asked", "copying", "following") or holding(source, move.unit)[1:3] == (move.id, "gone"):
            raise Conflict(f"move {move.id} is at its step {move.step!r}, from where it only goes on: {why}")
        mine = (move.unit, move.id)
        source.write([
            *unfenced(move.id),
            Statement("DELETE FROM leaving WHERE epoch = ?", (move.id,)),
            Statement("DELETE FROM trail WHERE epoch = ?", (move.id,)),
            Statement("UPDATE holdings SET state = 'held' WHERE unit = ? AND epoch = ? AND state = 'following'", mine),
        ])  # fmt: skip
        self._end_triggers(source)
        target.write([
            Statement("DELETE FROM carried WHERE epoch = ?", (move.id,)),
            Statement("DELETE FROM arrivals WHERE epoch = ?", (move.id,)),
            Statement("UPDATE holdings SET state = 'gone' WHERE unit = ? AND epoch = ? AND state = 'arriving'",
                      (move.unit, move.id)),
        ])  # fmt: skip
        forget(target, f"{AWAY}{move.id} %", lambda: self._directory.note(move, self._owner))
        return self._directory.advance(move, self._owner, "back", why)


def arrive(move: Move, target: Database) -> None:
    """Let the target hold a unit that has left its source. A second call changes nothing."""
    name, mine = f"{AWAY}{move.id} ", (move.unit, move.id)
    there = "(SELECT 1 FROM holdings WHERE unit = ? AND epoch = ? AND state = 'arriving')"
    target.write([
        Statement(f"UPDATE spaces SET name = substr(name, ?), placed = ? WHERE name LIKE '{name}%' AND EXISTS {there}",
                  (len(name) + 1, move.id, *mine)),
        Statement("UPDATE holdings SET state = 'held' WHERE unit = ? AND epoch = ? AND state = 'arriving'", mine),
        Statement("DELETE FROM carried WHERE epoch = ?", (move.id,)),
        Statement("DELETE FROM arrivals WHERE epoch = ?", (move.id,)),
    ])  # fmt: skip


def complete(directory: Directory, opened: Opened, unit: str) -> bool:
    """Finish what a killed process left between two databases: the unit has left one, and no other has it yet.

    Whoever meets the gap closes it, in two small steps. Return whether the unit has a place now.
    """
    move = next((one for one in directory.moves() if one.unit == unit), None)
    if move is None or holding(opened(move.source).primary, unit)[1:3] != (move.id, "gone"):
        return False
    if move.step in ("following", "left"):
        arrive(move, opened(move.target).primary)
        directory.arrived(move)
        move = directory.move(move.id)
    if move.step == "arrived":
        directory.switch(move)
    return True


__all__ = ["Mover", "MuistiError", "SpaceMoving", "arrive", "complete"]
