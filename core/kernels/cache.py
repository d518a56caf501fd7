"""Keeps compiled kernels in the user's cache folder, for an installation that came without any.

The folder is `muisti/kernels-KEY`. The key covers the sources, which name the versions of numba, and the Python, numpy
and processor that the kernels work with. What cannot be trusted or read is removed and compiled again.

This and `native.py` are the modules of the core that read the environment: kernels load when modules are imported,
before settings.
"""

import fcntl
import hashlib
import json
import os
import pickle
import shutil
import sys
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import NamedTuple

import numpy as np

SOURCES = Path(__file__).parent
SUFFIX = EXTENSION_SUFFIXES[0]  # names the Python, the processor and the system
NUMBA = "NUMBA_CACHE_DIR"
LOOPS, INDEXES = "*.nbc", "*.nbi"  # names of files of numba
OTHERS_MAY_WRITE = 0o022


class Seal(NamedTuple):
    """Record of what numba has compiled: why no library has it, and the checksum of each file."""

    why: str
    files: Mapping[str, int]


@cache
def digest() -> str:
    """Return a digest of the sources of the kernels."""
    found = hashlib.sha256()
    for source in sorted(path for path in SOURCES.iterdir() if path.suffix in (".py", ".c", ".h")):
        found.update(source.name.encode() + b"\0" + source.read_bytes())
    return found.hexdigest()[:16]


def base(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return the folder for caches of this user; None when the user has no home.

    >>> str(base({"XDG_CACHE_HOME": "/cache"}, "linux")), str(base({"HOME": "/home/me"}, "linux"))
    ('/cache', '/home/me/.cache')
    >>> str(base({"HOME": "/Users/me"}, "darwin")), base({"XDG_CACHE_HOME": "relative"}, "linux")
    ('/Users/me/Library/Caches', None)
    """
    given, home = Path(environ.get("XDG_CACHE_HOME", "")), environ.get("HOME")
    if platform != "darwin" and given.is_absolute():  # the standard ignores relative ones
        return given
    return None if not home else Path(home) / ("Library/Caches" if platform == "darwin" else ".cache")


def folder() -> Path | None:
    """Return the folder of these kernels, which need not exist; None when the user has no home."""
    found = base(os.environ)
    key = hashlib.sha256(f"{digest()} {SUFFIX} {np.__version__}".encode()).hexdigest()[:16]
    return None if found is None else found / "muisti" / f"kernels-{key}"


def trusted() -> Path | None:
    """Return the folder when it exists and nobody else can write to it, because code is loaded from it."""
    found = folder()
    try:
        state = None if found is None else found.stat()
    except OSError:
        return None
    ours = state is not None and state.st_uid == os.geteuid() and not state.st_mode & OTHERS_MAY_WRITE
    return found if ours else None


def writable() -> Path | None:
    """Return the folder, which is created; None when this process cannot write to it."""
    found = folder()
    if found is None:
        return None
    try:
        found.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return found if trusted() and os.access(found, os.W_OK) else None


def of_numba(place: Path) -> Path:
    """Return where numba keeps loops. Its cache goes by the path of the sources, so each installation has its own."""
    return place / f"numba-{hashlib.sha256(str(SOURCES).encode()).hexdigest()[:8]}"


def numba_folder() -> str:
    """Return the folder for the cache of numba, `NUMBA_CACHE_DIR` first; empty when nothing can be kept."""
    place = writable()
    return os.environ.get(NUMBA) or ("" if place is None else str(of_numba(place)))


def seal(why: str) -> None:
    """Record that numba has compiled all kernels into the folder, and `why` there is no library.

    Raises:
        OSError: the folder cannot be written to.
    """
    place = writable()
    if place is not None:
        record = _record(place)
        text = json.dumps({"why": why, "files": _sums(of_numba(place))})
        record.with_suffix(".part").write_text(text, "utf-8")
        os.replace(record.with_suffix(".part"), record)


def unseal() -> None:
    """Remove the record, because there is a library."""
    place = writable()
    if place is not None:
        _record(place).unlink(missing_ok=True)


def sealed() -> str | None:
    """Return why there is no library, if numba has compiled all kernels and its files are whole; else None.

    Loops that numba compiles later for other types add files and entries of indexes.
    """
    place = trusted()
    found = None if place is None else _read(_record(place))
    if place is None or found is None or not _whole_indexes(of_numba(place)):
        return None
    return found.why if found.files.items() <= _sums(of_numba(place)).items() else None


def tidy() -> None:
    """Remove what numba could not read: everything when files have changed since `seal`, else broken indexes.

    numba raises errors of any kind on a damaged file, in the middle of a search.
    """
    place = writable()
    if place is None or sealed() is not None:
        return
    if _record(place).exists():
        _record(place).unlink(missing_ok=True)
        shutil.rmtree(of_numba(place), ignore_errors=True)
    for path in of_numba(place).rglob(INDEXES):
        if not _whole(path):
            path.unlink(missing_ok=True)


@contextmanager
def alone(place: Path) -> Generator[None, None, None]:
    """Hold the lock of the folder: of several processes one compiles, and the others wait for it."""
    with (place / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _record(place: Path) -> Path:
    return of_numba(place).with_suffix(".json")


def _read(path: Path) -> Seal | None:
    try:
        found = json.loads(path.read_bytes())
        return Seal(**found)
    except (OSError, ValueError, TypeError):
        return None


def _sums(place: Path) -> dict[str, int]:
    """Return a checksum of each compiled loop."""
    return {path.relative_to(place).as_posix(): zlib.crc32(path.read_bytes()) for path in place.rglob(LOOPS)}


def _whole_indexes(place: Path) -> bool:
    return all(_whole(path) for path in place.rglob(INDEXES))


def _whole(path: Path) -> bool:
    """Tell whether a file ends as a pickle does. A power cut leaves files that are empty or cut off."""
    return path.read_bytes()[-1:] == pickle.STOP
