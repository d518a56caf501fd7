"""Spaces of one database for the suites of others, which know nothing of Muisti."""

import itertools
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import muisti

_numbers = itertools.count()
_folder = TemporaryDirectory(prefix="muisti-suites-")


@cache
def _database() -> Any:
    return muisti.open(f"{_folder.name}/memory.db")


def empty_space() -> Any:
    """Return a handle on a space in which nothing is."""
    return _database().space(f"suite-{next(_numbers)}")


@cache
def space_of(name: str) -> Any:
    """Return a handle on the space of a name, always the same."""
    return empty_space()


def pytest_unconfigure() -> None:
    """Close the database when the tests have ended: this module is a plugin, too."""
    if _database.cache_info().currsize:
        _database().close()
