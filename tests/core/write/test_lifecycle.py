"""The whole life of memories, step by step beside a plain model: nothing differs, also after a restart."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, InvalidInput, NotFound
from muisti.core.model.outcomes import Undo, Written
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import Draft
from muisti.core.query.filters import Filter, parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from muisti.core.views.memories import Memories
from tests.core.fakes import NOON, SPACE, Clock, open_engine
from tests.core.lives import DAY, Fields, Model, draft_fields, holding, said_of
from tests.stores import Store, Stores

ACTORS = ("ann", "bob")
ASKED = "red fox lake"
actors = st.sampled_from(ACTORS)
contents = st.lists(st.sampled_from(["red", "fox", "blue", "lake", "sun"]), min_size=1, max_size=4).map(" ".join)
addresses = st.sampled_from([(None, None), (None, None), ("c", "k"), ("c", "l"), ("d", None)])
importance = st.sampled_from(["low", "high"])
ends = st.sampled_from([None, None, None, 1, 3])  # days from now
holds = st.sampled_from([(None, None), (None, None), (-1, 1), (1, 3), (None, 2), (-2, None)])  # the same


class Lives(RuleBasedStateMachine):
    """Each rule does one thing to both, and both must agree on what comes of it."""

    def __init__(self, store: Store, steps: Counter[str]) -> None:
        """`steps` counts what is done, by its name."""
        super().__init__()
        self.steps, self.dry = steps, False
        self.store, self.clock = store, Clock(NOON)
        self.engine = open_engine(store, clock=self.clock)
        self.model = Model()
        self.model.now = self.clock.at

    def teardown(self) -> None:
        """At the end of a life that went well, every point of it is looked at again."""
        try:
            if sys.exc_info()[0] is None:
                for number in range(self.model.seq + 1):
                    self.showed_the_same(number)
        finally:
            self.engine.close()

    def known(self, choice: int) -> str:
        ids = list(self.model.lives)
        return ids[choice % len(ids)]

    def fields(
        self, content: str, address: tuple[Any, Any], importance: str, end: int | None, held: tuple[Any, Any]
    ) -> Fields:
        said = {"content": content, "category": address[0], "key": address[1], "importance": importance}
        return said | {"expires": self.day(end), "supersedes": None, "superseded_by": None} | self.held(held)

    def held(self, days: tuple[Any, Any]) -> Fields:
        return {"starts": self.day(days[0]), "stops": self.day(days[1])}

    def day(self, days: int | None) -> int | None:
        return None if days is None else self.clock.at + days * DAY

    def both(self, does: Callable[[], Written], models: Callable[[Written | None], None]) -> None:
        """Do it to the engine; the model, told what was written, must do it too, or refuse for the same reason.

        It is tried first: that must foretell what comes of it, and change nothing.
        """
        self.steps["changes"] += 1
        told = self.tried(does)
        assert self.engine.spaces.get(SPACE).seq == self.model.seq
        before = self.model.seq
        try:
            written = does()
        except (NotFound, InvalidInput, Conflict) as error:
            with pytest.raises(KeyError if isinstance(error, NotFound) else ValueError):
                models(None)
            assert told is type(error)
        else:
            models(written)
            assert self.engine.spaces.get(SPACE).seq == self.model.seq == before + told

    def tried(self, does: Callable[[], Written]) -> int | type[Exception]:
        """How many changes it would make, or what it would raise."""
        self.dry = True
        try:
            plan = does().plan
        except (NotFound, InvalidInput, Conflict) as error:
            return type(error)
        finally:
            self.dry = False
        assert plan is not None
        return plan.changes

    def seen_by(self, actor: str) -> Memories:
        return self.engine.seen_by(Caller(actor), dry_run=self.dry)

    @rule(actor=actors, content=contents, address=addresses, importance=importance, end=ends, held=holds)
    def add(
        self,
        actor: str,
        content: str,
        address: tuple[Any, Any],
        importance: str,
        end: int | None,
        held: tuple[Any, Any],
    ) -> None:
        said = self.fields(content, address, importance, end, held)
        draft = Draft(**draft_fields(said, from_us))
        self.both(
            lambda: self.seen_by(actor).write.add(SPACE, [draft], on_conflict="keep"),
            lambda written: self.model.add(written.memories[0].id if written else "refused", said, actor),
        )

    @precondition(lambda self: self.model.lives)
    @rule(actor=actors, choice=st.integers(0, 50), content=contents, address=addresses, held=holds)
    def patch(self, actor: str, choice: int, content: str, address: tuple[Any, Any], held: tuple[Any, Any]) -> None:
        id_, said = self.known(choice), {"content": content, "category": address[0], "key": address[1]}
        said |= self.held(held)
        changes = draft_fields(said, from_us)
        self.both(
            lambda: self.seen_by(actor).write.update(SPACE, id_, changes), lambda _: self.model.patch(id_, said, actor)
        )

    @precondition(lambda self: self.model.lives)
    @rule(actor=actors, choice=st.integers(0, 50), content=contents, address=addresses, end=ends)
    def supersede(self, actor: str, choice: int, content: str, address: tuple[Any, Any], end: int | None) -> None:
        id_, said = self.known(choice), self.fields(content, address, "low", end, (None, end))
        draft = Draft(**draft_fields(said, from_us))
        self.both(
            lambda: self.seen_by(actor).write.supersede(SPACE, id_, draft),
            lambda written: self.model.supersede(id_, written.memories[0].id if written else "refused", said, actor),
        )

    @precondition(lambda self: self.model.lives)
    @rule(actor=actors, choice=st.integers(0, 50))
    def delete(self, actor: str, choice: int) -> None:
        id_ = self.known(choice)
        self.both(lambda: self.seen_by(actor).write.delete(SPACE, id_), lambda _: self.model.delete(id_, actor))

    @precondition(lambda self: self.model.lives)
    @rule(actor=actors, choice=st.integers(0, 50), version=st.integers(0, 9))
    def restore(self, actor: str, choice: int, version: int) -> None:
        id_ = self.known(choice)
        number = 1 + version % len(self.model.versions(id_))
        self.both(
            lambda: self.seen_by(actor).write.restore(SPACE, id_, number),
            lambda _: self.model.restore(id_, number, actor),
        )

    @rule(actor=actors, last=st.integers(1, 4))
    def undo(self, actor: str, last: int) -> None:
        self.both(
            lambda: self.seen_by(actor).write.undo(SPACE, Undo(last=last)), lambda _: self.model.undo(last, actor)
        )

    @rule(actor=actors, back=st.integers(0, 12))
    def roll_back(self, actor: str, back: int) -> None:
        to = max(0, self.model.seq - back)
        self.both(
            lambda: self.seen_by(actor).timeline.roll_back(SPACE, str(to)).written,
            lambda _: self.model.roll_back(to, actor),
        )

    @precondition(lambda self: self.model.shown())
    @rule(actor=actors, choice=st.integers(0, 50), content=contents, ends=st.booleans(), drop=st.booleans())
    def fork_and_merge(self, actor: str, choice: int, content: str, ends: bool, drop: bool) -> None:
        """What is changed, ended and added in a fork comes of it in the space."""
        before, fork = self.model.shown(), f"f{self.steps['changes']}"
        self.engine.owner.timeline.fork(SPACE, fork)
        copies = {one.content: one.id for one in self.engine.owner.read.list(fork, limit=100).items}
        assert sorted(copies) == sorted({said["content"] for said in before.values()})
        alone = [id_ for id_, said in before.items() if [*_contents(before)].count(said["content"]) == 1]
        todo: dict[str, Fields | None] = {}
        if alone:
            id_ = alone[choice % len(alone)]
            copy = copies[before[id_]["content"]]
            if ends:
                self.engine.owner.write.delete(fork, copy)
            else:
                self.engine.owner.write.update(fork, copy, {"importance": "high", "content": f"{content} changed"})
            said = None if ends else {**before[id_], "importance": "high", "content": f"{content} changed"}
            todo |= {id_: said} if said != before[id_] else {}  # it may say so already
        new = self.fields(f"{content} new {fork}", (None, None), "low", None, (-1, 1))
        self.engine.owner.write.add(fork, [Draft(**draft_fields(new, from_us))], on_conflict="keep")

        def models(written: Written | None) -> None:
            assert written is not None
            added = [
                one.id
                for one in self.engine.owner.timeline.diff(SPACE, str(self.model.seq)).items
                if one.change == "added"
            ]
            self.model.become(todo | {added[0]: new}, actor)

        self.both(lambda: self.seen_by(actor).timeline.merge(fork, SPACE, drop=drop), models)
        if not drop:
            again = self.engine.owner.timeline.merge(fork, SPACE)
            assert again.tally is not None and again.tally.changes == 0
            self.engine.spaces.delete(fork)

    @rule(days=st.sampled_from([0.5, 2.0]))
    def pass_days(self, days: float) -> None:
        self.clock.pass_days(days)
        self.model.now = self.clock.at

    @rule()
    def restart(self) -> None:
        self.engine.close()
        self.engine = open_engine(self.store, clock=self.clock)

    @invariant()
    def shows_the_same(self) -> None:
        self.steps["steps"] += 1
        shown = self.model.shown()
        assert self.listed(None) == shown
        assert self.found(None) == finds(shown)
        assert self.found(None, valid_at(self.clock.at)) == finds(holding(shown, self.clock.at))
        if self.steps["steps"] % 4 == 0:
            self.looks_back(7919 * self.steps["steps"] % (self.model.seq + 1))

    def looks_back(self, number: int) -> None:
        """To a point of the past, and at the history of a memory."""
        self.showed_the_same(number)
        then = self.model.shown_at(number)
        assert self.found(AsOf(number=number)) == finds(then)
        at = self.clock.at + (number % 5 - 2) * DAY
        assert self.listed(AsOf(number=number), valid_at(at)) == holding(then, at)
        categories = {
            one.name: one.count for one in self.engine.owner.read.categories(SPACE, as_of=AsOf(number=number)).items
        }
        assert categories == Counter(said["category"] for said in then.values() if said["category"])
        if self.model.lives:
            id_ = self.known(self.model.seq)
            versions = reversed(self.engine.owner.read.history(SPACE, id_).versions)
            assert [said_of(version.memory, to_us) for version in versions] == self.model.versions(id_)

    def showed_the_same(self, number: int) -> None:
        """After a change of the past."""
        self.steps["points"] += 1
        assert self.listed(AsOf(number=number)) == self.model.shown_at(number)

    def listed(self, as_of: AsOf | None, filter_: Filter | None = None) -> dict[str, Fields]:
        items = self.engine.owner.read.list(SPACE, limit=100, as_of=as_of, filter=filter_).items
        return {one.id: said_of(one, to_us) for one in items}

    def found(self, as_of: AsOf | None, filter_: Filter | None = None) -> set[str]:
        asked = Query(text=ASKED, mode="recent", limit=100, as_of=as_of, filter=filter_)
        answer = self.engine.owner.read.search(SPACE, asked)
        return {hit.memory.id for hit in answer.hits}


def finds(shown: dict[str, Fields]) -> set[str]:
    """What `ASKED` finds by its words."""
    return {id_ for id_, said in shown.items() if {*ASKED.split()} & {*said["content"].split()}}


def valid_at(at: int) -> Filter | None:
    return parse({"valid_at": from_us(at).isoformat()})


def _contents(shown: dict[str, Fields]) -> Iterator[str]:
    return (said["content"] for said in shown.values())


@pytest.mark.timeout(14_400)
def test_nothing_differs_from_a_plain_model(stores: Stores, long: bool, lives: int, capsys: pytest.CaptureFixture[str]):
    examples, steps = (lives, 100) if long else (3, 20)
    chosen = settings(settings(), max_examples=examples, stateful_step_count=steps)
    done = Counter[str]()
    run_state_machine_as_test(lambda: Lives(stores(), done), settings=chosen)
    if long:
        with capsys.disabled():
            print("\nno difference in", ", ".join(f"{count:,} {what}" for what, count in done.items()))  # noqa: T201
