"""Other names of what a query names, as memories state them, are searched too where the caller sees the statement."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, add

BILLING = "Billing keeps its invoices in Postgres"


def contents(engine: Engine, text: str, caller: Caller | None = None, **asked: object) -> list[str]:
    calls = engine.owner if caller is None else engine.seen_by(caller)
    query = Query(text=text, mode="keyword", **asked)  # pyright: ignore[reportArgumentType]  # test shorthand
    return [hit.memory.content for hit in calls.read.search(SPACE, query).hits]


@pytest.mark.parametrize("stated", ["pg is short for Postgres", "we run Postgres (pg)", "pg means Postgres."])
def test_a_memory_is_found_by_another_name_of_what_it_names(engine: Engine, stated: str):
    add(engine, BILLING, "Shipping keeps its parcels in Mongo")
    assert contents(engine, "who chose pg") == []
    add(engine, stated, category="words")
    assert set(contents(engine, "who chose pg")) == {stated, BILLING}
    assert contents(engine, "who chose pg", match="all") == []


def test_names_are_those_that_the_caller_sees(engine: Engine):
    add(engine, BILLING, category="open")
    add(engine, "pg is short for Postgres", category="closed")
    assert contents(engine, "who chose pg", Caller(category="open")) == []
