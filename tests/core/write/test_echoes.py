"""The echo check flags a recent result that is added as a new memory, and nothing that says something else."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.collisions import Echo
from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import Flag, Written
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.views.memories import Memories
from muisti.core.write.echoes import CALLERS, KEPT, TEXT, RecentResults
from tests.core.fakes import SPACE, Clock, add

DEPLOYS = "The billing service is deployed on Fridays. It takes 12 minutes"
KEYS = "Ann keeps the keys in the second drawer"


@pytest.fixture
def known(engine: Engine) -> list[str]:
    """Memories that were just found."""
    ids = add(engine, DEPLOYS, KEYS, source_class="user")
    assert len(engine.owner.read.search(SPACE, Query(text="billing service keys")).hits) == 2
    return ids


def keep(memories: Memories, content: str, **fields: object) -> Written:
    return memories.write.add(SPACE, [Draft(content=content, **fields)], on_conflict="keep")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("text", "sources"), [
    (DEPLOYS, [0]),
    ("* it takes 12 MINUTES!", [0]),
    (f"> {KEYS}\n> {DEPLOYS}", [0, 1]),
    (f"Note to self: {KEYS}", [1]),
    (f"As you told me, {KEYS}, so remember that!", [1]),
    (f"Here is what I remember. {KEYS}. I recall that {DEPLOYS}", [0, 1]),
])  # fmt: skip
def test_an_echo_is_flagged_and_derived_from_what_it_repeats(
    engine: Engine, known: list[str], text: str, sources: list[int]
):
    written = keep(engine.owner, text, source_class="model")
    ids = tuple(known[place] for place in sources)
    assert [(flag.code, flag.path, set(flag.ids)) for flag in written.flags] == [("echo", "$.content", set(ids))]
    assert set(written.memories[0].derived_from) == set(ids)
    assert written.memories[0].trust == 60


@pytest.mark.parametrize("text", [
    "It takes -12 minutes",
    "The billing service is not deployed on Fridays. It takes 12 minutes",
    f"{KEYS}. She gave one to Bob",
    f"Note to self: it is not true that {KEYS}",
    f"Since May {KEYS}",
    f"{KEYS} of Bob",
    "Note to self: remember that",
    "Note to self: 12 minutes",
    "keys",
])  # fmt: skip
def test_what_says_anything_else_is_none(engine: Engine, known: list[str], text: str):
    assert keep(engine.owner, text).flags == ()


def test_a_space_may_refuse_echoes_or_let_them_be(engine: Engine, known: list[str]):
    engine.spaces.set_policy(SPACE, {"echoes": "refuse"})
    before = engine.spaces.get(SPACE).seq
    with pytest.raises(Echo) as caught:
        engine.owner.write.add(SPACE, [Draft(content="x"), Draft(content=KEYS)], on_conflict="keep", path="$.memories")
    assert (caught.value.ids, caught.value.path) == ((known[1],), "$.memories[1]")
    with pytest.raises(Echo):
        engine.owner.write.put(SPACE, Draft(content=KEYS, category="c", key="k"))
    assert engine.spaces.get(SPACE).seq == before
    engine.spaces.set_policy(SPACE, {"echoes": "allow"})
    assert keep(engine.owner, KEYS).flags == ()
    with pytest.raises(InvalidInput, match="refuse, flag, allow"):
        engine.spaces.set_policy(SPACE, {"echoes": "redact"})


def test_who_says_where_it_comes_from_makes_no_echo(engine: Engine, known: list[str]):
    engine.spaces.set_policy(SPACE, {"echoes": "refuse"})
    assert keep(engine.owner, KEYS, derived_from=(known[1].upper(),)).memories[0].derived_from == (known[1],)
    assert engine.owner.write.add(SPACE, [Draft(content=KEYS)], on_conflict="supersede").memories
    assert engine.owner.write.update(SPACE, known[0], {"content": KEYS}).flags == ()


def test_only_who_found_it_and_only_for_a_while(engine: Engine, clock: Clock, known: list[str]):
    assert keep(engine.seen_by(Caller(actor="somebody else")), KEYS).flags == ()
    clock.pass_days(0.02)
    assert keep(engine.owner, KEYS).flags == ()


def test_what_was_deleted_does_not_come_back_unnoticed_and_what_was_erased_is_not_remembered(
    engine: Engine, known: list[str]
):
    engine.owner.write.delete(SPACE, known[1])
    written = keep(engine.owner, KEYS)
    assert written.flags == (Flag(code="echo", path="$.content", ids=(known[1],)),)
    assert written.memories[0].derived_from == ()
    engine.eraser.memory(SPACE, known[1], Caller())
    assert keep(engine.owner, KEYS).flags == ()


def test_what_is_remembered_is_bounded(engine: Engine, known: list[str]):
    first, second = (engine.owner.read.get(SPACE, one).memory for one in known)
    served = RecentResults()
    served.note("first", "e", [first], 0)
    for number in range(CALLERS):
        served.note(str(number), "e", [first], 0)
    assert served.echoed("first", "e", DEPLOYS, 0) == ()
    assert served.echoed("9", "e", DEPLOYS, 0) == (first.id,)
    assert served.echoed("9", "e", f"{DEPLOYS}. " * TEXT, 0) == ()
    served.note("9", "e", [second] * KEPT, 0)
    assert served.echoed("9", "e", DEPLOYS, 0) == ()
