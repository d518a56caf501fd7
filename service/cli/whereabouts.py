"""The database of a command: whether it exists, and how messages name it."""

import os
from typing import TYPE_CHECKING

from muisti.service.cli.base import Failure, Globals
from muisti.service.cli.configuration import file_of, in_force
from muisti.service.cli.output import talk
from muisti.service.runtime.databases import whereabouts
from muisti.service.settings.places import local_database, shown, users_database

if TYPE_CHECKING:
    from muisti.service.settings import Settings


def settings_for(options: Globals, settings: "Settings | None" = None, *, create: bool = False) -> "Settings":
    """Return the settings (default: those in force) of a command that opens the database.

    Raises:
        Failure: there is no database, unless `create` allows to make it; or a setting is bad.
    """
    settings = settings or in_force(options)
    say_which(options, settings)
    if not create and (lack := lack_of(settings)):
        raise Failure(lack)
    return settings


def lack_of(settings: "Settings") -> str | None:
    """Say that the file of the database is missing, and what to do; None when it exists, or is a server's."""
    path = file_of(settings)
    if path is None or path.exists():
        return None
    return f"no database at {shown(path.absolute())} yet; `muisti add TEXT` creates it; --database names another"


def say_which(options: Globals, settings: "Settings") -> None:
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


def place_of(settings: "Settings") -> str:
    """Return the place of the database, in words for a person."""
    path = file_of(settings)
    return whereabouts(settings) if path is None else shown(path.absolute())
