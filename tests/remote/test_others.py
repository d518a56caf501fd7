"""Turso's own client reads what we wrote, and we read what it wrote."""

import struct
from collections.abc import Iterator
from typing import Any

import pytest
import turso_serverless

from deploy.cluster.sqld import Sqld
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.remote.conftest import LABEL

FLOATS: list[Scalar] = [0.1 + 0.2, 5e-324, -1.5e300]
VALUES: list[Scalar] = [*FLOATS, None, 2**63 - 1, -(2**63), "Järvenpää \U0001f986", "a\0b", b"\0\xff", ""]
TABLE = Statement("CREATE TABLE v (place INTEGER PRIMARY KEY, value ANY) STRICT")


class Labelled:
    """The database that the first label of the host names, which other clients can name too."""

    def __init__(self, sqld: Sqld) -> None:
        self._sqld = sqld

    def open(self) -> RemoteDatabase:
        return RemoteDatabase(Server(self._sqld.url, Token(), LABEL))


@pytest.fixture
def theirs(labelled: Sqld) -> Iterator[Any]:
    connection = turso_serverless.connect(labelled.url)
    yield connection
    connection.close()


def test_they_read_what_we_wrote_bit_by_bit(labelled: Sqld, theirs: Any):
    database = Labelled(labelled).open()
    database.write([Statement("DROP TABLE IF EXISTS v"), TABLE])
    database.write([Statement("INSERT INTO v VALUES (?, ?)", place) for place in enumerate(VALUES)])
    rows = theirs.cursor().execute("SELECT value FROM v ORDER BY place").fetchall()
    assert [bits(value) for (value,) in rows] == [bits(value) for value in VALUES]


def test_we_read_what_they_wrote(labelled: Sqld, theirs: Any):
    """But for floats that need all their digits: those the server reads from decimals, with an error in the last."""
    database = Labelled(labelled).open()
    database.write([Statement("DROP TABLE IF EXISTS v"), TABLE])
    values = [*VALUES[len(FLOATS) :], 0.25, 0.1]
    for place in enumerate(values):
        theirs.cursor().execute("INSERT INTO v VALUES (?, ?)", place)
    theirs.commit()
    (rows,) = database.read([Statement("SELECT value FROM v ORDER BY place")])
    assert [bits(value) for (value,) in rows] == [bits(value) for value in values]


def test_they_read_a_memory_with_plain_sql(labelled: Sqld, theirs: Any):
    with open_engine(Labelled(labelled), clock=Clock()) as engine:
        add(engine, "a heron by the lake", tags=("bird",))
        found = theirs.cursor().execute(
            "SELECT v.content, t.tag FROM versions v JOIN tags t ON t.version_id = v.id "
            "JOIN spaces s ON s.id = v.space_id WHERE s.name = ?",
            (SPACE,),
        )
        assert found.fetchall() == [("a heron by the lake", "bird")]


def bits(value: Scalar) -> object:
    return struct.pack("<d", value) if isinstance(value, float) else value
