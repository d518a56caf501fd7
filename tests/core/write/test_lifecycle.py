"""The lifecycle of memories, compared at each step with a plain model, also after a restart."""

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
from tests.core.lifecycle_model import DAY, Fields, Model, draft_fields, fields_of, holding
from tests.stores import Store, Stores

ACTORS = ("ann", "bob")
ASKED = "red fox lake"
actors = st.sampled_from(ACTORS)
contents = st.lists(st.sampled_from(["red", "fox", "blue", "lake", "sun"]), min_size=1, max_size=4).map(" ".join)
addresses = st.sampled_from([(None, None), (None, None), ("c", "k"), ("c", "l"), ("d", None)])
importance = st.sampled_from(["low", "high"])
ends = st.sampled_from([None, None, None, 1, 3])  # days from now
holds = st.sampled_from([(None, None), (None, None), (-1, 1), (1, 3), (None, 2), (-2, None)])  # days from now


class LifecycleMachine(RuleBasedStateMachine):
    """State machine whose rules make one change in the engine and in the model, and compare the results."""

    def __init__(self, store: Store, steps: Counter[str]) -> None:
        """Start with an empty space. `steps` counts the changes, steps and past points, by name."""
        super().__init__()
        self.steps, self.dry = steps, False
        self.store, self.clock = store, Clock(NOON)
        self.engine = open_engine(store, clock=self.clock)
        self.model = Model()
        self.model.now = self.clock.at

    def teardown(self) -> None:
        """Compare every past point once more, unless the run has failed."""
        try:
            if sys.exc_info()[0] is None:
                for number in range(self.model.seq + 1):
                    self.showed_the_same(number)
        finally:
            self.engine.close()

    def known(self, choice: int) -> str:
        ids = list(self.model.histories)
        return ids[choice % len(ids)]

    def fields(
        self, content: str, address: tuple[Any, Any], importance: str, end: int | None, held: tuple[Any, Any]
    ) -> Fields:
        fields = {"content": content, "category": address[0], "key": address[1], "importance": importance}
        return fields | {"expires": self.day(end), "supersedes": None, "superseded_by": None} | self.held(held)

    def held(self, days: tuple[Any, Any]) -> Fields:
        return {"starts": self.day(days[0]), "stops": self.day(days[1])}

    def day(self, days: int | None) -> int | None:
        return None if days is None else self.clock.at + days * DAY

    def both(self, does: Callable[[], Written], models: Callable[[Written | None], None]) -> None:
        """Make a change in the engine and in the model; both must succeed, or refuse it for the same reason.

        A dry run comes first: it must predict the result, and change nothing. `models` gets the engine's reply.
        """
        self.steps["changes"] += 1
        predicted = self.dry_run(does)
        assert self.engine.spaces.get(SPACE).seq == self.model.seq
        before = self.model.seq
        try:
            written = does()
        except (NotFound, InvalidInput, Conflict) as error:
            with pytest.raises(KeyError if isinstance(error, NotFound) else ValueError):
                models(None)
            assert predicted is type(error)
        else:
            models(written)
            assert self.engine.spaces.get(SPACE).seq == self.model.seq == before + predicted

    def dry_run(self, does: Callable[[], Written]) -> int | type[Exception]:
        """Return the number of changes that a write would make, or the type of the error it would raise."""
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
        self, actor: str, content: str, address: tuple[Any, Any], importance: str, end: int | None,
        held: tuple[Any, Any],
    ) -> None:  # fmt: skip
        fields = self.fields(content, address, importance, end, held)
        draft = Draft(**draft_fields(fields, from_us))
        self.both(
            lambda: self.seen_by(actor).write.add(SPACE, [draft], on_conflict="keep"),
            lambda written: self.model.add(written.memories[0].id if written else "refused", fields, actor),
        )

    @precondition(lambda self: self.model.histories)
    @rule(actor=actors, choice=st.integers(0, 50), content=contents, address=addresses, held=holds)
    def patch(self, actor: str, choice: int, content: str, address: tuple[Any, Any], held: tuple[Any, Any]) -> None:
        id_, fields = self.known(choice), {"content": content, "category": address[0], "key": address[1]}
        fields |= self.held(held)
        changes = draft_fields(fields, from_us)
        self.both(
            lambda: self.seen_by(actor).write.update(SPACE, id_, changes),
            lambda _: self.model.patch(id_, fields, actor),
        )

    @precondition(lambda self: self.model.histories)
    @rule(actor=actors, choice=st.integers(0, 50), content=contents, address=addresses, end=ends)
    def supersede(self, actor: str, choice: int, content: str, address: tuple[Any, Any], end: int | None) -> None:
        id_, fields = self.known(choice), self.fields(content, address, "low", end, (None, end))
        draft = Draft(**draft_fields(fields, from_us))
        self.both(
            lambda: self.seen_by(actor).write.supersede(SPACE, id_, draft),
            lambda written: self.model.supersede(id_, written.memories[0].id if written else "refused", fields, actor),
        )

    @precondition(lambda self: self.model.histories)
    @rule(actor=actors, choice=st.integers(0, 50))
    def delete(self, actor: str, choice: int) -> None:
        id_ = self.known(choice)
        self.both(lambda: self.seen_by(actor).write.delete(SPACE, id_), lambda _: self.model.delete(id_, actor))

    @precondition(lambda self: self.model.histories)
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
        """Change or delete a memory of a fork, and add one; a merge must bring all of it into the space."""
        before, fork = self.model.shown(), f"f{self.steps['changes']}"
        self.engine.owner.timeline.fork(SPACE, fork)
        copies = {one.content: one.id for one in self.engine.owner.read.list(fork, limit=100).items}
        assert sorted(copies) == sorted({fields["content"] for fields in before.values()})
        alone = [id_ for id_, fields in before.items() if [*_contents(before)].count(fields["content"]) == 1]
        todo: dict[str, Fields | None] = {}
        if alone:
            id_ = alone[choice % len(alone)]
            copy = copies[before[id_]["content"]]
            if ends:
                self.engine.owner.write.delete(fork, copy)
            else:
                self.engine.owner.write.update(fork, copy, {"importance": "high", "content": f"{content} changed"})
            fields = None if ends else {**before[id_], "importance": "high", "content": f"{content} changed"}
            todo |= {id_: fields} if fields != before[id_] else {}  # the change may have no effect
        new = self.fields(f"{content} new {fork}", (None, None), "low", None, (-1, 1))
        self.engine.owner.write.add(fork, [Draft(**draft_fields(new, from_us))], on_conflict="keep")

        def models(written: Written | None) -> None:
            assert written is not None
            added = [
                one.id
                for one in self.engine.owner.timeline.diff(SPACE, str(self.model.seq)).items
                if one.change == "added"
            ]
            self.model.apply(todo | {added[0]: new}, actor)

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
        """Compare reads of a past point, and the history of a memory."""
        self.showed_the_same(number)
        then = self.model.shown_at(number)
        assert self.found(AsOf(number=number)) == finds(then)
        at = self.clock.at + (number % 5 - 2) * DAY
        assert self.listed(AsOf(number=number), valid_at(at)) == holding(then, at)
        categories = {
            one.name: one.count for one in self.engine.owner.read.categories(SPACE, as_of=AsOf(number=number)).items
        }
        assert categories == Counter(fields["category"] for fields in then.values() if fields["category"])
        if self.model.histories:
            id_ = self.known(self.model.seq)
            versions = reversed(self.engine.owner.read.history(SPACE, id_).versions)
            assert [fields_of(version.memory, to_us) for version in versions] == self.model.versions(id_)

    def showed_the_same(self, number: int) -> None:
        """Compare the list of memories as of a past change."""
        self.steps["points"] += 1
        assert self.listed(AsOf(number=number)) == self.model.shown_at(number)

    def listed(self, as_of: AsOf | None, filter_: Filter | None = None) -> dict[str, Fields]:
        items = self.engine.owner.read.list(SPACE, limit=100, as_of=as_of, filter=filter_).items
        return {one.id: fields_of(one, to_us) for one in items}

    def found(self, as_of: AsOf | None, filter_: Filter | None = None) -> set[str]:
        asked = Query(text=ASKED, mode="recent", limit=100, as_of=as_of, filter=filter_)
        answer = self.engine.owner.read.search(SPACE, asked)
        return {hit.memory.id for hit in answer.hits}


def finds(shown: dict[str, Fields]) -> set[str]:
    """Return the ids of the memories that share a word with `ASKED`."""
    return {id_ for id_, fields in shown.items() if {*ASKED.split()} & {*fields["content"].split()}}


def valid_at(at: int) -> Filter | None:
    return parse({"valid_at": from_us(at).isoformat()})


def _contents(shown: dict[str, Fields]) -> Iterator[str]:
    return (fields["content"] for fields in shown.values())


@pytest.mark.timeout(14_400)
def test_nothing_differs_from_a_plain_model(stores: Stores, long: bool, lives: int, capsys: pytest.CaptureFixture[str]):
    examples, steps = (lives, 100) if long else (3, 20)
    chosen = settings(settings(), max_examples=examples, stateful_step_count=steps)
    done = Counter[str]()
    run_state_machine_as_test(lambda: LifecycleMachine(stores(), done), settings=chosen)
    if long:
        with capsys.disabled():
            print("\nno difference in", ", ".join(f"{count:,} {what}" for what, count in done.items()))  # noqa: T201
