"""A canary in every derived text, and an erasure by each selector: no byte of it is left, and others keep theirs."""

import gc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.conversations import Change, ObjectName, Turn
from muisti.core.model.erasures import Erasure
from muisti.core.model.times import to_us
from muisti.core.model.values import Draft, RequestKey
from muisti.core.model.working import Entry
from muisti.core.query.filters import parse
from muisti.core.query.subject import Subject
from muisti.core.views.conversations import Stream
from tests.core.erasure.test_eraser import assert_clean, everything, files
from tests.core.erasure.test_purging import told
from tests.core.fakes import SPACE, Clock, open_engine
from tests.stores import FileStore, Store, Stores

WORD = "quuxolosis"
OTHER = "the boat is in the harbour"
BEGIN = datetime(2026, 11, 1, 12, tzinfo=UTC)
NAME = ObjectName(level="conversation", name="c", category="home")
Erase = Callable[[Engine, str], Erasure | None]


@pytest.fixture
def store(stores: Stores) -> Store:
    return stores()


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    with open_engine(store, clock=Clock()) as engine:
        engine.report_purges(told)
        yield engine


def fill(engine: Engine) -> str:
    """Fill a space with a conversation of Ann with the word in all that is derived from it; return her turn's id."""
    said = Turn(content=f"I love {WORD} in Oslo with {WORD}.", author="Ann Quux", at=BEGIN, source="phone",
                metadata={"note": WORD}, tags=(WORD,), reply=f"{WORD} it is.")  # fmt: skip
    stream = Stream(conversation="c", session="s", category="home", turns=(said,))
    (arrived,) = engine.owner.conversations.add_exchanges(SPACE, stream, request=RequestKey("me", "k", b"h")).items
    turn = arrived.memory
    engine.owner.conversations.change(SPACE, NAME, Change(state="closed"))
    engine.owner.discourse.find_topics(SPACE, "c", "home")
    engine.owner.discourse.summarise(SPACE, "c", category="home")
    engine.owner.discourse.summarise_exchange(SPACE, "c", turn.turn or 0, "home")
    for one in engine.owner.conversations.preferences(SPACE, NAME).items:
        engine.owner.write.add(SPACE, [one.draft], on_conflict="keep")
    engine.owner.discourse.keep(SPACE, "c", Entry(key="held", memory_id=turn.id), len, 1_000, "home")
    engine.owner.write.add(SPACE, [Draft(content=f"Hence: {WORD}.", derived_from=(turn.id,))], on_conflict="keep")
    other = Turn(content=OTHER, author="Bob", at=BEGIN)
    engine.owner.conversations.add_exchanges(SPACE, Stream(conversation="d", session="t", turns=(other,)))
    return turn.id


def by(**subject: object) -> Erase:
    return lambda engine, _: engine.eraser.subject(SPACE, Subject(**subject), {}, OWNER)  # pyright: ignore[reportArgumentType]


def by_age(engine: Engine, turn: str) -> Erasure:
    """Erase what is older than the first memory of others."""
    bob = engine.owner.conversations.exchanges(SPACE, ObjectName(level="conversation", name="d")).items[0]
    limit = to_us(bob.created_at)
    return engine.eraser.subject(SPACE, Subject(older_than_us=limit), {}, OWNER)


def by_task(engine: Engine, _: str) -> None:
    task, _known = engine.purge(SPACE, Subject(author="Ann Quux"), {"author": "Ann Quux"}, OWNER, None)
    engine.runner(60, 9).run_one()
    assert engine.tasks.get(SPACE, task.id, OWNER).state == "succeeded"


SELECTORS: dict[str, Erase] = {
    "memory": lambda engine, turn: engine.eraser.memory(SPACE, turn, OWNER),
    "author": by(author="Ann Quux"),
    "task": by_task,
    "age": by_age,
    "source": by(source="phone"),
    "conversation": lambda engine, _: engine.eraser.conversation(SPACE, NAME, OWNER),
    "session": lambda engine, _: engine.eraser.conversation(
        SPACE, ObjectName(level="session", name="s", category="home"), OWNER
    ),
    "category": by(filter=parse({"category": "home"}, "$")),
    "filter": by(filter=parse({"conversation": "c"}, "$")),
    "tag": by(filter=parse({"tags": WORD}, "$")),
}


@pytest.mark.parametrize("erase", SELECTORS.values(), ids=SELECTORS)
def test_no_derived_text_outlives_what_it_came_from(engine: Engine, store: Store, erase: Erase):
    turn = fill(engine)
    assert everything(store.open()).lower().count(WORD.encode()) > 8
    report = erase(engine, turn)
    if report is not None:
        assert_clean(report)
    left = everything(store.open()).lower()
    assert WORD.encode() not in left
    if erase is by_task:
        assert b"ann quux" not in left
    assert OTHER.encode() in left
    name = ObjectName(level="conversation", name="d")
    assert engine.owner.conversations.get(SPACE, name)[0].memory.content == OTHER
    if isinstance(store, FileStore):
        gc.collect()
        assert WORD.encode() not in files(store).lower()
