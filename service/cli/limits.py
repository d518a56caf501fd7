"""Limits of a command on a database file: an access mode and a fixed category, from options or the environment."""

import os

from muisti.service.cli.base import USAGE, Failure, Globals
from muisti.service.schemas.modes import MODES

ACCESS = "MUISTI_ACCESS"
CATEGORY = "MUISTI_ONLY_CATEGORY"


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
