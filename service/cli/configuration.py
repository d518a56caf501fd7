"""Settings in force, from the global options, the environment and the settings file."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from muisti.core.model.location import database_path, is_remote
from muisti.service.cli.base import USAGE, Failure, Globals
from muisti.service.settings import Settings, SettingsError, find_config, load


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
