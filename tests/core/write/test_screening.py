"""The policy of a space holds for everything that is written to it, on both stores."""

import json
from typing import Any

import pytest

from muisti.core.engine import Engine
from muisti.core.model.errors import SensitiveContent
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Draft, RequestKey
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, Clock, open_engine
from tests.stores import Stores

SECRET = "gh" + "p_a8Kd02LmQ7xZp4Rt9VbN3cYw6HsJ1gFu5EoT"
EMAIL = "ann@firma.fi"
FIELDS: dict[str, dict[str, Any]] = {
    "$.content": {"content": f"the token {SECRET} is new"},
    "$.reason": {"reason": SECRET},
    "$.source": {"source": SECRET},
    "$.author": {"author": SECRET},
    "$.tags[1]": {"tags": ("ci", SECRET)},
    "$.metadata.ci.tokens[1]": {"metadata": {"ci": {"tokens": ["none", SECRET]}}},
}
NAMES: dict[str, dict[str, Any]] = {
    "$.category": {"category": SECRET},
    "$.key": {"category": "c", "key": SECRET},
    "$.metadata": {"metadata": {SECRET: 1}},
}


def draft(**fields: Any) -> Draft:
    return Draft(**{"content": "Deploys need a token", **fields})


def refusal(engine: Engine, given: Draft) -> SensitiveContent:
    before = engine.owner.read.stats(SPACE).changes
    with pytest.raises(SensitiveContent) as caught:
        engine.owner.write.add(SPACE, [given])
    assert engine.owner.read.stats(SPACE).changes == before
    return caught.value


@pytest.mark.parametrize("path", [*FIELDS, *NAMES])
def test_a_secret_is_refused_by_field_and_kind_and_never_shown(engine: Engine, path: str):
    """And in a name also where others are redacted: two would become one."""
    if path in NAMES:
        engine.spaces.set_policy(SPACE, {"secrets": "redact"})
    error = refusal(engine, draft(**{**FIELDS, **NAMES}[path]))
    assert [problem.path for problem in error.problems] == [path]
    assert "github-token" in str(error) and SECRET not in str(error) + repr(error.problems)


@pytest.mark.parametrize("path", FIELDS)
def test_a_secret_is_taken_out_and_the_answer_says_so(engine: Engine, path: str):
    engine.spaces.set_policy(SPACE, {"secrets": "redact"})
    written = engine.owner.write.add(SPACE, [draft(**FIELDS[path])])
    assert written.flags == (Flag(code="redacted", path=path, kind="github-token"),)
    stored = engine.owner.read.get(SPACE, written.memories[0].id).memory
    assert stored == written.memories[0]
    told = json.dumps([stored.content, stored.reason, stored.source, stored.author, stored.tags, stored.metadata])
    assert SECRET not in told and "[redacted: github-token]" in told
    assert not engine.owner.read.search(SPACE, Query(text=SECRET, mode="keyword")).hits


def test_personal_data_is_stored_unless_the_space_says_otherwise(engine: Engine):
    given = draft(content=f"Write to {EMAIL}", metadata={"card": 4111111111111111, "phone": "+358 40 123 4567"})
    engine.owner.write.add(SPACE, [given], on_conflict="keep")
    engine.spaces.set_policy(SPACE, {"personal_data": "redact"})
    written = engine.owner.write.add(SPACE, [given], on_conflict="keep")
    assert written.memories[0].content == "Write to [redacted: email]"
    assert written.memories[0].metadata == {"card": "[redacted: card]", "phone": "[redacted: phone]"}
    engine.spaces.set_policy(SPACE, {"personal_data": "refuse"})
    assert [one.path for one in refusal(engine, given).problems] == ["$.content", "$.metadata.card", "$.metadata.phone"]
    engine.spaces.set_policy(SPACE, {"personal_data": None})
    assert engine.spaces.get(SPACE).policy.personal_data == "allow"


def test_every_kind_of_write_is_looked_at(engine: Engine):
    plain = draft(category="c", key="k")
    memory = engine.owner.write.add(SPACE, [plain]).memories[0]
    bad = draft(content=SECRET, category="c", key="k")
    for write in (
        lambda: engine.owner.write.update(SPACE, memory.id, {"content": SECRET}),
        lambda: engine.owner.write.put(SPACE, bad),
        lambda: engine.owner.write.supersede(SPACE, memory.id, bad),
        lambda: engine.owner.write.add(SPACE, [plain, bad], on_conflict="keep", path="$.memories"),
        lambda: engine.owner.write.add(SPACE, [bad], on_conflict="supersede"),
    ):
        with pytest.raises(SensitiveContent):
            write()
    assert engine.owner.read.get(SPACE, memory.id).memory == memory
    engine.spaces.set_policy(SPACE, {"secrets": "redact"})
    for write in (
        lambda: engine.owner.write.update(SPACE, memory.id, {"reason": SECRET}),
        lambda: engine.owner.write.put(SPACE, bad),
        lambda: engine.owner.write.supersede(SPACE, memory.id, bad),
    ):
        assert [one.code for one in write().flags] == ["redacted"]


def test_a_change_is_judged_by_what_it_changes(engine: Engine):
    """Content that the space accepted under an earlier policy does not block a change of other fields."""
    engine.spaces.set_policy(SPACE, {"secrets": "allow"})
    memory = engine.owner.write.add(SPACE, [draft(content=SECRET, reason="old")]).memories[0]
    engine.spaces.set_policy(SPACE, {"secrets": "refuse"})
    assert engine.owner.write.update(SPACE, memory.id, {"importance": "high"}).memories[0].content == SECRET
    with pytest.raises(SensitiveContent):
        engine.owner.write.update(SPACE, memory.id, {"reason": SECRET})


def test_a_repeated_request_tells_the_same_flags_and_a_redacted_change_that_changes_nothing_makes_no_version(
    engine: Engine,
):
    engine.spaces.set_policy(SPACE, {"secrets": "redact"})
    key = RequestKey("test", "once", b"x" * 32)
    first, second = (engine.owner.write.add(SPACE, [draft(reason=SECRET)], request=key) for _ in range(2))
    assert second.replayed and first.flags == second.flags != ()
    again = engine.owner.write.update(SPACE, first.memories[0].id, {"reason": SECRET})
    assert (again.memories[0].version, [one.path for one in again.flags]) == (1, ["$.reason"])


def test_a_policy_of_two_processes_holds_at_once_for_writers_that_know_the_space_as_it_was(
    stores: Stores, clock: Clock
):
    """`keep` adds with the cached row of a space, without reading it again."""
    store = stores()
    with open_engine(store, clock=clock) as one, open_engine(store, clock=clock) as other:
        one.spaces.set_policy(SPACE, {"secrets": "allow"})
        for number in range(3):
            one.owner.write.add(SPACE, [draft(content=f"{SECRET} {number}")], on_conflict="keep")
        other.spaces.set_policy(SPACE, {"secrets": "refuse"})
        with pytest.raises(SensitiveContent):
            one.owner.write.add(SPACE, [draft(content=f"{SECRET} again")], on_conflict="keep")
        one.spaces.set_policy(SPACE, {"personal_data": "refuse"})
        policy = other.spaces.get(SPACE).policy
        assert (policy.secrets, policy.personal_data) == ("refuse", "refuse")


def test_what_may_be_a_secret_is_stored_and_flagged(engine: Engine):
    maybe = draft(content="the passphrase is 'opensesame'")
    for policy in ("refuse", "redact"):
        engine.spaces.set_policy(SPACE, {"secrets": policy})
        written = engine.owner.write.add(SPACE, [maybe], on_conflict="keep")
        assert written.flags == (Flag(code="suspected", path="$.content", kind="stated-secret"),)
        assert written.memories[0].content == maybe.content
    engine.spaces.set_policy(SPACE, {"secrets": "allow"})
    assert engine.owner.write.add(SPACE, [maybe], on_conflict="keep").flags == ()


def test_a_refused_batch_names_each_refused_memory_to_a_hundred_and_how_to_store_the_rest(engine: Engine):
    good, bad = draft(content="Tea at five"), draft(content=f"the token is {SECRET}")
    with pytest.raises(SensitiveContent) as caught:
        engine.owner.write.add(SPACE, [good, bad, good, bad], path="$.memories")
    assert [problem.path for problem in caught.value.problems] == ["$.memories[1].content", "$.memories[3].content"]
    told = str(caught.value)
    assert "2 of 4 memories contain nothing of the kind" in told and "atomic=false" in told and "--each" in told
    assert SECRET not in told
    with pytest.raises(SensitiveContent) as caught:
        engine.owner.write.add(SPACE, [bad] * 130, path="$.memories")
    assert len(caught.value.problems) == 100 and "and 30 more" in str(caught.value)
