"""The default location of the database: a file in this project, else one in the user's data folder."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

FILE = "muisti.db"
USUAL = "file:muisti.db here, where there is one, else in the user's data folder"


def usual_database(environ: Mapping[str, str] = os.environ) -> str:
    """URL of the database that is used when no setting names one."""
    return f"file:{local_database() or users_database(environ) or FILE}"


def local_database() -> Path | None:
    """The `muisti.db` in this folder, or between it and the root of its git repository, as a path from here."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the current folder was deleted
        return None
    found = next((path for folder in _project(here) if (path := folder / FILE).exists()), None)
    return None if found is None else Path(os.path.relpath(found, here))


def users_database(environ: Mapping[str, str]) -> Path | None:
    """The database in the user's data folder, which may not be there yet; None when the user has no home."""
    folder = data_folder(environ)
    return None if folder is None else folder / FILE


def data_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """The folder for the user's data of this program; None when the user has no home.

    >>> str(data_folder({"XDG_DATA_HOME": "/data"}, "linux")), str(data_folder({"HOME": "/home/me"}, "linux"))
    ('/data/muisti', '/home/me/.local/share/muisti')
    >>> str(data_folder({"HOME": "/Users/me"}, "darwin"))
    '/Users/me/Library/Application Support/muisti'
    """
    if platform == "darwin":
        base = _home(environ, "Library/Application Support")
    else:
        given = Path(environ.get("XDG_DATA_HOME", ""))
        base = given if given.is_absolute() else _home(environ, ".local/share")  # the standard ignores relative ones
    return None if base is None else base / "muisti"


def shown(path: Path, environ: Mapping[str, str] = os.environ) -> str:
    """Return the path as a user would write it, with `~` for the home folder.

    >>> shown(Path("/home/me/muisti.db"), {"HOME": "/home/me"})
    '~/muisti.db'
    """
    home = _home(environ, "")
    inside = home is not None and home != Path(home.anchor) and path.is_relative_to(home)
    return f"~/{path.relative_to(home).as_posix()}" if home is not None and inside else str(path)


def _project(here: Path) -> Iterator[Path]:
    """Return the folder, with those above it up to the root of the git repository around it, if there is one."""
    folders = (here, *here.parents)
    root = next((at for at, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    yield from folders[: root + 1]


def _home(environ: Mapping[str, str], below: str) -> Path | None:
    given = environ.get("HOME")
    try:
        return (Path(given) if given else Path.home()) / below
    except RuntimeError:  # a user without a home, as in some containers
        return None
