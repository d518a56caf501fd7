"""From the global options to the settings in force."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from muisti.core.model.location import database_path, is_remote
from muisti.service.cli.base import USAGE, Failure, Globals
from muisti.service.settings import Settings, SettingsError, find_config, load


def in_force(options: Globals, flags: Mapping[str, object] | None = None) -> Settings:
    """Settings from flags, environment and file. `flags` go by field name; None means not given.

    Raises:
        Failure: a setting is misspelt or bad.
    """
    config = Path(options.config) if options.config else find_config(os.environ, Path.cwd())
    given = {"database_url": database_url(options.database)} | dict(flags or {})
    try:
        return load(os.environ, config, given)
    except SettingsError as error:
        raise Failure(str(error), USAGE) from error


def file_of(settings: Settings) -> Path | None:
    """The file of the database; None when the database is on a server."""
    return None if is_remote(settings.database_url) else Path(database_path(settings.database_url))


def database_url(given: str | None) -> str | None:
    """A path becomes a `file:` URL; a drive letter is no scheme.

    >>> database_url("notes.db"), database_url("file:notes.db")
    ('file:notes.db', 'file:notes.db')
    """
    return given if given is None or re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", given) else f"file:{given}"
