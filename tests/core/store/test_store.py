"""A database keeps its promises on a file and on a server: atomic batches, one snapshot a read, the same refusals."""

import math
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from muisti.core.model.errors import Conflict, SchemaTooNew, StoreUnavailable
from muisti.core.operations.whole_database import schema_of
from muisti.core.store.database import BadStatement, Database, Refused, Scalar, Statement
from muisti.core.store.migrate import APPLIED, migrate, migrations
from muisti.core.store.sql.version_rows import COVERED
from tests.examples import examples
from tests.stores import Store, Stores, unreleased

REFUSE = Statement("INSERT INTO refuse SELECT 'stale' WHERE 1")


def generation(name: str) -> Statement:
    return Statement("INSERT INTO generations (hash, model, dimensions, created_at) VALUES (?, 'm', 1, 1)", (name,))


def names(database: Database) -> set[object]:
    return {row[0] for row in database.read([Statement("SELECT hash FROM generations")])[0]}


@pytest.fixture
def database(store: Store) -> Iterator[Database]:
    opened = store.open()
    migrate(opened, 1)
    yield opened
    opened.close()


def test_a_refused_batch_leaves_nothing_and_says_what_refused_it(database: Database):
    with pytest.raises(Refused) as refused:
        database.write([generation("a"), REFUSE])
    assert (refused.value.code, refused.value.statement, names(database)) == ("stale", 1, set())


def test_a_violated_constraint_or_foreign_key_is_a_refusal(database: Database):
    for second in (generation("a"), Statement("INSERT INTO tags VALUES (99, 'a', 'a')")):
        with pytest.raises(Refused) as refused:
            database.write([generation("a"), second])
        assert (refused.value.code, refused.value.statement) == ("constraint", 1)


def test_one_refusal_never_undoes_its_neighbours(database: Database):
    def attempt(n: int) -> str:
        try:
            database.write([generation(f"g{n}"), *([REFUSE] if n % 3 == 0 else [])])
        except Refused:
            return "refused"
        return f"g{n}"

    with ThreadPoolExecutor(32) as pool:
        outcomes = set(pool.map(attempt, range(200)))
    assert outcomes - {"refused"} == names(database) == {f"g{n}" for n in range(200) if n % 3}


def test_a_read_sees_one_point_in_time(database: Database):
    """While pairs are written, no read sees half a pair between its two statements."""
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            database.write([generation(f"a{n}"), generation(f"b{n}")])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(100):
            first = Statement("SELECT count(*) FROM generations WHERE hash LIKE 'a%'")
            second = Statement("SELECT count(*) FROM generations WHERE hash LIKE 'b%'")
            (a,), (b,) = database.read([first, second])
            assert a == b
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("value", ["\ud800", 2**70, object()])
def test_a_value_that_sqlite_cannot_hold_fails_alone(database: Database, value: object):
    bad = Statement("SELECT ?", (value,))  # pyright: ignore[reportArgumentType]  # that is the point
    with pytest.raises((TypeError, ValueError, OverflowError)):
        database.write([generation("a"), bad])
    database.write([generation("b")])
    assert names(database) == {"b"}


def test_a_closed_database_refuses(database: Database):
    database.close()
    with pytest.raises(StoreUnavailable):
        database.write([generation("a")])


def test_a_newer_schema_is_refused_and_left_alone(database: Database):
    number = len(migrations()) + 1
    database.write([Statement("INSERT INTO schema_migrations VALUES (?, 'later.sql', 1)", (number,))])
    with pytest.raises(SchemaTooNew, match=f"schema {number}"):
        migrate(database, 2)


@pytest.mark.parametrize("number", [1, 2, 37])
def test_a_schema_from_before_the_first_release_is_refused_and_left_alone(database: Database, number: int):
    unreleased(database, number)
    before = database.read([APPLIED])
    for use in (lambda: migrate(database, 2), lambda: schema_of(database)):
        with pytest.raises(Conflict, match=rf"schema {number}\).*muisti export"):
            use()
    assert database.read([APPLIED]) == before


def test_migrating_twice_or_from_two_processes_changes_nothing(database: Database, store: Store):
    assert [name.partition("_")[0] for name, _ in migrations()] == [f"{n:04}" for n in range(1, len(migrations()) + 1)]
    other = store.open()
    migrate(other, 2)
    migrate(database, 3)
    other.close()
    (rows,) = database.read([Statement("SELECT count(*) FROM schema_migrations")])
    assert rows == [(len(migrations()),)]


def test_every_column_of_a_version_has_a_checksum_or_another_proof(database: Database):
    migrate(database, 1)
    (columns,) = database.read([Statement("SELECT name FROM pragma_table_info('versions')")])
    proven = {"id", "space_id", "memory_id", "version", "born", "died", "supersedes", "superseded_by", "parent_id"}
    derived = {"category_folded", "author_folded", "content_hash", "updated_at", "checksum"}
    assert {name for (name,) in columns} == {*COVERED, *proven, *derived}


@pytest.mark.parametrize("sql", ["nonsense", "SELECT * FROM nowhere", "SELECT nothing", "SELECT ?"])
def test_a_statement_that_makes_no_sense_is_our_fault_and_leaves_nothing(database: Database, sql: str):
    with pytest.raises(BadStatement):
        database.read([Statement(sql)])
    with pytest.raises(BadStatement):
        database.write([generation("a"), Statement(sql)])
    assert names(database) == set()


def test_a_write_selects_what_it_has_made_and_what_is_no_number_becomes_null(database: Database):
    rows = database.write([generation("a"), Statement("SELECT count(*) FROM generations"), generation("b")])
    assert rows == [[], [(1,)], []]
    assert database.read([Statement("SELECT ?", (math.nan,))]) == [[(None,)]]


def test_what_is_written_is_read_at_once_here_and_at_the_primary(database: Database):
    for n in range(20):
        database.write([generation(f"g{n}")])
        assert len(names(database)) == len(names(database.primary)) == n + 1


scalars = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(max_size=200)
)


@examples(60)
@given(st.lists(scalars, min_size=1, max_size=50))
@example([0.1 + 0.2, 5e-324, -0.0, 1.7976931348623157e308, 2**63 - 1, -(2**63), "a\0b", "?", b"", ""])
def test_values_come_back_as_they_went_bit_by_bit(stores: Stores, values: list[Scalar]):
    database = stores().open()
    database.write([Statement("CREATE TABLE v (place INTEGER PRIMARY KEY, value ANY) STRICT")])
    database.write([Statement("INSERT INTO v VALUES (?, ?)", place) for place in enumerate(values)])
    (rows,) = database.read([Statement("SELECT value FROM v ORDER BY place")])
    database.close()
    assert [same(row[0]) for row in rows] == [same(value) for value in values]


def same(value: Scalar) -> object:
    """Equal when type and bits are; SQLite keeps no sign of zero in a row."""
    return (type(value), struct.pack("<d", value + 0.0) if isinstance(value, float) else value)


def test_more_rows_than_one_answer_holds_are_read_all_the_same(database: Database):
    """24 MB: sqld puts at most 10 MB into one answer, and streams more."""
    text = "x" * 1_000_000
    database.write([Statement("CREATE TABLE v (place INTEGER PRIMARY KEY, value TEXT) STRICT")])
    for place in range(24):
        database.write([Statement("INSERT INTO v VALUES (?, ?)", (place, text))])
    ask = [Statement("SELECT 7"), Statement("SELECT place, value FROM v ORDER BY place"), Statement("SELECT 8")]
    for _ in range(2):
        before, rows, after = database.read(ask)
        assert (before, after) == ([(7,)], [(8,)])
        assert rows == [(place, text) for place in range(24)]
