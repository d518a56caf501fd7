from collections.abc import Iterator

import pytest

from muisti.core.store.database import Database, Statement
from muisti.core.store.migrate import migrate
from tests.stores import Stores

INSERT = "INSERT INTO spaces (id, name, epoch, seq, created_at, committed_at, settings) "


@pytest.fixture
def database(stores: Stores) -> Iterator[Database]:
    """A database with one space."""
    opened = stores().open()
    migrate(opened, 1)
    opened.write([Statement(INSERT + "VALUES (1, 's', 'e', 1, 0, 0, '{}')")])
    yield opened
    opened.close()
