"""Views of a caller: each acts as that caller, and a dry run leaves nothing behind."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Forbidden, NotFound
from muisti.core.model.outcomes import Undo
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
    for whole in (lambda: seen.timeline.fork(SPACE, "fork"), lambda: seen.read.export(SPACE, "test")):
        with pytest.raises(Forbidden):
            whole()


def test_a_dry_run_tells_its_plan_and_leaves_nothing(engine: Engine):
    (one,) = add(engine, "We deploy on Fridays")
    before = engine.spaces.get(SPACE).at
    trying = engine.seen_by(OWNER, dry_run=True)
    for done in (
        trying.write.add(SPACE, [Draft(content="The harbour opens at five")]),
        trying.write.update(SPACE, one, {"importance": "high"}),
        trying.write.delete(SPACE, one),
        trying.write.undo(SPACE, Undo(last=1)),
    ):
        assert done.plan is not None
    assert engine.spaces.get(SPACE).at == before
    assert [one.content for one in engine.owner.read.list(SPACE).items] == ["We deploy on Fridays"]
