"""The registry of tables equals the schema, every module that reads it covers it, and one declaration suffices."""

import re
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
from msgspec.structs import replace

from muisti.core.embedding.models import Models
from muisti.core.identity.caller import OWNER
from muisti.core.model.ids import id_bytes
from muisti.core.model.values import Passage
from muisti.core.operations.checkup import look
from muisti.core.operations.repair import mend
from muisti.core.operations.transfer import export as exports
from muisti.core.store.backup import REWIND, opened
from muisti.core.store.copying import FileSide, carry
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.migrate import TABLE, migrate, migrations, split
from muisti.core.store.rescue.salvage import salvage
from muisti.core.store.rescue.soundness import image
from muisti.core.store.sql import bulk_replace, erasure, forks, imports, index_rows, inserting, spaces, version_rows
from muisti.core.store.sql.inserting import Indexed, NewVersion
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.store.sql.table import Reference, Table, Wipe
from muisti.core.store.sql.tables import TABLES, named, of_versions, parts, rebuilt_from_version, repeated
from tests.core.fakes import NOON, SPACE, WordEncoder, add, open_engine
from tests.stores import FileStore

pytestmark = pytest.mark.file_only

MIGRATION = """
CREATE TABLE remarks (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    remark TEXT NOT NULL,
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE pins (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id BLOB NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (space_id, memory_id)
) STRICT, WITHOUT ROWID;
"""
REMARKS = Table(
    name="remarks",
    columns=("version_id", "number", "remark"),
    erasing="cascades",
    wipes=(Wipe(text=("remark",)),),
    sought=("remark",),
    forking="with_version",
    moving="with_version",
)
PINS = Table(
    name="pins",
    columns=("space_id", "memory_id", "why"),
    memories=("memory_id",),
    erasing="deleted",
    wipes=(Wipe(text=("why",)),),
    plain=("memory_id",),
    sought=("why",),
    salvaging="with_memory",
)
MORE = (*TABLES, REMARKS, PINS)
LEAVES = {table.name for table in TABLES if table.erasing != "stays"}
WRITES = re.compile(r"(?:INSERT(?: OR \w+)? INTO|(?<!DO )UPDATE(?: OR \w+)?|DELETE FROM) (\w+)")
READS = re.compile(r"(?:FROM|JOIN) ([a-z_]+)")


class Declared(NamedTuple):
    """A table as far as the schema can tell it."""

    columns: tuple[str, ...]
    references: frozenset[Reference]


def in_schema(database: Database) -> dict[str, Declared]:
    """Every table of a database, as `sqlite_master` and the pragmas give it."""
    columns, references = database.read([
        Statement(
            "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' "
            "ORDER BY m.name, c.cid"
        ),
        Statement(
            'SELECT m.name, f.id, f."from", f."table", f.on_delete FROM sqlite_master m '
            "JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq"
        ),
    ])  # fmt: skip
    names = {str(name): tuple(str(column) for of, column in columns if of == name) for name, _ in columns}
    return {name: Declared(own, frozenset(_references(name, references))) for name, own in names.items()}


def _references(name: str, rows: Sequence[Row]) -> Iterator[Reference]:
    for number in {row[1] for row in rows if row[0] == name}:
        mine = [row for row in rows if row[:2] == (name, number)]
        yield Reference(tuple(str(row[2]) for row in mine), str(mine[0][3]), cascades=mine[0][4] == "CASCADE")


def in_registry(tables: Sequence[Table]) -> dict[str, Declared]:
    return {table.name: Declared(table.columns, frozenset(table.references)) for table in tables}


def written(statements: Sequence[Statement]) -> set[str]:
    return {name for statement in statements for name in WRITES.findall(statement.sql)} - {"refuse", "sqlite_sequence"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    """A database with two memories, the ids of which are in order."""
    with open_engine(FileStore(path)) as engine:
        add(engine, "red fox", "blue lake", tags=("a",), metadata={"n": 1})
    opened_again = FileDatabase(path)
    yield opened_again
    opened_again.close()


@pytest.fixture
def space(database: Database) -> SpaceRow:
    return space_row(database.read([spaces.by_name(SPACE)])[0][0])


def extended(database: Database) -> list[bytes]:
    """Apply the migration of the tests and fill its tables; give the ids of the memories."""
    database.write([Statement(sql) for sql in split(MIGRATION)])
    database.write([
        Statement("INSERT INTO remarks SELECT id, 0, 'remark on ' || content FROM versions"),
        Statement("INSERT INTO pins SELECT space_id, memory_id, 'pinned ' || content FROM versions"),
    ])  # fmt: skip
    (rows,) = database.read([Statement("SELECT memory_id FROM versions ORDER BY id")])
    return [memory for (memory,) in rows if isinstance(memory, bytes)]


def values(database: Database, table: str, column: str) -> list[object]:
    return [row[0] for row in database.read([Statement(f"SELECT {column} FROM {table} ORDER BY 1")])[0]]


def test_the_registry_equals_the_schema(tmp_path: Path):
    database = FileDatabase(tmp_path / "fresh.db")
    migrate(database, NOON)
    assert in_registry(TABLES) == in_schema(database)
    assert len({table.name for table in TABLES}) == len(TABLES)
    assert [named(table.name) for table in TABLES] == list(TABLES)
    database.close()


def test_a_table_without_a_declaration_is_found(database: Database):
    extended(database)
    assert in_registry(TABLES) != in_schema(database)
    assert in_schema(database).keys() - in_registry(TABLES).keys() == {"remarks", "pins"}
    assert in_registry(MORE) == in_schema(database)
    database.write([Statement("ALTER TABLE probes ADD COLUMN note TEXT")])
    assert in_registry(MORE) != in_schema(database)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_column_that_names_a_space_a_version_or_a_memory_is_declared(table: Table):
    for name in table.columns:
        if name == "space_id":
            assert table.space == name
        if name == "version_id" or name.endswith("_row"):
            assert name in of_versions(table)
        if name in ("memory_id", "twin_id"):
            assert name in table.memories
    columns = {*of_versions(table), *table.memories, *table.sought, *([table.space] if table.space else [])}
    assert columns <= set(table.columns)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_column_that_may_say_something_is_wiped_or_declares_its_origin(table: Table, database: Database):
    wiped = {name for wipe in table.wipes for name in (*wipe.text, *wipe.objects, *wipe.data, *wipe.noise)}
    asked = "SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB', 'ANY', '')"
    (rows,) = database.read([Statement(asked, (table.name,))])
    declared = [*wiped, *table.plain, *table.stated, *table.followed]
    assert sorted(declared) == sorted(str(name) for (name,) in rows)
    assert table.erasing == "stays" or not (table.stated or table.followed)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_table_goes_with_a_memory_as_the_schema_lets_it(table: Table, database: Database):
    """A cascading table refers to an erased one, a trigger exists, and a table that stays gives a reason."""
    cascading = {reference.table for reference in table.references if reference.cascades}
    triggers = values(database, "sqlite_master", "sql || ''")
    by_trigger = any(
        str(sql).startswith("CREATE TRIGGER") and "AFTER DELETE ON versions\n" in str(sql)
        and f"DELETE FROM {table.name} " in str(sql)
        for sql in triggers
    )  # fmt: skip
    assert (table.erasing == "cascades") == bool(cascading & LEAVES)
    assert (table.erasing == "trigger") == by_trigger
    assert (table.erasing == "stays") == bool(table.why)
    if table.erasing == "deleted":
        assert table.space and table.memories


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_table_of_a_space_goes_with_it(table: Table):
    reached = {"spaces"}
    for _ in TABLES:
        reached |= {one.name for one in TABLES for to in one.references if to.cascades and to.table in reached}
    if table.space or table.version or table.memories and table.name != "turns":
        assert table.name in reached


def test_each_table_stands_behind_those_that_it_refers_to():
    seen: set[str] = set()
    for table in TABLES:
        seen.add(table.name)
        assert {reference.table for reference in table.references} <= seen


def test_parts_of_versions_go_where_their_versions_go():
    copied = [table for table in TABLES if "with_version" in (table.forking, table.moving)]
    assert copied == [table for table in parts() if table.rebuilt != "when_needed" or table.forking == "with_version"]
    assert all(table.forking == table.moving for table in parts())


def test_salvage_leaves_what_is_rebuilt_or_of_the_moment_alone_and_drops_what_is_of_a_memory_with_it():
    of_the_moment = {"schema_migrations", "sqlite_sequence", "sweeps", "turns", "requests"}
    of_the_moment |= {"carried", "arrivals", "leaving", "trail"}
    of_the_moment |= {"code_spaces", "graph_spaces"}
    left = {table.name for table in TABLES if table.salvaging == "left"}
    assert left == of_the_moment | {table.name for table in TABLES if table.rebuilt}
    by_memory = {table.name for table in TABLES if table.erasing in ("deleted", "trigger")} - {"versions"}
    assert by_memory == {table.name for table in TABLES if table.salvaging == "with_memory"}


def test_erasure_has_a_statement_for_each_table_that_asks_for_one(space: SpaceRow):
    memories = [b"m" * 16]
    asked = {table.name for table in TABLES if table.erasing in ("deleted", "stated")}
    assert erasure.STATED.keys() == {table.name for table in TABLES if table.erasing == "stated"}
    assert written(erasure.erase(space, memories, OWNER)) == asked | {"changes", "erased"}
    wiped = {table.name for table in TABLES if table.wipes}
    assert written(erasure.overwrite(space, memories)) == written(erasure.overwrite_space(space)) == wiped
    assert wiped <= LEAVES


def test_erasure_looks_for_what_is_left_in_each_table(space: SpaceRow):
    places = {place for place, _ in erasure.left(space, [b"m" * 16], [1])}
    # The hits of receipts have the ids of memories, and answers of requests are looked through.
    assert places >= LEAVES - {"receipts", "requests"}
    assert "answers of requests" in places
    of_space = {place for place, _ in erasure.left_of_space(space)}
    assert of_space >= {table.name for table in TABLES if table.space or table.version}


def test_forks_imports_rollbacks_exports_and_restoring_take_each_table_that_asks_for_it(space: SpaceRow):
    assert written(forks.copy(space, "fork", NOON)) == {one.name for one in TABLES if one.forking != "never"}
    moved = written(imports.move(imports.Staged(1, space, space), (0, 9), NOON, as_it_was=True))
    assert moved == {one.name for one in TABLES if one.moving != "never"}
    taken = written(bulk_replace.take(space, "rolled_back", OWNER, NOON))
    assert taken == {"versions", "changes", *(table.name for table in parts())}
    asked = [*exports.sizes(space, 1), exports.all_models(), exports.changes_of(space, 0, 1, 1)]
    asked += [
        exports.versions_of(space, 0, 1),
        exports.retrievals_of(space, 1, b"", 1),
        exports.passages_of(space, 0, 1),
    ]
    read = {name for statement in asked for name in READS.findall(statement.sql)}
    assert read == {table.name for table in TABLES if table.exported}
    # Rows that are part of a version, or that a trigger deletes with a memory, follow the version.
    assert written([*map(Statement, REWIND)]) == {table.name for table in TABLES if table.rewound}


def test_repair_rebuilds_each_table_that_is_derived(database: Database, space: SpaceRow):
    (row,) = database.read([Statement(f"SELECT {version_rows.COLUMNS} FROM versions v LIMIT 1")])[0]
    memory = version_rows.memory(row, SPACE)
    new = NewVersion(memory, b"", [Indexed(Passage(0, 0, 7), b"terms", {"generation": b"vector"})])
    made = written([*inserting.dependent_rows((version_rows.raw(memory.id), 1), new)])
    assert made == {table.name for table in rebuilt_from_version()}
    assert written([index_rows.forget_segments(space)]) == {
        table.name for table in TABLES if table.rebuilt == "from_index"
    }


def test_a_version_with_the_same_text_takes_over_each_table_that_is_repeated(database: Database, space: SpaceRow):
    (row,) = database.read([Statement(f"SELECT {version_rows.COLUMNS} FROM versions v LIMIT 1")])[0]
    memory = version_rows.memory(row, SPACE)
    again = NewVersion(replace(memory, version=2), b"", None, previous=int(str(row[0])))
    hung = written([*inserting.dependent_rows((version_rows.raw(memory.id), 2), again)])
    assert hung == {"tags", "metadata", *(table.name for table in repeated())}
    database.write([*spaces.advance(space, 1, NOON), inserting.end(space, memory), *inserting.insert(space, again)])
    for table in repeated():
        kept = ", ".join(name for name in table.columns if name != table.version)
        rows = f"SELECT {kept} FROM {table.name} WHERE {table.version} = ?"
        (new,) = database.read([Statement("SELECT max(id) FROM versions")])[0]
        before, after = database.read([Statement(rows, (row[0],)), Statement(rows, (new[0],))])
        assert before == after != []


@pytest.mark.parametrize("table", rebuilt_from_version(), ids=lambda table: table.name)
def test_checkup_finds_each_derived_table_wanting_and_repair_rebuilds_it(table: Table, database: Database):
    rows = Statement(f"SELECT * FROM {table.name} ORDER BY 1, 2")
    before = database.read([rows])[0]
    database.write([Statement(f"DELETE FROM {table.name}")])
    findings = look(database, Models(WordEncoder()), lambda *_: None)
    assert len(findings.derived) == 2
    mend(database, Models(WordEncoder()), findings, NOON)
    assert look(database, Models(WordEncoder()), lambda *_: None).flaws == []
    assert database.read([rows])[0] == before != []


def test_one_declaration_erases_a_table_with_its_memory(database: Database, space: SpaceRow):
    first, second = extended(database)
    (rows,) = database.read([Statement("SELECT id FROM versions WHERE memory_id = ?", (first,))])
    sought = [value for found in database.read(erasure.texts(space, [first], MORE)) for row in found for value in row]
    assert {"remark on red fox", "pinned red fox"} <= set(sought)
    left = erasure.left(space, [first], [int(str(rows[0][0]))], MORE)
    before = dict(zip([place for place, _ in left], database.read([each for _, each in left]), strict=True))
    assert before["remarks"] == before["pins"] == [(1,)]
    database.write([*spaces.advance(space, 1, NOON), *erasure.erase(space, [first], OWNER, MORE)])
    assert values(database, "remarks", "remark") == ["remark on blue lake"]
    assert values(database, "pins", "why") == ["pinned blue lake"]
    assert all(count == [(0,)] for count in database.read([each for _, each in left]))
    assert values(database, "versions", "memory_id") == [second]


def test_one_declaration_writes_over_a_table_before_it_is_erased(database: Database, space: SpaceRow):
    first, _ = extended(database)
    database.write(erasure.overwrite(space, [first], MORE))
    assert values(database, "remarks", "remark") == ["\0" * len("remark on red fox"), "remark on blue lake"]
    assert values(database, "pins", "why") == ["\0" * len("pinned red fox"), "pinned blue lake"]
    database.write(erasure.overwrite_space(space, MORE))
    assert all(set(str(value)) == {"\0"} for value in values(database, "remarks", "remark"))
    assert all(set(str(value)) == {"\0"} for value in values(database, "pins", "why"))


def test_one_declaration_erases_a_table_with_its_space(database: Database, space: SpaceRow):
    extended(database)
    left = erasure.left_of_space(space, MORE)
    assert {"remarks", "pins"} <= {place for place, _ in left}
    database.write(erasure.erase_space(space, None, NOON))
    assert all(count == [(0,)] for count in database.read([each for _, each in left]))
    assert values(database, "remarks", "remark") == values(database, "pins", "why") == []


def test_one_declaration_copies_a_table_into_a_fork(database: Database, space: SpaceRow):
    extended(database)
    database.write([
        *spaces.insert("fork", "an epoch", space.space.settings, NOON),
        *forks.copy(space, "fork", NOON, MORE),
    ])  # fmt: skip
    in_fork = "SELECT r.remark FROM remarks r JOIN versions v ON v.id = r.version_id WHERE v.space_id <> ? ORDER BY 1"
    assert database.read([Statement(in_fork, (space.id,))])[0] == [("remark on blue lake",), ("remark on red fox",)]
    assert len(values(database, "pins", "why")) == 2  # what is never copied stays with the space


def test_one_declaration_moves_a_table_with_an_import(database: Database, space: SpaceRow):
    extended(database)
    *_, ((staging,),), ((number,),) = database.write(imports.begin("a token", "e", space, "me", None, NOON))
    inner = replace(space, id=int(str(staging)), space=replace(space.space, epoch="e"))
    staged = imports.Staged(int(str(number)), inner, space)
    (row,) = database.read([Statement(f"SELECT {version_rows.COLUMNS} FROM versions v LIMIT 1")])[0]
    memory = replace(version_rows.memory(row, SPACE), id=str(uuid.uuid4()), content="old oak")
    indexed = Indexed(Passage(0, 0, 7), b"terms")
    database.write([*imports.stage(staged, NewVersion(memory, b"", [indexed]), 1, None)])
    database.write(
        [Statement("INSERT INTO remarks SELECT id, 0, 'imported' FROM versions WHERE space_id = ?", (staging,))]
    )
    database.write(imports.move(staged, (0, 1), NOON, as_it_was=False, tables=MORE))
    moved = "SELECT r.remark FROM remarks r JOIN versions v ON v.id = r.version_id WHERE v.memory_id = ?"
    assert database.read([Statement(moved, (id_bytes(memory.id),))])[0] == [("imported",)]


def test_a_table_is_carried_to_another_database(database: Database, path: Path, tmp_path: Path):
    extended(database)
    with opened(path) as given, opened(tmp_path / "copy.db") as copy:
        carry(FileSide(given), FileSide(copy), lambda *_: None)
        for table in ("remarks", "pins"):
            asked = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert copy.execute(asked).fetchall() == given.execute(asked).fetchall() != []


def test_one_declaration_salvages_a_table(database: Database, path: Path, tmp_path: Path):
    memories = extended(database)
    database.write([
        Statement("INSERT INTO pins SELECT id, x'00', 'of a lost memory' FROM spaces WHERE name = ?", (SPACE,))
    ])  # fmt: skip
    database.close()
    scripts = [*(script for _, script in migrations()), MIGRATION]
    with image(path) as pages, opened(tmp_path / "new.db") as target:
        make(target, scripts)
        found = salvage(pages, target, NOON, lambda *_: None, scripts=scripts, tables=MORE)
        assert (found.damage, found.lost) == ([], [])
        remarks = target.execute("SELECT remark FROM remarks ORDER BY 1").fetchall()
        assert remarks == [("remark on blue lake",), ("remark on red fox",)]
        assert target.execute("SELECT memory_id FROM pins ORDER BY 1").fetchall() == [(one,) for one in memories]
        assert target.execute("SELECT count(*) FROM tags").get == 0


def make(target: apsw.Connection, scripts: Sequence[str]) -> None:
    for script in (f"{TABLE};", *scripts):
        for sql in split(script):
            target.execute(sql)


def test_a_derived_table_is_left_by_salvage(database: Database, path: Path, tmp_path: Path):
    extended(database)
    database.close()
    derived = replace(REMARKS, salvaging="left", rebuilt="from_version")
    scripts = [*(script for _, script in migrations()), MIGRATION]
    with image(path) as pages, opened(tmp_path / "new.db") as target:
        make(target, scripts)
        salvage(pages, target, NOON, lambda *_: None, scripts=scripts, tables=(*TABLES, derived, PINS))
        assert target.execute("SELECT count(*) FROM remarks").get == 0
        assert target.execute("SELECT count(*) FROM pins").get == 2
