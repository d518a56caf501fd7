"""A memory is named by its id or by its category and key, and both reach the same one in every call."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.counts import Telemetry
from muisti.core.model.errors import InvalidInput, NotFound, Stale
from muisti.core.model.outcomes import Written
from muisti.core.model.times import from_us
from muisti.core.model.values import Address, Draft, Found, History, Name, RequestKey
from muisti.core.operations.erasure.eraser import Eraser
from muisti.core.query.points import AsOf
from muisti.core.views.memories import Memories, Review, Timeline
from muisti.core.views.read import Read
from muisti.core.views.write import Write
from tests.core.fakes import SPACE, Clock, add

HERE = Address("Rules", "deploy")  # the category compares without case
CALLS: dict[str, Callable[[Memories, Name], Any]] = {
    "get": lambda memories, name: memories.read.get(SPACE, name, no_touch=True),
    "telemetry": lambda memories, name: memories.review.telemetry(SPACE, name),
    "history": lambda memories, name: memories.read.history(SPACE, name),
    "update": lambda memories, name: memories.write.update(SPACE, name, {"author": "Ann"}),
    "supersede": lambda memories, name: memories.write.supersede(SPACE, name, Draft(content="we deploy daily")),
    "restore": lambda memories, name: memories.write.restore(SPACE, name, 1),
    "delete": lambda memories, name: memories.write.delete(SPACE, name),
    "give_feedback": lambda memories, name: memories.review.give_feedback(SPACE, name, "useful"),
}
VIEWS = (Read, Write, Timeline, Review)
PAST = ("history", "restore")  # calls that reach what is no longer there


def test_every_call_that_takes_an_id_takes_an_address():
    methods = [one for view in VIEWS for one in inspect.getmembers(view, inspect.isfunction)]
    assert {name for name, call in methods if not name.startswith("_") and Name in annotated(call)} == {*CALLS}
    for owner in (*VIEWS, Eraser):
        for name, call in inspect.getmembers(owner, inspect.isfunction):
            assert "memory_id" not in inspect.signature(call).parameters, (owner, name)


def annotated(call: Any) -> list[Any]:
    return [one.annotation for one in inspect.signature(call).parameters.values()]


def reached(call: Callable[[], Any]) -> Any:
    """The memories that a call reached, in which versions; or how it was refused."""
    try:
        answer = call()
    except NotFound:
        return "not found"
    except InvalidInput as error:
        return str(error)
    if isinstance(answer, Found):
        return answer.memory.id, answer.memory.version
    if isinstance(answer, History):
        return [(one.memory.id, one.memory.version) for one in answer.versions]
    if isinstance(answer, Telemetry):
        return answer.memory_id, answer.useful
    assert isinstance(answer, Written)
    return [(one.supersedes or one.id, one.version) for one in answer.memories]


def put_there(engine: Engine, clock: Clock, state: str) -> str:
    """Bring a memory that has or had the address into a state."""
    expiry: dict[str, Any] = {"expires_at": from_us(clock.at + 86_400_000_000)} if state == "expired" else {}
    (id_,) = add(engine, "we deploy on fridays", category="rules", key="deploy", **expiry)
    engine.owner.write.update(SPACE, id_, {"author": "Bob"})
    if state == "expired":
        clock.pass_days(2)
    elif state == "superseded":
        engine.owner.write.supersede(SPACE, id_, Draft(content="we deploy on mondays", category="rules", key="other"))
    elif state == "deleted":
        engine.owner.write.delete(SPACE, id_)
    elif state == "moved":
        engine.owner.write.update(SPACE, id_, {"key": "elsewhere"})
    elif state == "followed":
        engine.owner.write.delete(SPACE, id_)
        (id_,) = add(engine, "we deploy on sundays", category="rules", key="deploy")
    return id_


@pytest.mark.parametrize("state", ["current", "expired", "superseded", "deleted", "moved", "followed"])
@pytest.mark.parametrize("verb", CALLS)
def test_an_address_reaches_what_its_id_reaches(engine: Engine, clock: Clock, verb: str, state: str):
    id_ = put_there(engine, clock, state)
    memories = engine.seen_by(Caller(), dry_run=True)
    by_address = reached(lambda: CALLS[verb](memories, HERE))
    if state == "moved" and verb not in PAST:
        assert by_address == "not found"  # the id goes with the memory, the address does not
    else:
        assert by_address == reached(lambda: CALLS[verb](memories, id_))


@pytest.mark.parametrize("verb", CALLS)
def test_what_a_caller_may_not_see_is_not_at_an_address(engine: Engine, verb: str):
    """The one who sees `rules` alone asks for what is elsewhere, and for what was in `rules` and is no longer."""
    (older,) = add(engine, "we deploy on fridays", category="rules", key="deploy")
    engine.owner.write.delete(SPACE, older)
    (newer,) = add(engine, "we deploy on mondays", category="rules", key="deploy")
    add(engine, "cats sleep", category="pets", key="cat")
    engine.owner.write.update(SPACE, newer, {"category": "secret"})
    memories = engine.seen_by(Caller(category="rules"), dry_run=True)
    for hidden in (Address("pets", "cat"), Address("secret", "deploy"), Address("pets", "none")):
        assert reached(lambda name=hidden: CALLS[verb](memories, name)) == "not found"
    theirs = reached(lambda: CALLS[verb](memories, HERE))
    assert theirs == reached(lambda: CALLS[verb](memories, older))  # the newer one never was there


def test_an_address_keeps_if_match_and_repeated_requests(engine: Engine):
    (id_,) = add(engine, "we deploy on fridays", category="rules", key="deploy")
    key = RequestKey("test", "k", b"1")
    first = engine.owner.write.update(SPACE, HERE, {"author": "Ann"}, if_match={f'"{id_}.1"'}, request=key)
    again = engine.owner.write.update(SPACE, HERE, {"author": "Ann"}, if_match={f'"{id_}.1"'}, request=key)
    assert again.replayed
    assert again.memories == first.memories
    for call in (
        lambda: engine.owner.write.update(SPACE, HERE, {"author": "Cy"}, if_match={f'"{id_}.1"'}),
        lambda: engine.owner.write.supersede(SPACE, HERE, Draft(content="x"), if_match={f'"{id_}.1"'}),
        lambda: engine.owner.write.restore(SPACE, HERE, if_match={f'"{id_}.1"'}),
        lambda: engine.owner.write.delete(SPACE, HERE, if_match={f'"{id_}.1"'}),
    ):
        with pytest.raises(Stale):
            call()
    assert engine.owner.read.get(SPACE, HERE).memory.version == 2
    assert engine.owner.read.get(SPACE, HERE, as_of=AsOf(number=1)).memory.version == 1


def test_a_purge_of_an_address_takes_what_is_there_and_never_what_was(engine: Engine):
    (older,) = add(engine, "we deploy on fridays", category="rules", key="deploy")
    engine.owner.write.delete(SPACE, older)
    (newer,) = add(engine, "we deploy on mondays", category="rules", key="deploy")
    with pytest.raises(NotFound):
        engine.eraser.memory(SPACE, HERE, Caller(category="pets"))
    assert engine.eraser.memory(SPACE, HERE, Caller()).what == {"memory": newer}
    with pytest.raises(NotFound):  # a repetition must not erase the memory before
        engine.eraser.memory(SPACE, HERE, Caller())
    assert [one.memory.id for one in engine.owner.read.history(SPACE, HERE).versions] == [older]
