"""Views of a caller: each acts as that caller."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Forbidden, NotFound
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, add

RULES = Caller("rules", "rules")


def test_every_view_acts_as_its_caller(engine: Engine):
    (hidden,) = add(engine, "The harbour opens at five", category="notes")
    seen = engine.seen_by(RULES)
    seen.write.add(SPACE, [Draft(content="We deploy on Fridays")])
    assert [one.category for one in seen.read.list(SPACE).items] == ["rules"]
    assert [hit.memory.category for hit in seen.read.search(SPACE, Query(text="harbour fridays")).hits] == ["rules"]
    for call in (
        lambda: seen.read.get(SPACE, hidden),
        lambda: seen.read.history(SPACE, hidden),
        lambda: seen.write.delete(SPACE, hidden),
        lambda: seen.review.telemetry(SPACE, hidden),
    ):
        with pytest.raises(NotFound):
            call()
    for whole in (
        lambda: seen.timeline.fork(SPACE, "fork"),
        lambda: seen.read.export(SPACE, "test"),
        lambda: seen.write.begin_import(SPACE),
    ):
        with pytest.raises(Forbidden):
            whole()
