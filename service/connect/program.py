"""The command that starts Muisti from a client's configuration: one that outlives upgrades and, if it can, moves."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

NAME = "muisti"
PASSING = ("archive-v", "environments-v", "builds-v")  # folders in which uvx makes environments that it may delete


class NotPossible(Exception):
    """A client cannot be connected like this. The message says why, and what to do instead."""


class Origin(NamedTuple):
    """Where the installed package came from: a `path` or None for an index, and whether it is a tree that is edited."""

    path: Path | None
    editable: bool


class Program(NamedTuple):
    """The words that start Muisti, and the clone with which they stop working when it moves."""

    words: tuple[str, ...]
    clone: Path | None = None


def given(command: str) -> Program:
    """Return the program of a command line that a user typed, with the absolute path of its first word.

    Raises:
        NotPossible: the command line is empty or cannot be read, or its first word is no command here.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise NotPossible(f"--command cannot be read: {error}") from error
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise NotPossible(f"--command: there is no command {words[0] if words else ''!r} here")
    return Program((os.path.abspath(found), *words[1:]))


def program() -> Program:
    """Return the program of this installation: graphical clients do not have the PATH of a shell.

    Raises:
        NotPossible: the command `muisti` was not found.
    """
    beside, found, origin = Path(sys.executable).with_name(NAME), shutil.which(NAME), origin_of()
    if any(part.startswith(PASSING) for part in beside.parts) and (uvx := _uvx()):
        wanted = str(origin.path) if origin.path else f"muisti=={distribution('muisti').version}"
        return Program((uvx, "--from", wanted, "muisti"))
    if not beside.exists() and found is None:
        raise NotPossible("the command muisti is not installed; `pip install` puts it beside Python")
    # A link in the user's folder of programs outlives the environment that uv or pipx replaces in an upgrade.
    linked = found is not None and (not beside.exists() or Path(found).resolve() == beside.resolve())
    words = (os.path.abspath(found) if linked and found else str(beside),)
    clone = origin.path if origin.editable else None
    return Program(words, clone if clone and Path(words[0]).is_relative_to(clone) else None)


def missing(words: Sequence[str]) -> str | None:
    """Return the file that a command needs and that is gone; None when everything is there.

    >>> missing(["/gone/bin/muisti", "mcp"]), missing([sys.executable, "-m", "muisti.service"])
    ('/gone/bin/muisti', None)
    """
    if not words or shutil.which(words[0]) is None:
        return words[0] if words else "a command"
    sources = [after for word, after in zip(words, words[1:], strict=False) if word == "--from"]
    return next((one for one in sources if Path(one).is_absolute() and not Path(one).exists()), None)


def origin_of() -> Origin:
    """Return where the installed package came from, as the installer recorded it."""
    try:
        told = json.loads(distribution("muisti").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return Origin(None, False)
    url = urlsplit(told.get("url", ""))
    path = Path(unquote(url.path)) if url.scheme == "file" else None
    return Origin(path, bool(told.get("dir_info", {}).get("editable")))


def _uvx() -> str | None:
    beside = Path(os.environ["UV"]).with_name("uvx") if os.environ.get("UV") else None
    return str(beside) if beside and beside.exists() else shutil.which("uvx")
