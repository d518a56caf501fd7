"""Callers: what one sees of refusals, and what becomes of a draft that it states."""

from typing import get_args

import pytest

from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.choices import SourceClass
from muisti.core.model.collisions import Duplicate
from muisti.core.model.errors import Forbidden
from muisti.core.model.outcomes import Likeness
from muisti.core.model.values import TRUST, Draft
from muisti.core.query.filters import And, Leaf

pytestmark = pytest.mark.one_store

CLASSES: tuple[SourceClass, ...] = get_args(SourceClass)
RULES, ADDS = Caller("rules", "Rules"), Caller("adds", reads=False)


def like(category: str | None) -> Likeness:
    return Likeness(id="1", kind="duplicate", similarity=1.0, differs=(), content="x", category=category, key=None)


@pytest.mark.parametrize(
    ("caller", "shown"), [(OWNER, ["rules", "notes", None]), (RULES, ["rules"]), (ADDS, [])], ids=lambda one: ""
)
def test_a_refusal_names_only_memories_that_the_caller_may_see(caller: Caller, shown: list[str | None]):
    told = caller.redacted(Duplicate((like("rules"), like("notes"), like(None)), 0))
    assert [one.category for one in told.found] == shown
    assert "rules" not in str(caller.redacted(Duplicate((like("notes"),), 0))) or caller is OWNER
    OWNER.check_reads("")
    with pytest.raises(Forbidden, match="leave key out"):
        ADDS.check_reads("leave key out")


def test_reads_and_drafts_of_a_bound_caller_are_limited_to_its_category():
    own, other = Leaf("category", "eq", "rules"), Leaf("key", "eq", "k")
    assert (RULES.only(None), RULES.only(other)) == (own, And((own, other)))
    assert OWNER.only(other) is other and OWNER.only(None) is None
    assert RULES.own(Draft(content="x")).category == RULES.own(Draft(content="x", category="RULES")).category == "Rules"
    with pytest.raises(Forbidden):
        RULES.own(Draft(content="x", category="notes"))


@pytest.mark.parametrize("own", CLASSES)
@pytest.mark.parametrize("claimed", CLASSES)
def test_nobody_states_more_trust_than_the_key_gives(own: SourceClass, claimed: SourceClass):
    caller, draft = Caller(source_class=own), Draft(content="x", source_class=claimed)
    if claimed == "unknown":
        assert caller.own(draft).source_class == own
    elif TRUST[claimed] > TRUST[own]:
        with pytest.raises(Forbidden):
            caller.own(draft)
    else:
        assert caller.own(draft) == draft
    assert OWNER.own(draft) == draft


@pytest.mark.parametrize("own", CLASSES)
@pytest.mark.parametrize("before", CLASSES)
def test_no_change_makes_a_memory_more_trusted(own: SourceClass, before: SourceClass):
    caller, old = Caller(source_class=own), Draft(content="x", source_class=before)
    said = caller.changed(Draft(content="y", source_class=before), old)
    assert TRUST[said.source_class] <= min(TRUST[own], TRUST[before])
    assert caller.changed(Draft(content="x", importance="high", source_class=before), old).source_class == before
