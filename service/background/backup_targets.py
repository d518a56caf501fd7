"""Where backups are kept: a folder, or a bucket of a store that speaks S3 (`pip install 'muisti[s3]'`)."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from muisti.core.model.errors import Conflict, InvalidInput, MuistiError, NotFound, StoreUnavailable
from muisti.core.model.location import Location
from muisti.core.model.operations import Stamp
from muisti.core.support.lazy import Lazy
from muisti.core.support.meters import Progress, silent
from muisti.service.runtime.databases import moved

if TYPE_CHECKING:
    from muisti.core.operations import whole_database
else:  # 60 ms: a client of servers, when a backup is due
    whole_database = Lazy("muisti.core.operations.whole_database")

NAME = re.compile(r"muisti-\d{8}T\d{6}Z\.db")
S3 = "s3://"
ROUNDS = 5  # of backups of databases to which spaces have moved meanwhile


class StoredBackup(msgspec.Struct, frozen=True):
    """A backup at a backup target, with its size in bytes."""

    name: str
    size: int


class BackupTarget(Protocol):
    """A place for backups. Raises `StoreUnavailable` when it cannot be reached."""

    def put(self, file: Path, name: str) -> None:
        """Take a file over, whole or not at all. The caller must not use the file afterwards."""
        ...

    def get(self, name: str, file: Path) -> None:
        """Copy the backup `name` to `file`. Raises `NotFound`."""
        ...

    def all(self) -> list[StoredBackup]:
        """Return the backups, oldest first. Files with other names are not listed."""
        ...

    def drop(self, name: str) -> None: ...


def shelf(place: str) -> BackupTarget:
    """Return the backup target at a folder's path, or at `s3://bucket/prefix` with the keys of the `AWS_…` variables.

    Raises:
        InvalidInput: the packages for S3 are not installed.
    """
    return _Bucket(place) if place.startswith(S3) else _Folder(Path(place))


def name_at(now: int) -> str:
    """Return the name of a backup made at `now`, in microseconds."""
    return f"muisti-{datetime.fromtimestamp(now / 1e6, UTC):%Y%m%dT%H%M%SZ}.db"


def beside(place: str, name: str) -> str:
    """Return where the backups of a database go that a directory at this place has beside itself.

    >>> beside("s3://bucket/muisti/", "eu-1")
    's3://bucket/muisti/eu-1'
    """
    return f"{place.rstrip('/')}/{name}"


def shelve(source: Location, place: str, now: int, keep: int | None = None, progress: Progress = silent) -> Stamp:
    """Back a database up, check the copy, and drop all but the newest `keep` backups. Return the stamp of the backup.

    Raises the errors of `whole_database.back_up` and of the backup target.
    """
    to, name = shelf(place), name_at(now)
    beside = None if source.file is None else source.file.parent
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=beside) as folder:
        copy = Path(folder) / name
        stamp = whole_database.back_up(source, copy, now, progress)
        to.put(copy, name)
    kept = to.all()
    if StoredBackup(name, stamp.size) not in kept:
        raise StoreUnavailable(f"{place} does not have the backup that was stored there")
    for old in kept[:-keep] if keep else ():
        to.drop(old.name)
    return stamp


def shelve_all(
    sources: Mapping[str, Location], place: str, now: int, keep: int | None = None, progress: Progress = silent
) -> dict[str, Stamp]:
    """Back up all databases of a directory, which is the first; return the stamps of the backups by database.

    A space that moves meanwhile is in one of them at least: where spaces have come to is backed up again.

    Raises:
        Conflict: spaces move all the time.
        StoreUnavailable: the database that it names has no backup.
    """
    home, stamps, todo = next(iter(sources.values())), dict[str, Stamp](), set(sources)
    before = {id_: one for id_, one in moved(home).items() if one[0] == "ended"} if len(sources) > 1 else {}
    for _ in range(ROUNDS):
        for name, source in sources.items():
            if name in todo:
                to = place if source is home else beside(place, name)
                with _named(name, len(sources)):
                    stamps[name] = shelve(source, to, now, keep, progress)
        after = moved(home) if len(sources) > 1 else {}
        todo = {target for id_, (step, target) in after.items() if before.get(id_) != (step, target)}
        before = after
        if not todo:
            return stamps
    raise Conflict(
        "spaces move all the time, and one that moves may be in no backup; try again when the moves have ended"
    )


@contextmanager
def _named(name: str, count: int) -> Iterator[None]:
    """Let an error name the database, when there are several."""
    try:
        yield
    except MuistiError as error:
        if count == 1:
            raise
        raise StoreUnavailable(f"the database {name!r} has no backup: {error}") from error


@contextmanager
def fetched(place: str, near: Path | None) -> Iterator[Path]:
    """Yield the path of a backup. One at `s3://bucket/prefix/name` is fetched into a temporary folder beside `near`.

    Raises:
        NotFound: there is no such backup in the bucket.
    """
    if not place.startswith(S3):
        yield Path(place)
        return
    parent, _, name = place.rpartition("/")
    if near is not None:
        near.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=near and near.parent) as folder:
        _Bucket(parent).get(name, Path(folder) / name)
        yield Path(folder) / name


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, file: Path, name: str) -> None:
        with _reached(OSError, str(self._folder)):
            self._folder.mkdir(parents=True, exist_ok=True)
            partial = self._folder / f"{name}.partial"
            shutil.move(file, partial)
            partial.replace(self._folder / name)

    def get(self, name: str, file: Path) -> None:
        if not (self._folder / name).exists():
            raise NotFound("backup", name)
        with _reached(OSError, str(self._folder)):
            shutil.copyfile(self._folder / name, file)

    def all(self) -> list[StoredBackup]:
        with _reached(OSError, str(self._folder)):
            files = [each for each in self._folder.glob("*.db") if NAME.fullmatch(each.name)]
            return sorted((StoredBackup(each.name, each.stat().st_size) for each in files), key=lambda one: one.name)

    def drop(self, name: str) -> None:
        with _reached(OSError, str(self._folder)):
            (self._folder / name).unlink(missing_ok=True)


class _Bucket:
    def __init__(self, place: str) -> None:
        try:
            self._obstore: Any = import_module("obstore")
        except ImportError as error:
            raise InvalidInput.at("$.backup_to", "s3:// needs one more package: pip install 'muisti[s3]'") from error
        self._failures: Any = import_module("obstore.exceptions")
        self._place = place
        with self._reached():
            self._store: Any = import_module("obstore.store").S3Store.from_url(
                place, retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
            )

    def put(self, file: Path, name: str) -> None:
        with self._reached():
            self._obstore.put(self._store, name, file)

    def get(self, name: str, file: Path) -> None:
        with self._reached(), file.open("xb") as out:
            try:
                found = self._obstore.get(self._store, name)
            except (FileNotFoundError, self._failures.NotFoundError) as error:
                raise NotFound("backup", name) from error
            for part in found.stream():
                out.write(part)

    def all(self) -> list[StoredBackup]:
        with self._reached():
            listed = self._obstore.list(self._store).collect()
        found = [StoredBackup(each["path"].rpartition("/")[2], each["size"]) for each in listed]
        return sorted((each for each in found if NAME.fullmatch(each.name)), key=lambda one: one.name)

    def drop(self, name: str) -> None:
        with self._reached():
            self._obstore.delete(self._store, name)

    def _reached(self) -> AbstractContextManager[None]:
        return _reached((self._failures.BaseError, OSError), self._place)


@contextmanager
def _reached(failures: type[Exception] | tuple[type[Exception], ...], place: str) -> Iterator[None]:
    """Turn the failures of a place into `StoreUnavailable`, without their messages, which may contain keys."""
    try:
        yield
    except failures as error:
        raise StoreUnavailable(f"{place} cannot be used ({type(error).__name__.removesuffix('Error')})") from error
