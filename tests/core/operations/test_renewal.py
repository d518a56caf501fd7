"""A database whose texts an older Muisti analysed is analysed again when it is opened."""

import pytest

from muisti.core.operations import renewal
from muisti.core.query.query import Query
from muisti.core.store.database import Rows, Statement
from muisti.core.store.sql import index_rows
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import Store, Stores

TEXTS = ("The café of Zoë", "plain words only", "京都の桜", "Αθήνα", "more plain words")
DERIVED = (
    Statement("SELECT version_id, number, analyzer, terms FROM passages ORDER BY 1, 2"),
    Statement("SELECT id, content_hash FROM versions ORDER BY 1"),
)
AGED = (
    Statement("UPDATE passages SET analyzer = '2'"),
    Statement(
        "UPDATE passages SET terms = x'0102030405060708' WHERE version_id IN "
        "(SELECT id FROM versions WHERE length(content) < length(CAST(content AS BLOB)))"
    ),
    Statement("UPDATE versions SET content_hash = zeroblob(16) WHERE content LIKE 'The caf%'"),
)


def derived(store: Store) -> list[Rows]:
    database = store.open()
    try:
        return database.read(DERIVED)
    finally:
        database.close()


@pytest.mark.parametrize("at_once", [1, 2, 200])
def test_an_older_analysis_is_renewed_when_a_database_is_opened(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, at_once: int
):
    monkeypatch.setattr(renewal, "AT_ONCE", at_once)
    store = stores()
    with open_engine(store) as engine:
        ids = add(engine, *TEXTS)
    new = derived(store)
    database = store.open()
    database.write(AGED)
    database.close()
    assert derived(store) != new
    with open_engine(store) as engine:
        for query, found in (("cafe zoe", ids[0]), ("桜", ids[2]), ("ΑΘΗΝΑ", ids[3])):
            answer = engine.owner.read.search(SPACE, Query(text=query, mode="keyword"))
            assert [hit.memory.id for hit in answer.hits] == [found]
    assert derived(store) == new


def test_what_an_interrupted_renewal_left_is_renewed_later(stores: Stores):
    store = stores()
    with open_engine(store) as engine:
        add(engine, *TEXTS)
    new = derived(store)
    database = store.open()
    database.write([*AGED, Statement("UPDATE passages SET analyzer = '3' WHERE version_id > 3")])
    renewal.renew(database)
    assert database.read([DERIVED[0]])[0][:3] == new[0][:3]
    assert database.read([index_rows.segments((1, 1, index_rows.FORMAT))]) == [[]]
    database.close()
