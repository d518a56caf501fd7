"""Places in the hierarchy of conversations: Python and SQL agree, and each has one memory."""

from itertools import product

import pytest

from muisti.core.model.places import place_of
from muisti.core.model.values import Draft, Kind
from muisti.core.store.database import Database, Refusal, Refused, Statement

INSERT = (
    "INSERT INTO versions (space_id, memory_id, version, born, kind, category_folded, content, content_hash, type, "
    "status, importance, tags, metadata, created_at, updated_at, tokens, "
    "session, conversation, topic, turn, structure) "
    "VALUES (1, ?, 1, ?, ?, ?, 'x', x'', 'fact', 'active', 1, '[]', '{}', 0, 0, 1, ?, ?, ?, ?, ?)"
)


def row(number: int, draft: Draft, category: str | None = None) -> Statement:
    structure = '{"of":"topic"}' if draft.structure else "{}"
    names = (draft.session, draft.conversation, draft.topic, draft.turn, structure)
    return Statement(INSERT, (number.to_bytes(16, "big"), number, draft.kind, category, *names))


def drafts() -> list[Draft]:
    kinds: tuple[Kind, ...] = ("memory", "chunk", "exchange", "session", "conversation", "topic", "summary")
    each = product(kinds, (None, "s"), (None, "c-1"), (None, "t1"), (None, 0, 12), ({}, {"of": "topic"}))
    return [
        Draft(content="x", kind=kind, session=session, conversation=talk, topic=topic, turn=turn, structure=structure)
        for kind, session, talk, topic, turn, structure in each
    ]


def test_python_and_sql_agree_on_places(database: Database):
    made = drafts()
    # Each in a category of its own, since many of them have the same place.
    database.write([row(number, draft, str(number)) for number, draft in enumerate(made)])
    (found,) = database.read([Statement("SELECT place FROM versions ORDER BY id")])
    assert [place for (place,) in found] == [place_of(draft) for draft in made]


@pytest.mark.parametrize("draft", [one for one in drafts() if place_of(one)][::7], ids=str)
def test_a_category_has_one_current_memory_at_a_place(draft: Draft, database: Database):
    database.write([row(1, draft), row(2, draft, "ann"), row(3, draft, "bob")])
    with pytest.raises(Refused) as refused:
        database.write([row(4, draft, "bob")])
    assert refused.value.code is Refusal.CONSTRAINT
    database.write([Statement("UPDATE versions SET died = 9 WHERE memory_id = ?", ((3).to_bytes(16, "big"),))])
    database.write([row(4, draft, "bob")])


def test_objects_are_no_memories_for_quotas(database: Database):
    made = drafts()
    plain = sum(draft.kind in ("memory", "chunk", "exchange") for draft in made)

    def counted() -> object:
        (rows,) = database.read([Statement("SELECT memories, bytes > 0 FROM spaces")])
        return rows[0]

    database.write([row(number, draft, str(number)) for number, draft in enumerate(made)])
    assert counted() == (plain, 1)
    database.write([Statement("UPDATE versions SET died = 9 WHERE id % 2 = 0")])
    (left,) = database.read([
        Statement("SELECT count(*) FROM versions WHERE died IS NULL AND kind IN ('memory', 'chunk', 'exchange')")
    ])  # fmt: skip
    assert counted() == (left[0][0], 1)
    database.write([Statement("DELETE FROM versions")])
    assert counted() == (0, 0)
