"""Spaces of one database for the suites of others, which know nothing of Muisti."""

import itertools
import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that MUISTI_LEFT_OUT names, and write down which those are, beside the suites."""
    names = set(os.environ["MUISTI_LEFT_OUT"].split(","))
    left = [item for item in items if getattr(item, "originalname", item.name) in names]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]
    written = "".join(f"{getattr(item, 'originalname', item.name)}\n" for item in left)
    Path(config.rootpath.parent.parent, "left-out.txt").write_text(written, "utf-8")
