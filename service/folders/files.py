"""The files of a folder, without those that git ignores."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from muisti.service.folders import git, walking

PATH_MAX = 900  # characters, which leaves room for the path of the folder


class Found(Struct, frozen=True):
    """A file. `path` is relative to the folder, with `/`; `mtime` is in microseconds since 1970."""

    path: str
    size: int
    mtime: int
    place: Path


class Skipped(Struct, frozen=True):
    """A file that is left out, and why."""

    path: str
    reason: str


class Files(Struct, frozen=True):
    """The files of a folder by their paths, and those that are left out."""

    found: dict[str, Found]
    skipped: list[Skipped]


def files(folder: Path, most: int | None = None) -> Files:
    """List the files of a folder that git does not ignore. Files of more than `most` bytes are left out.

    In a repository git itself is asked, where it is installed. Symbolic links are not followed.

    Raises:
        OSError: the folder cannot be read.
    """
    known = git.files(folder)
    return stated(folder, sorted(walking.files(folder) if known is None else known), most)


def stated(folder: Path, paths: Iterable[str], most: int | None = None) -> Files:
    """Look at some files of a folder. Those that do not exist are neither found nor left out."""
    found: dict[str, Found] = {}
    skipped: list[Skipped] = []
    for path in paths:
        place = folder / path
        try:
            status = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            skipped.append(Skipped(path, f"cannot be read: {error.strerror}"))
            continue
        reason = _reason(path, status, most)
        if reason:
            skipped.append(Skipped(path, reason))
        else:
            found[path] = Found(path, status.st_size, status.st_mtime_ns // 1_000, place)
    return Files(found, skipped)


def _reason(path: str, status: os.stat_result, most: int | None) -> str | None:
    """Return why a file is left out, None if it is not."""
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if stat.S_ISDIR(status.st_mode):
        return "is another repository"
    if not stat.S_ISREG(status.st_mode):
        return "is no regular file"
    if most is not None and status.st_size > most:
        return f"has {status.st_size:,} bytes; {most:,} are allowed"
    if not path.isprintable() or "\\" in path:
        return "has a name with a backslash or control characters, or one that is not UTF-8"
    if len(path) > PATH_MAX:
        return f"has a path of more than {PATH_MAX} characters"
    return None
