"""The registry of fields agrees with the types, the table and whatever reads it, and a new field arrives everywhere."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from msgspec import structs

from muisti.core.identity.caller import Caller
from muisti.core.index import fields as index_fields
from muisti.core.model.choices import SourceClass
from muisti.core.model.errors import InvalidInput
from muisti.core.model.fields import FIELDS, LINKS, PARTS, STATED, STATED_TIMES, TEXTS, MemoryField, columns, stored
from muisti.core.model.spaces import Space, SpaceSettings
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft, Memory
from muisti.core.operations.transfer.records import memory_record
from muisti.core.query.filter_fields import ENTITY, VALID_AT
from muisti.core.query.filter_fields import FIELDS as FILTERS
from muisti.core.query.filters import Leaf
from muisti.core.read.diff import differences
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import bulk_replace, filters, index_rows
from muisti.core.store.sql.inserting import NewVersion, insert
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COVERED, LAYOUT, Layout, checksum, covered
from muisti.core.write import screening
from muisti.core.write.validate import CHOICES, check_draft

NAMES = {field.name for field in FIELDS}
MADE = 1_790_000_000_123_456
ID, OTHER = "00010203-0405-0607-0809-0a0b0c0d0e0f", "00000000-0000-0000-0000-000000000000"
AT = datetime(2026, 5, 1, tzinfo=UTC)
# All fields say something, and what is not usual.
FULL: dict[str, Any] = {
    "id": ID, "space": "s", "version": 2, "content": "We deploy on Fridays", "category": "Rules", "key": "Deploy",
    "kind": "exchange", "type": "guard", "status": "candidate", "importance": "high", "author": "Ann",
    "reason": "because", "source": "a page", "tags": ("Blue", "red"), "metadata": {"a": {"b": [1, 2.5, True]}},
    "created_at": from_us(MADE), "updated_at": from_us(MADE + 5), "event_at": AT, "valid_from": AT,
    "valid_to": AT.replace(year=2027), "expires_at": AT.replace(year=2028), "parent_id": OTHER, "supersedes": OTHER,
    "superseded_by": ID, "source_class": "web", "derived_from": (OTHER,), "trust": 20, "tokens": 4,
    "session": "s-1", "conversation": "c-1", "topic": "t1", "turn": 7, "document": "a.md", "position": 8,
    "structure": {"reply_at": 3}, "anchors": ({"path": "src/app.py", "symbol": "Client.get"},),
}  # fmt: skip
# And as another memory says it.
ELSE: dict[str, Any] = {
    "id": OTHER, "space": "t", "version": 3, "content": "We deploy on Mondays", "category": "rule", "key": "deploy",
    "kind": "memory", "type": "fact", "status": "active", "importance": "low", "author": "Bob", "reason": None,
    "source": None, "tags": (), "metadata": {}, "created_at": AT, "updated_at": AT, "event_at": None,
    "valid_from": None, "valid_to": None, "expires_at": None, "parent_id": None, "supersedes": None,
    "superseded_by": None, "source_class": "user", "derived_from": (), "trust": 100, "tokens": 5,
    "session": None, "conversation": None, "topic": None, "turn": None, "document": None, "position": None,
    "structure": {}, "anchors": (),
}  # fmt: skip
SPACE = SpaceRow(
    1, Space(name="s", epoch="e", seq=1, created_at=AT, settings=SpaceSettings(), generation=None), None, 0
)


def named(**what: Any) -> set[str]:
    """The names of the fields of which the registry says this."""
    return {field.name for field in FIELDS if all(getattr(field, name) == value for name, value in what.items())}


def changing(name: str) -> Memory:
    return Memory(**{**FULL, name: ELSE[name]})


def test_it_has_the_fields_of_a_memory_and_of_a_draft_each_once():
    assert len(FIELDS) == len(NAMES) and set(Memory.__struct_fields__) == NAMES
    assert set(Draft.__struct_fields__) == set(STATED)
    assert structs.asdict(Draft(content="x")) == {
        field.name: "x" if field.name == "content" else field.usual for field in FIELDS if field.stated
    }


def test_it_has_the_columns_of_the_table_in_their_places(database: Database):
    (found,) = database.read([Statement("SELECT name FROM pragma_table_xinfo('versions')")])
    of_the_row = {"id", "space_id", "born", "died", "checksum", "bytes", "place"}
    assert [name for (name,) in found if name not in of_the_row] == list(columns(FIELDS))
    assert [field.place for field in stored(FIELDS)] == list(range(len(FIELDS) - 1))  # the space is not in the row


def test_what_may_be_missing_is_what_may_be_null(database: Database):
    (found,) = database.read([Statement("SELECT name FROM pragma_table_info('versions') WHERE NOT \"notnull\"")])
    nullable = {name for (name,) in found}
    missing = {one.name for one in structs.fields(Memory) if type(None) in getattr(one.type, "__args__", ())}
    assert missing == {field.name for field in stored(FIELDS) if field.in_row in nullable}


@pytest.mark.parametrize("said", [FULL, ELSE])
def test_a_row_and_back_changes_no_field(said: dict[str, Any], database: Database):
    memory = Memory(**said)
    database.write(insert(SPACE, NewVersion(memory, b"hash", ()))[:1])
    (rows,) = database.read([Statement(f"SELECT {LAYOUT.selected}, v.content_hash FROM versions v")])
    assert LAYOUT.memory(rows[0], said["space"]) == memory
    assert rows[0][LAYOUT.width :] == (b"hash",)


def test_a_checksum_is_the_one_that_versions_were_stored_with():
    """Of a row that was written before there was a registry: another order of fields would condemn every database."""
    memory = Memory(**{
        **ELSE, "id": ID, "version": 1, "content": "We deploy on fridays at noon", "category": "Rules", "key": "k",
        "importance": "medium", "author": "Ann", "tags": ("a", "b"), "created_at": from_us(MADE),
        "updated_at": from_us(MADE), "tokens": 6,
    })  # fmt: skip
    assert LAYOUT.row(memory, b"h")["checksum"] == 1639949775879763071


@pytest.mark.parametrize("name", sorted(NAMES - {"space"}))
def test_a_checksum_covers_what_is_sealed(name: str):
    before, after = (LAYOUT.row(memory, b"")["checksum"] for memory in (Memory(**FULL), changing(name)))
    assert (before != after) == (name in named(sealed=True) | {"updated_at"})


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_diff_shows_what_the_registry_says(name: str):
    (field,) = (field for field in FIELDS if field.name == name)
    changed = [change.field.partition(".")[0] for change in differences(Memory(**FULL), changing(name))]
    assert changed == ([] if field.diff is None else [name])


def test_whatever_reads_the_registry_agrees_with_it():
    found = [change.field.partition(".")[0] for change in differences(Memory(**FULL), Memory(**ELSE))]
    assert found == [field.name for field in FIELDS if field.diff]
    repeated = {field.in_row for field in FIELDS if field.repeated} | {"category_folded", "author_folded"}
    assert set(bulk_replace.SAID.split(", ")) == repeated | {"content_hash"}
    assert set(CHOICES) == NAMES - named(choices=())
    assert set(msgspec.json.decode(memory_record(Memory(**FULL)))) == named(exported=True)
    assert set(LINKS) == named(form="id") - {"id"}
    assert set(STATED_TIMES) == named(form="time") & set(STATED)


def test_filters_know_the_fields_that_the_registry_says():
    filtered = NAMES - named(filter=None) | {part.name for part in PARTS}
    assert set(FILTERS) == filtered - {"metadata"} | {VALID_AT, ENTITY}
    for name in filtered - {"metadata"}:
        sql, _ = filters.where(Leaf(name, "exists", True))
        assert index_rows.field_values(SPACE, name, 1, 2).sql and sql
    numbers = {name for name in named(form="time") | {"importance", "trust", "turn", "position"}}
    assert filtered >= index_fields.NUMBERS == numbers


@pytest.mark.parametrize("name", sorted(STATED))
def test_words_of_a_caller_who_is_trusted_less_lower_the_source_class(name: str):
    caller = Caller(source_class="web")
    trusted: SourceClass = "user"
    before = Draft(**{one: FULL[one] for one in STATED} | {"source_class": trusted})
    after = structs.replace(before, **{name: ELSE[name]})
    assert (caller.changed(after, before).source_class == "web") == (name in named(worded=True))


@pytest.mark.parametrize("name", sorted(named(form="text", choices=()) & set(STATED)))
def test_a_text_that_says_anything_has_a_limit_and_is_screened(name: str):
    draft = {"content": "x", "category": "c"}
    with pytest.raises(InvalidInput) as refused:
        check_draft(Draft(**{**draft, name: "y" * (TEXTS[name] + 1)}), 0)
    assert [problem.path for problem in refused.value.problems] == [f"$.{name}"]
    assert name in {*screening.TEXTS, *screening.ADDRESS}


# A field that does not exist; `test_new_field.py` brings it everywhere.

MOOD = MemoryField(name="mood", place=len(FIELDS) - 1, folded=True, filter="any_case")
MORE = (*FIELDS, MOOD)


class Moody(Memory, frozen=True, kw_only=True):
    mood: str | None


def test_a_new_field_is_in_the_checksum_behind_the_others():
    assert covered(MORE) == (*COVERED, "mood")
    row = Layout(MORE, Moody).row(Moody(**FULL, mood="Calm"), b"")
    assert row["checksum"] == checksum(row, covered(MORE)) != LAYOUT.row(Memory(**FULL), b"")["checksum"]
    silent = Layout(MORE, Moody).row(Moody(**FULL, mood=None), b"")
    assert silent["checksum"] == LAYOUT.row(Memory(**FULL), b"")["checksum"]  # what is stored stays sound
