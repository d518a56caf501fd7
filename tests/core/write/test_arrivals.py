"""Whatever makes text current in a space passes its policy and its quota, however it comes."""

from collections.abc import Callable, Iterator

import msgspec
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.collisions import Echo
from muisti.core.model.errors import QuotaExceeded, SensitiveContent
from muisti.core.model.outcomes import Flag, Undo
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.values import Draft, Memory
from muisti.core.query.query import Query
from muisti.core.views.memories import Memories
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import Stores

SECRET = "github_pat_11AAAAAAA0abcdefghijkl"
TEXT = f"the token of the deploy is {SECRET}"
CLEAN = "the token of the deploy is [redacted: github-token]"
FREE = Caller(allows=frozenset(("secrets",)))

FILE: list[dict[str, object]] = [
    {"type": "muisti", "format": 1},
    *(
        {"type": "memory", "memory": {"id": f"0197a3c0-5f4e-7000-8000-{number:012d}", "content": f"number {number}"}}
        for number in range(5)
    ),
    {"type": "end", "lines": 6},
]

Again = Callable[[Memories], tuple[Flag, ...]]


@pytest.fixture
def engine(stores: Stores) -> Iterator[Engine]:
    with open_engine(stores()) as opened:
        yield opened


def merged(engine: Engine) -> tuple[Again, str]:
    engine.spaces.create("other", CONTENT_ONLY)
    engine.spaces.set_policy("other", {"secrets": "allow"})
    made = engine.owner.write.add(
        "other", [Draft(content="no harm"), Draft(content=TEXT, tags=("a",))], on_conflict="keep"
    )
    return lambda memories: memories.timeline.merge("other", SPACE).flags, made.memories[1].id


def rolled_back(engine: Engine) -> tuple[Again, str]:
    memory = stored(engine)
    engine.owner.timeline.create_checkpoint(SPACE, "before")
    engine.owner.write.update(SPACE, memory.id, {"content": "nothing"})
    return lambda memories: memories.timeline.roll_back(SPACE, "before").written.flags, memory.id


def revived(engine: Engine) -> tuple[Again, str]:
    memory = stored(engine)
    engine.owner.timeline.create_checkpoint(SPACE, "before")
    engine.owner.write.delete(SPACE, memory.id)
    return lambda memories: memories.timeline.roll_back(SPACE, "before").written.flags, memory.id


def undone(engine: Engine) -> tuple[Again, str]:
    memory = stored(engine)
    engine.owner.write.delete(SPACE, memory.id)
    return lambda memories: memories.write.undo(SPACE, Undo(author="Ann")).flags, memory.id


def restored(engine: Engine) -> tuple[Again, str]:
    memory = stored(engine)
    engine.owner.write.update(SPACE, memory.id, {"content": "nothing"})
    return lambda memories: memories.write.restore(SPACE, memory.id).flags, ""


def stored(engine: Engine) -> Memory:
    add(engine, "no harm")
    made = engine.seen_by(FREE).write.add(SPACE, [Draft(content=TEXT, author="Ann", tags=("a",))], on_conflict="keep")
    return made.memories[0]


WAYS = pytest.mark.parametrize("way", [merged, rolled_back, revived, undone, restored])


def contents(engine: Engine) -> set[str]:
    return {memory.content for memory in engine.owner.read.list(SPACE).items}


def ruled(engine: Engine, **policy: str) -> None:
    engine.spaces.set_policy(SPACE, policy)


@WAYS
def test_what_the_policy_refuses_is_refused_and_named(engine: Engine, way: Callable[[Engine], tuple[Again, str]]):
    again, named = way(engine)
    ruled(engine, secrets="refuse")
    before, seq = contents(engine), engine.owner.read.stats(SPACE).seq
    with pytest.raises(SensitiveContent) as refused:
        again(engine.owner)
    (problem,) = refused.value.problems
    assert problem.path == (f"$.memories[{named}].content" if named else "$.content")
    assert SECRET not in str(refused.value)
    assert (contents(engine), engine.owner.read.stats(SPACE).seq) == (before, seq)
    assert again(engine.seen_by(FREE)) == ()  # an administrator may, and then all is as it was
    assert TEXT in contents(engine)


@WAYS
def test_what_the_policy_redacts_is_redacted_and_flagged(engine: Engine, way: Callable[[Engine], tuple[Again, str]]):
    again, named = way(engine)
    ruled(engine, secrets="redact")
    (flag,) = again(engine.owner)
    path = f"$.memories[{named}].content" if named else "$.content"
    assert (flag.code, flag.path, flag.kind) == ("redacted", path, "github-token")
    assert CLEAN in contents(engine) and TEXT not in contents(engine)
    found = engine.owner.read.search(SPACE, Query(text="token of the deploy")).hits
    assert found[0].memory.content == CLEAN and found[0].memory.tags == ("a",)
    assert not engine.owner.read.search(SPACE, Query(text=SECRET.rpartition("_")[2], mode="keyword")).hits
    assert {space.name for space in engine.spaces.list()} <= {SPACE, "default", "other"}


@WAYS
def test_what_the_policy_allows_comes_as_it_was(engine: Engine, way: Callable[[Engine], tuple[Again, str]]):
    again, _ = way(engine)
    ruled(engine, secrets="allow")
    assert again(engine.owner) == ()
    assert TEXT in contents(engine)


@pytest.mark.parametrize("policy", ["refuse", "redact"])
def test_text_that_is_current_stays_when_the_rest_comes_back(engine: Engine, policy: str):
    memory = stored(engine)
    engine.owner.timeline.create_checkpoint(SPACE, "before")
    engine.owner.write.update(SPACE, memory.id, {"reason": "why"})
    ruled(engine, secrets=policy)
    assert engine.owner.timeline.roll_back(SPACE, "before").written.flags == ()
    found = engine.owner.read.get(SPACE, memory.id).memory
    assert (found.content, found.reason) == (TEXT, None)


@pytest.mark.parametrize("policy", ["refuse", "flag", "allow"])
def test_a_merge_brings_no_echo_past_the_policy(engine: Engine, policy: str):
    ruled(engine, echoes=policy)
    (known,) = add(engine, "The harbour opens at five.", source_class="web")
    agent = engine.seen_by(Caller("agent"))
    agent.read.search(SPACE, Query(text="harbour"))
    engine.spaces.create("other", CONTENT_ONLY)
    engine.owner.write.add(
        "other", [Draft(content="- The harbour opens at five!", source_class="user")], on_conflict="keep"
    )
    if policy == "refuse":
        with pytest.raises(Echo):
            agent.timeline.merge("other", SPACE)
        assert len(contents(engine)) == 1
        return
    flags = agent.timeline.merge("other", SPACE).flags
    (new,) = (one for one in engine.owner.read.list(SPACE).items if one.id != known)
    if policy == "flag":
        assert [(flag.code, flag.ids) for flag in flags] == [("echo", (known,)), ("trust_lowered", (known,))]
        assert (new.derived_from, new.trust) == ((known,), 20)
    else:
        assert (flags, new.derived_from, new.trust) == ((), (), 100)


def test_a_redacted_merge_is_not_taken_for_a_change_when_it_is_repeated(engine: Engine):
    again, _ = merged(engine)
    ruled(engine, secrets="redact")
    again(engine.owner)
    assert engine.owner.timeline.merge("other", SPACE).tally == engine.owner.timeline.merge("other", SPACE).tally
    assert engine.owner.timeline.merge("other", SPACE).memories == ()
    assert CLEAN in contents(engine)


def test_a_fork_holds_no_more_than_its_quota(engine: Engine):
    add(engine, "one", "two", "three")
    engine.spaces.create("copy")
    engine.spaces.set_quota("copy", {"memories": 2})
    engine.spaces.delete("copy")
    with pytest.raises(QuotaExceeded):
        engine.owner.timeline.fork(SPACE, "copy")
    assert "copy" not in {space.name for space in engine.spaces.list()}


def test_an_undo_makes_nothing_larger_than_the_quota(engine: Engine):
    (memory,) = add(engine, "long " * 100, author="Ann")
    engine.owner.write.update(SPACE, memory, {"content": "short"})
    engine.spaces.set_quota(SPACE, {"bytes": 50})
    with pytest.raises(QuotaExceeded):
        engine.owner.write.undo(SPACE, Undo(author="Ann"))
    assert contents(engine) == {"short"}


def test_a_file_that_does_not_fit_the_quota_leaves_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    """Also when it moves in several steps, as on a remote database."""
    monkeypatch.setattr("muisti.core.operations.transfer.importing.moving.REMOTE_MAX", 2)
    add(engine, "one")
    engine.spaces.create("full", CONTENT_ONLY)
    lines = [msgspec.json.encode(line) for line in FILE]
    engine.spaces.set_quota("full", {"memories": 4})
    incoming = engine.owner.write.begin_import("full", atomic=False)
    incoming.take(lines)
    with pytest.raises(QuotaExceeded):
        incoming.finish()
    incoming.abandon()
    assert engine.owner.read.stats("full").memories == 0
