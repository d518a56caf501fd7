"""The server that runs on a database file of this machine: it announces itself beside the file, and commands find it.

An announcement holds the server's URL and a secret that makes its bearer the owner of the database. Only the user of
the server may read it, and that user can open the database anyway. The server holds a lock on the announcement. The
system drops the lock when the server ends, also by `kill -9`, so an announcement that is left over is recognised.
"""

import fcntl
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from muisti.service.version import installed_version

SUFFIX = "-server"
MODE = 0o600
LARGEST = 4_096  # bytes of an announcement


class Running(msgspec.Struct, frozen=True):
    """A running server: its URL on this machine, the secret of an owner, its process, and its version."""

    url: str
    secret: str
    pid: int
    version: str

    def __repr__(self) -> str:
        """Return the server without its secret."""
        return f"Running(url={self.url!r}, pid={self.pid})"


class Announcement:
    """The announcement of a server in this process. Nothing is announced before `publish`."""

    def __init__(self, database: Path | None) -> None:
        """Prepare the announcement of a server on a database file; None for a database elsewhere."""
        self._path = None if database is None else _path(database)
        self._file: int | None = None
        self.secret = secrets.token_urlsafe(32)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.withdraw()

    def publish(self, url: str) -> bool:
        """Announce the server, and return whether that succeeded.

        It does not in a folder that cannot be written, or when another server has announced itself: commands then open
        the file themselves.
        """
        if self._path is None or self._file is not None:
            return False
        with suppress(OSError):
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, MODE)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.fchmod(file, MODE)
                os.ftruncate(file, 0)
                os.write(file, msgspec.json.encode(Running(url, self.secret, os.getpid(), installed_version())))
            except OSError:
                os.close(file)
                raise
            self._file = file
            return True
        return False

    def withdraw(self) -> None:
        """Remove the announcement, if there is one."""
        if self._file is not None and self._path is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


def running_on(database: Path) -> Running | None:
    """Return the server that runs on a database file; None when there is none that can be trusted.

    The announcement must belong to the user who owns the database, and be readable by that user alone.
    """
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        file = os.open(_path(database), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            owner, found = database.stat().st_uid, os.fstat(file)
            if found.st_uid != owner or stat.S_IMODE(found.st_mode) & 0o077 or not _locked(file):
                return None
            return msgspec.json.decode(os.read(file, LARGEST), type=Running)
        finally:
            os.close(file)
    return None


def _path(database: Path) -> Path:
    return Path(f"{database.absolute()}{SUFFIX}")


def _locked(file: int) -> bool:
    """Return whether a server holds the lock of this announcement."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
