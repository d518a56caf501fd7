"""From the global options to the settings in force."""

import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from service.cli.base import USAGE, Failure, Globals

if TYPE_CHECKING:
    from service.settings import Settings


def in_force(options: Globals, flags: Mapping[str, object] | None = None) -> "Settings":
    """Settings from flags, environment and file. `flags` go by field name; None means not given.

    Raises:
        Failure: a setting is misspelt or bad.
    """
    settings = import_module("service.settings")
    config = Path(options.config) if options.config else settings.find_config(os.environ, Path.cwd())
    given = {"database_url": database_url(options.database)} | dict(flags or {})
    try:
        return settings.load(os.environ, config, given)
    except settings.SettingsError as error:
        raise Failure(str(error), USAGE) from error


def database_url(given: str | None) -> str | None:
    """A path becomes a `file:` URL; a drive letter is no scheme.

    >>> database_url("notes.db"), database_url("file:notes.db")
    ('file:notes.db', 'file:notes.db')
    """
    return given if given is None or re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", given) else f"file:{given}"
