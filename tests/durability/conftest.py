"""Folders for the stores of these tests."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: many stores are made, and none of them needs a real disk."""
    made = Path(tempfile.mkdtemp(prefix="muisti-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
    yield made
    shutil.rmtree(made)
