"""Settings in force, the database that they name, and limits of a command on it, from options and environment."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from muisti.core.model.location import database_path, is_remote
from muisti.core.support.lazy import Lazy
from muisti.service.schemas.access_modes import MODES
from muisti.service.settings import Settings, SettingsError, find_config, load
from muisti.service.settings.places import local_database, shown, users_database
from muisti.service.terminal.base import USAGE, Failure, Globals
from muisti.service.terminal.output import talk

if TYPE_CHECKING:
    from muisti.service.runtime import databases
else:  # with the core, for a database on a server
    databases = Lazy("muisti.service.runtime.databases")

ACCESS = "MUISTI_ACCESS"
CATEGORY = "MUISTI_ONLY_CATEGORY"


def in_force(options: Globals, flags: Mapping[str, object] | None = None) -> Settings:
    """Load the settings from flags, environment and file. `flags` maps field names to values; None means not given.

    Raises:
        Failure: a setting has an unknown name or a bad value.
    """
    config = Path(options.config) if options.config else find_config(os.environ, Path.cwd())
    given = {"database_url": database_url(options.database)} | dict(flags or {})
    try:
        return load(os.environ, config, given)
    except SettingsError as error:
        raise Failure(str(error), USAGE) from error


def file_of(settings: Settings) -> Path | None:
    """Return the file of the database; None when the database is on a server."""
    return None if is_remote(settings.database_url) else Path(database_path(settings.database_url))


def database_url(given: str | None) -> str | None:
    """Turn a path into a `file:` URL, and leave a URL as it is. A drive letter is no scheme.

    >>> database_url("notes.db"), database_url("file:notes.db")
    ('file:notes.db', 'file:notes.db')
    """
    return given if given is None or re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", given) else f"file:{given}"


def settings_for(options: Globals, settings: Settings | None = None, *, create: bool = False) -> Settings:
    """Return the settings (default: those in force) of a command that opens the database.

    Raises:
        Failure: there is no database, unless `create` allows to make it; or a setting is bad.
    """
    settings = settings or in_force(options)
    say_which(options, settings)
    if not create and (lack := lack_of(settings)):
        raise Failure(lack)
    return settings


def lack_of(settings: Settings) -> str | None:
    """Say that the file of the database is missing, and what to do; None when it exists, or is a server's."""
    path = file_of(settings)
    if path is None or path.exists():
        return None
    return f"no database at {shown(path.absolute())} yet; `muisti add TEXT` creates it; --database names another"


def say_which(options: Globals, settings: Settings) -> None:
    """Report once that a `muisti.db` of this project is used in place of the user's own database."""
    local, usual = local_database(), users_database(os.environ)
    if options.reported_database or options.json or local is None or usual is None:
        return
    if settings.database_url == f"file:{local}" and not named(options) and local.absolute() != usual:
        talk(f"Using {local}, not {shown(usual)}.")
        options.reported_database = True


def named(options: Globals) -> bool:
    """Tell whether an option or the environment names the database."""
    return bool(options.database or os.environ.get("MUISTI_DATABASE_URL"))


def place_of(settings: Settings) -> str:
    """Return the place of the database, in words for a person."""
    path = file_of(settings)
    return databases.whereabouts(settings) if path is None else shown(path.absolute())


def mode_of(options: Globals) -> str:
    """Return the access mode in force; `full` unless an option or the environment names another.

    Raises:
        Failure: the environment variable has an unknown mode.
    """
    mode = options.access or os.environ.get(ACCESS) or "full"
    if mode not in MODES:
        raise Failure(f"{ACCESS} is {mode[:40]!r}; expected one of {', '.join(MODES)}", USAGE)
    return mode


def category_of(options: Globals) -> str | None:
    """Return the category to which this command is limited; None when there is no such limit."""
    return options.only_category or os.environ.get(CATEGORY) or None


def limited(options: Globals) -> bool:
    """Tell whether the command may do less than everything."""
    return mode_of(options) != "full" or category_of(options) is not None


def in_words(options: Globals, detail: str) -> str:
    """Reword a refusal of the service: it names the limits of this command in place of a key."""
    given = [f"access mode {mode_of(options)}"] if mode_of(options) != "full" else []
    given += [] if category_of(options) is None else [f"category {category_of(options)} only"]
    named = detail.replace("this key may not do that", f"{', '.join(given)}: this command may not do that")
    return named.replace("this key", "this command")


def refuse_for_servers(options: Globals, where: str) -> None:
    """Refuse limits that a server would ignore: silent full access is worse than an error.

    Raises:
        Failure: an option or the environment sets a limit.
    """
    if limited(options):
        raise Failure(
            f"--access and --only-category (also {ACCESS} and {CATEGORY}) are for a database file; {where} goes by "
            "keys: `muisti keys create NAME --mode MODE --spaces SPACE --category NAME`",
            USAGE,
        )
