"""A long life of conversations beside a plain model: dictionaries that do what the documents say."""

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from muisti.core.conversations.model import Change, NewObject, Turn
from muisti.core.conversations.view import Wanted
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, ConversationClosed, MuistiError, NotFound, PlaceTaken
from muisti.core.model.outcomes import Undo
from muisti.core.query.points import AsOf
from tests.conversations.talking import named, stream, talks
from tests.core.fakes import SPACE

NAMES = tuple(f"c{number}" for number in range(6))
SESSIONS = ("s0", "s1", "s2")
TURNS = 12
CATEGORIES = (None, "ann")

T = TypeVar("T")


@dataclass
class Talk:
    """A conversation of the model."""

    session: str
    title: str
    closed: bool = False
    turns: dict[int, str] = field(default_factory=dict)
    topics: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass
class Life:
    """State of the model, by (category, name). Sessions are closed or not."""

    talks: dict[tuple[str | None, str], Talk] = field(default_factory=dict)
    sessions: dict[tuple[str | None, str], bool] = field(default_factory=dict)


class Lived:
    """An engine and the model, which take the same random steps."""

    def __init__(self, engine: Engine, seed: int, space: str = SPACE, life: Life | None = None) -> None:
        self.engine, self.space, self.seed = engine, space, seed
        self.random = random.Random(seed)
        self.life = Life() if life is None else life
        self.past: list[tuple[int, Life]] = []
        self.undoable: tuple[str, Life] | None = None
        self.requests = 0
        self.canaries: list[str] = []
        self.counts: dict[str, int] = {}

    def step(self) -> None:
        """Take one step of a random kind, and expect what the model says."""
        steps = {
            self.stream: 40, self.again: 10, self.other: 6, self.rename: 6, self.move: 6, self.state: 8,
            self.topic: 6, self.end: 5, self.end_session: 1, self.undo: 6, self.purge: 2, self.remember: 3,
        }  # fmt: skip
        (chosen,) = self.random.choices([*steps], [*steps.values()])
        self.counts[chosen.__name__] = self.counts.get(chosen.__name__, 0) + 1
        chosen()

    def caller(self, category: str | None) -> Caller:
        self.requests += 1
        return Caller(actor="a", category=category, request=f"r{self.seed}-{self.requests}")

    def pick(self) -> tuple[str | None, str]:
        return self.random.choice(CATEGORIES), self.random.choice(NAMES)

    def known(self) -> tuple[str | None, str] | None:
        return self.random.choice([*self.life.talks]) if self.life.talks else None

    def changed(self) -> None:
        self.undoable = None

    def stream(self) -> None:
        category, name = self.pick()
        talk = self.life.talks.get((category, name))
        session = self.random.choice(SESSIONS)
        numbered = self.random.random() < 0.7
        first = self.random.randrange(1, TURNS) if numbered else max(talk.turns, default=0) + 1 if talk else 1
        texts = [self.text() for _ in range(self.random.randrange(1, 4))]
        turns = [
            Turn(content=text, turn=first + place if numbered else None, author="Ann")
            for place, text in enumerate(texts)
        ]
        there = talk.turns if talk else {}
        home = talk.session if talk else session
        expected: type[MuistiError] | None = None
        if (talk and talk.closed) or self.life.sessions.get((category, home)):
            expected = ConversationClosed
        elif any(first + place in there for place in range(len(texts))):
            expected = PlaceTaken
        given = None if talk else session
        caller = self.caller(category)
        if self.refused(
            lambda: stream(self.engine, name, turns, session=given, caller=caller, space=self.space), expected
        ):
            return
        self.changed()
        self.life.sessions.setdefault((category, home), False)
        talk = self.life.talks.setdefault((category, name), Talk(home, texts[0]))
        talk.turns |= {first + place: text for place, text in enumerate(texts)}

    def text(self) -> str:
        return f"word{self.random.randrange(10**9)} and more"

    def again(self) -> None:
        """Send turns once more: nothing changes."""
        where = self.known()
        if where is None or not self.life.talks[where].turns or self.is_closed(where):
            return
        talk = self.life.talks[where]
        some = self.random.sample(sorted(talk.turns), min(2, len(talk.turns)))
        turns = [Turn(content=talk.turns[turn], turn=turn, author="Ann") for turn in some]
        caller = self.caller(where[0])
        done = self.does(lambda: stream(self.engine, where[1], turns, caller=caller, space=self.space))
        assert done is None or all(one.replayed for one in done.items)

    def other(self) -> None:
        """Send other content for a turn: it is refused as a whole."""
        where = self.known()
        if where is None or not self.life.talks[where].turns or self.is_closed(where):
            return
        turn = self.random.choice([*self.life.talks[where].turns])
        turns = [Turn(content="new", turn=99_999, author="Ann"), Turn(content="else", turn=turn, author="Ann")]
        caller = self.caller(where[0])
        assert self.refused(lambda: stream(self.engine, where[1], turns, caller=caller, space=self.space), PlaceTaken)

    def rename(self) -> None:
        where = self.known()
        if where is None:
            return
        title = f"title {self.random.randrange(10**6)}"
        caller, change = self.caller(where[0]), Change(title=title)
        self.does(lambda: talks(self.engine, caller).change(self.space, named(where[1]), change))
        self.changed()
        self.life.talks[where].title = title

    def move(self) -> None:
        where = self.known()
        if where is None:
            return
        session = self.random.choice(SESSIONS)
        same = self.life.talks[where].session == session
        closed = self.life.sessions.get((where[0], session), False) and not same
        caller, change = self.caller(where[0]), Change(session=session)
        if self.refused(
            lambda: talks(self.engine, caller).change(self.space, named(where[1]), change),
            ConversationClosed if closed else None,
        ):
            return
        self.changed()
        self.life.sessions.setdefault((where[0], session), False)
        self.life.talks[where].session = session

    def state(self) -> None:
        closed = self.random.random() < 0.4
        change = Change(state="closed" if closed else "open")
        if self.random.random() < 0.3 and self.life.sessions:
            category, session = self.random.choice([*self.life.sessions])
            caller = self.caller(category)
            self.does(lambda: talks(self.engine, caller).change(self.space, named(session, "session"), change))
            self.life.sessions[category, session] = closed
        elif (where := self.known()) is not None:
            caller = self.caller(where[0])
            self.does(lambda: talks(self.engine, caller).change(self.space, named(where[1]), change))
            self.life.talks[where].closed = closed
        self.changed()

    def topic(self) -> None:
        where = self.known()
        if where is None:
            return
        talk = self.life.talks[where]
        caller = self.caller(where[0])
        if talk.topics and self.random.random() < 0.3:
            name = self.random.choice([*talk.topics])
            self.does(lambda: talks(self.engine, caller).delete(self.space, named(name, "topic", where[1])))
            del talk.topics[name]
            self.changed()
            return
        first = self.random.randrange(1, TURNS)
        new = NewObject(spans=((first, first + 2),), name=f"x{self.random.randrange(4)}")
        assert new.name is not None
        overlaps = any(low <= first + 2 and first <= high for low, high in talk.topics.values())
        taken = PlaceTaken if new.name in talk.topics else Conflict if overlaps else None
        expected = ConversationClosed if talk.closed else taken
        if self.refused(
            lambda: talks(self.engine, caller).create(self.space, "topic", new, conversation=where[1]), expected
        ):
            return
        talk.topics[new.name] = (first, first + 2)
        self.changed()

    def end(self) -> None:
        where = self.known()
        if where is None:
            return
        caller, before = self.caller(where[0]), copy.deepcopy(self.life)
        talk = self.life.talks.pop(where)
        ending = self.does(lambda: talks(self.engine, caller).delete(self.space, named(where[1])))
        if ending is not None:
            told = {"conversation": 1, "exchange": len(talk.turns)}
            assert {kind: ending.counts.get(kind, 0) for kind in told} == told
            assert ending.counts.get("topic", 0) >= len(talk.topics)  # others were found in the turns
        self.undoable = (caller.request or "", before)

    def end_session(self) -> None:
        if not self.life.sessions:
            return
        category, session = self.random.choice([*self.life.sessions])
        caller, before = self.caller(category), copy.deepcopy(self.life)
        gone = [where for where, talk in self.life.talks.items() if (where[0], talk.session) == (category, session)]
        ending = self.does(lambda: talks(self.engine, caller).delete(self.space, named(session, "session")))
        least = 1 + sum(1 + len(t.turns) + len(t.topics) for t in map(self.life.talks.pop, gone))
        assert ending is None or ending.total >= least
        del self.life.sessions[category, session]
        self.undoable = (caller.request or "", before)

    def undo(self) -> None:
        """Undo the last deletion, when nothing has happened since."""
        if self.undoable is None:
            return
        request, before = self.undoable
        self.does(lambda: self.engine.seen_by(OWNER).write.undo(self.space, Undo(last=1_000, request=request)))
        self.life, self.undoable = before, None

    def purge(self) -> None:
        where = self.known()
        if where is None:
            return
        talk = self.life.talks.pop(where)
        caller = Caller(category=where[0])
        report = self.does(lambda: self.engine.eraser.conversation(self.space, named(where[1]), caller))
        assert report is None or report.complete, report.found
        self.canaries += [text.split()[0] for text in talk.turns.values()]
        self.past.clear()  # what was erased is not shown as it was
        self.changed()

    def remember(self) -> None:
        """Keep a point of history, to be compared later; or compare one."""
        if self.past and self.random.random() < 0.5:
            number, life = self.random.choice(self.past)
            self.does(lambda: self.compare(life, AsOf(number=number)))
            return
        number = self.does(lambda: self.engine.spaces.get(self.space).at.number) or 0
        self.past = [*self.past[-3:], (number, copy.deepcopy(self.life))]

    def is_closed(self, where: tuple[str | None, str]) -> bool:
        talk = self.life.talks[where]
        return talk.closed or self.life.sessions[where[0], talk.session]

    def does(self, call: Callable[[], T]) -> T | None:
        """Return the result of a call of the engine; every call is made here or in `refused`."""
        return call()

    def refused(self, call: Callable[[], object], expected: type[MuistiError] | None) -> bool:
        """Call, and say whether that was refused, as expected."""
        try:
            call()
        except MuistiError as error:
            assert expected is not None and isinstance(error, expected), (error, expected)
            return True
        assert expected is None, f"not refused with {expected}"
        return False

    def compare(self, life: Life | None = None, as_of: AsOf | None = None, space: str | None = None) -> None:
        """Compare all that the engine shows with the model."""
        life, where = life or self.life, space or self.space
        view = self.engine.owner.conversations
        for category in CATEGORIES:
            caller = talks(self.engine, Caller(category=category)) if category else view
            seen = caller.page(where, Wanted(level="conversation", limit=100, category=category), as_of=as_of)
            mine = {name: talk for (own, name), talk in life.talks.items() if own == category}
            found = {one.name: one for one in seen.items if one.memory.category == category}
            assert set(found) == set(mine)
            for name, talk in mine.items():
                one = found[name]
                told = (one.memory.session, one.memory.content, one.state == "closed", one.counted.turns)
                assert told == (talk.session, talk.title, talk.closed, len(talk.turns)), name
                turns = caller.exchanges(where, named(name, category=category), limit=100, as_of=as_of).items
                assert {one.turn: one.content for one in turns} == talk.turns
                topics = caller.page(
                    where, Wanted(level="topic", conversation=name, category=category, limit=100), as_of=as_of
                )
                given = (one for one in topics.items if one.memory.structure["bounds"] == "given")
                spans = {one.name: one.memory.structure["spans"] for one in given}
                assert spans == {name: [list(span)] for name, span in talk.topics.items()}
            sessions = caller.page(where, Wanted(level="session", limit=100, category=category), as_of=as_of)
            states = {one.name: one.state == "closed" for one in sessions.items if one.memory.category == category}
            assert states == {name: closed for (own, name), closed in life.sessions.items() if own == category}

    def travel(self, name: str) -> None:
        """Export the space into a new one, which holds the same."""
        coming = self.engine.owner.write.begin_import(name)
        pages = self.engine.owner.read.export(self.space, "test").pages()
        coming.take([msgspec.json.encode(line) for page in pages for line in page])
        report = coming.finish()
        assert not report.failed, report
        self.compare(space=name)


class Foreseen(Lived):
    """The model alone: the steps that an engine takes from the same seed and the same life."""

    def does(self, call: Callable[[], T]) -> T | None:
        return None

    def refused(self, call: Callable[[], object], expected: type[MuistiError] | None) -> bool:
        return expected is not None


def gone(engine: Engine, name: str, space: str = SPACE) -> bool:
    """Whether there is no conversation of this name."""
    try:
        engine.owner.conversations.get(space, named(name))
    except NotFound:
        return True
    return False
