"""Backups of a database: made while others write, checked before they get their final name, and restored.

A backup is a snapshot of the whole database in one file without a log. Its spaces have the epoch and seq of that
moment. The source of a backup and the target of a restore may each be a file or a database on a server.
"""

import os
import tempfile
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import apsw

from muisti.core.model.errors import Conflict, NotFound, PastRetention, PointAhead, StoreCorrupt, StoreUnavailable
from muisti.core.model.operations import Stamp
from muisti.core.model.values import Seq
from muisti.core.store.copying import FileSide, Side, carry
from muisti.core.store.file.opening import APPLICATION_ID, BUSY_TIMEOUT_MS, CLEAN
from muisti.core.store.file.sqlite_errors import translated
from muisti.core.store.migrate import APPLIED, newest
from muisti.core.store.sql.version_rows import PLAIN
from muisti.core.support.meters import Progress, silent

LEFTOVERS = ("-wal", "-shm")
PAGES = 2_000  # copied between two reports of progress


def back_up(source: Path | Side, target: Path, now: int, progress: Progress = silent, *, force: bool = False) -> Stamp:
    """Back up a database that may be in use; see `core.operations.whole_database`."""
    if target.exists() and not force:
        raise Conflict(f"{target} exists already; name another file, or force it")
    if isinstance(source, Path) and not source.exists():
        raise NotFound("database", str(source))
    with fresh(target) as partial:
        with translated(), opened(partial) as copy:
            if isinstance(source, Path):
                _copy_now(source, copy, progress)
            else:
                _fill(source, copy, progress)
            copy.pragma("journal_mode", "delete")
            copy.execute("CREATE TABLE IF NOT EXISTS backup_stamp (made_at INTEGER NOT NULL) STRICT")
            copy.execute("DELETE FROM backup_stamp")
            copy.execute("INSERT INTO backup_stamp VALUES (?)", (now,))
        stamp = checked(partial, progress)
    return stamp


def _copy_now(source: Path, copy: apsw.Connection, progress: Progress) -> None:
    with opened(source) as given:
        given.execute("BEGIN")  # one snapshot for all steps, even while others write
        given.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        _copied(given, copy, progress)


def _fill(source: Side, copy: apsw.Connection, progress: Progress) -> None:
    copy.pragma("journal_mode", "off")  # a copy that breaks off is thrown away
    copy.pragma("synchronous", "off")
    copy.pragma("application_id", APPLICATION_ID)
    copy.pragma("user_version", CLEAN)
    carry(source, FileSide(copy), progress)


def checked(path: Path, progress: Progress = silent) -> Stamp:
    """Open a backup, check all of it, and return its stamp.

    Raises:
        Conflict: it is from before the first release.
        StoreCorrupt: it is damaged, or is no backup of a Muisti database; the message says where.
    """
    with translated(), opened(path) as copy:
        if copy.pragma("application_id") != APPLICATION_ID:
            raise StoreCorrupt(f"{path.name} is no Muisti database")
        progress("checking", 0, 2)
        found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(5)")]
        if found != ["ok"]:
            raise StoreCorrupt(f"{path.name} is damaged: {'; '.join(found)[:500]}")
        progress("checking", 1, 2)
        if strays := copy.execute("PRAGMA foreign_key_check").fetchall():
            raise StoreCorrupt(f"{path.name} is damaged: {len(strays)} rows refer to missing rows")
        progress("checking", 2, 2)
        newest(copy.execute(APPLIED.sql).fetchall())
        stamped = copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'backup_stamp'").fetchall()
        made = copy.execute("SELECT max(made_at) FROM backup_stamp").get if stamped else None
        rows = cast(list[tuple[str, str, int]], copy.execute("SELECT name, epoch, seq FROM spaces").fetchall())
        spaces = {name: Seq(epoch, seq) for name, epoch, seq in rows}
    return Stamp(made_at=cast("int | None", made) or 0, size=path.stat().st_size, spaces=spaces)


def restore(
    backup: Path,
    target: Path | Side,
    now: int,
    progress: Progress = silent,
    *,
    at: int | Seq | None = None,
    force: bool = False,
) -> Stamp:
    """Replace a database with a backup, and give every space a new epoch; see `core.operations.whole_database`."""
    if not backup.exists():
        raise NotFound("backup", str(backup))
    if not isinstance(target, Path):
        with tempfile.TemporaryDirectory(prefix="muisti-restore-") as folder:
            file = Path(folder) / "restored.db"
            stamp = restore(backup, file, now, progress, at=at)
            with translated(), opened(file) as given:
                carry(FileSide(given), target, progress)
        return stamp
    if target.exists() and not force:
        raise Conflict(f"{target} exists already; nothing was restored: name another file, or force it")
    with fresh(target, aside=now) as partial:
        with translated(), opened(backup) as given, opened(partial) as copy:
            _copied(given, copy, progress)
            copy.pragma("journal_mode", "delete")
        checked(partial, progress)
        with translated(), opened(partial) as copy:
            copy.pragma("secure_delete", True)
            copy.pragma("foreign_keys", True)
            with copy:
                _roll_back(copy, at)
                renew_epochs(copy)
                copy.execute("DROP TABLE IF EXISTS backup_stamp")
        stamp = checked(partial, progress)
    return stamp


def _copied(given: apsw.Connection, copy: apsw.Connection, progress: Progress) -> None:
    with copy.backup("main", given, "main") as running:
        while not running.done:
            running.step(PAGES)
            progress("copying", running.page_count - running.remaining, running.page_count)


@contextmanager
def opened(path: Path) -> Generator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        yield connection
    finally:
        connection.close()


@contextmanager
def fresh(target: Path, aside: int | None = None) -> Generator[Path]:
    """Yield an empty file that replaces `target` on success, and is deleted on failure.

    With `aside`, an existing target is kept under a name with this number, and no other process may have it open.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{uuid.uuid4().hex[:8]}.partial")
    os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield partial
        _synced(partial)
        if aside is not None and target.exists():
            _close_off(target)
            target.rename(f"{target}.before-{aside}")
        number = time.time_ns() // 1_000_000 if aside is None else aside
        for suffix in LEFTOVERS:  # of a damaged or deleted database: SQLite would apply its log to the new one
            with suppress(FileNotFoundError):
                target.with_name(target.name + suffix).rename(f"{target}.before-{number}{suffix}")
        partial.replace(target)
        _synced(target.parent)
    finally:
        partial.unlink(missing_ok=True)


def _close_off(path: Path) -> None:
    """Move the log of a database into it; raise `Conflict` when another process has the database open."""
    try:
        with opened(path) as connection:
            connection.set_busy_timeout(0)
            mode = connection.pragma("journal_mode", "delete")
    except (apsw.BusyError, apsw.LockedError):
        mode = "wal"
    except apsw.Error:  # too damaged to have a log that could be moved
        return
    if mode != "delete":
        raise Conflict(f"another process has {path} open; stop the server first")


def _synced(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be synced ({error.strerror})") from error
    finally:
        os.close(handle)


def renew_epochs(copy: apsw.Connection) -> None:
    for space_id, epoch in copy.execute("SELECT id, epoch FROM spaces").fetchall():
        fresh = str(uuid.uuid4())
        copy.execute("UPDATE spaces SET epoch = ? WHERE id = ?", (fresh, space_id))
        copy.execute(
            "UPDATE webhooks SET epoch = ?, cursor = min(cursor, (SELECT seq FROM spaces s WHERE s.id = space_id)) "
            "WHERE space_id = ? AND epoch = ?",
            (fresh, space_id, epoch),
        )
        copy.execute(
            "UPDATE requests SET seq = ? || substr(seq, instr(seq, ':')) WHERE seq >= ? AND seq < ?",
            (fresh, f"{epoch}:", f"{epoch};"),
        )


def _roll_back(copy: apsw.Connection, at: int | Seq | None) -> None:
    rows = copy.execute("SELECT id, name, epoch, seq, kept_from FROM spaces").fetchall()
    known = cast(list[tuple[int, str, str, int, int]], rows)
    if isinstance(at, Seq) and at.epoch not in {epoch for _, _, epoch, _, _ in known}:
        raise NotFound("space", f"of epoch {at.epoch}")
    for space_id, name, epoch, seq, kept_from in known:
        if at is None or (isinstance(at, Seq) and at.epoch != epoch):
            continue
        number = at.number if isinstance(at, Seq) else _reached(copy, space_id, at)
        if number > seq:
            raise PointAhead(f"space {name!r} of this backup ends at {epoch}:{seq}")
        if number < kept_from:
            raise PastRetention(f"space {name!r} keeps its history from {epoch}:{kept_from} on")
        if number < seq:
            _forget_after(copy, space_id, number)


def _reached(copy: apsw.Connection, space_id: int, time: int) -> int:
    asked = "SELECT coalesce(max(seq), 0) FROM changes WHERE space_id = ? AND committed_at <= ?"
    return cast(int, copy.execute(asked, (space_id, time)).get)


# Take the space `:space` back to its change `:seq`, in each table whose declaration says `rewound`.
REWIND = (
    "DELETE FROM versions WHERE space_id = :space AND born > :seq",
    "UPDATE versions SET died = NULL WHERE space_id = :space AND died > :seq",
    "DELETE FROM changes WHERE space_id = :space AND seq > :seq",
    "UPDATE changes SET undone = NULL WHERE space_id = :space AND undone > :seq",
    "DELETE FROM erased WHERE space_id = :space AND seq > :seq",
    "DELETE FROM segments WHERE space_id = :space",
    "DELETE FROM requests WHERE EXISTS (SELECT 1 FROM spaces s WHERE s.id = :space AND "
    "substr(requests.seq, 1, instr(requests.seq, ':') - 1) = s.epoch "
    "AND CAST(substr(requests.seq, instr(requests.seq, ':') + 1) AS INTEGER) > :seq)",
    "UPDATE graph_spaces SET through = min(through, :seq) WHERE space_id = :space",
    "UPDATE spaces SET seq = :seq, embedded = 0, second_embedded = 0, "
    "committed_at = coalesce((SELECT committed_at FROM changes "
    "WHERE space_id = :space AND seq = :seq), created_at), "
    f"memories = (SELECT count(*) FROM versions v WHERE space_id = :space AND died IS NULL AND {PLAIN}), "
    "bytes = (SELECT coalesce(sum(bytes), 0) FROM versions WHERE space_id = :space AND died IS NULL) "
    "WHERE id = :space",
)


def _forget_after(copy: apsw.Connection, space_id: int, number: int) -> None:
    """Take a space back to a change. What was erased since then stays erased, because its rows are gone."""
    for sql in REWIND:
        copy.execute(sql, {"space": space_id, "seq": number})
