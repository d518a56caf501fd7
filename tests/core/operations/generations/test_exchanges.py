"""Any course of writes, builds, deaths, switches, roll-backs and drops, compared with a plain model at each step."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from muisti.core.embedding.vectors import pack
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Conflict, NotFound
from muisti.core.model.generations import ShadowIncomplete
from muisti.core.operations import missing_vectors
from muisti.core.operations.generations.second_vectors import Embed
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from muisti.core.tasks.claim import Claim
from tests.core.fakes import SPACE, WordEncoder, add, open_engine
from tests.examples import examples
from tests.stores import RemoteStore, Store, Stores

MODELS = {one.name: one for one in (WordEncoder("a"), WordEncoder("b", dimensions=32), WordEncoder("c"))}
BY_IDENTITY = {one.identity: name for name, one in MODELS.items()}
words = st.lists(st.sampled_from(["red", "fox", "blue", "lake", "sun", "owl"]), min_size=1, max_size=4).map(" ".join)


class Died(BaseException):
    """Ends the work as the end of its process would."""


class Dying(Embed):
    """The work on a task, in a process that ends after some steps."""

    steps = 0

    def run(self, claim: Claim) -> object:
        whole, left = claim.check, [self.steps]

        def check() -> None:
            if not left[0]:
                raise Died
            left[0] -= 1
            whole()

        claim.check = check
        return super().run(claim)


class Exchanges(RuleBasedStateMachine):
    """The engine, and beside it what it should hold: contents by id, the models, and the vectors of each model."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.absent: str | None = None
        self.engine = self.opened()
        self.texts: dict[str, str] = {}
        self.bare: dict[str, set[str]] = {"words-a": set()}
        self.current, self.shadow, self.served = "words-a", None, False
        self.remember(add(self.engine, "red fox"), "red fox")

    def opened(self) -> Engine:
        there = [one for name, one in MODELS.items() if name != self.absent]
        return open_engine(self.store, encoder=there[0], others=there[1:])

    def remember(self, ids: list[str], text: str) -> None:
        for id_ in ids:
            self.texts[id_] = text
            for name, bare in self.bare.items():
                if name in (self.current, self.shadow) and name != self.absent:
                    bare.discard(id_)
                else:
                    bare.add(id_)

    def teardown(self) -> None:
        self.engine.close()

    @rule(text=words)
    def write(self, text: str) -> None:
        self.remember(add(self.engine, text), text)

    @precondition(lambda self: len(self.texts) > 1)
    @rule(choice=st.integers(0, 99), text=words)
    def change(self, choice: int, text: str) -> None:
        id_ = list(self.texts)[choice % len(self.texts)]
        if self.texts[id_] != text:
            self.engine.owner.write.update(SPACE, id_, {"content": text})
            self.remember([id_], text)

    @precondition(lambda self: len(self.texts) > 1)
    @rule(choice=st.integers(0, 99))
    def delete(self, choice: int) -> None:
        id_ = list(self.texts)[choice % len(self.texts)]
        self.engine.owner.write.delete(SPACE, id_)
        del self.texts[id_]
        for bare in self.bare.values():
            bare.discard(id_)

    @rule(name=st.sampled_from(sorted(MODELS)), steps=st.integers(0, 4))
    def build(self, name: str, steps: int) -> None:
        """Build a model, in a process that is killed after some steps and one that goes on, or only in the first."""
        if name == self.absent:
            return
        if name not in (self.current, self.shadow):
            if self.shadow is not None:
                with pytest.raises(Conflict):
                    self.engine.generations.build(SPACE, name, OWNER)
                return
            self.shadow, self.served = name, False
            self.bare.setdefault(name, set(self.texts))
        self.engine.generations.build(SPACE, name, OWNER)
        dying = Dying(self.engine._database, self.engine.models)
        dying.steps = steps
        self.engine.tasks.register(dying)
        with suppress(Died):
            self.work()
        self.engine.close()
        self.engine = self.opened()
        lease = Statement("UPDATE tasks SET lease_until = 0 WHERE state = 'running'")
        self.engine._database.write([lease])
        self.work()
        self.bare[name] = set()

    def work(self) -> None:
        runner = self.engine.runner(60, 2)
        while (wait := runner.run_one()) is not None and wait < 0.1:
            pass

    @rule()
    def switch(self) -> None:
        if self.shadow is None or self.served or self.shadow == self.absent or self.bare[self.shadow]:
            with pytest.raises(Conflict):
                self.engine.generations.switch(SPACE, OWNER)
        else:
            self.engine.generations.switch(SPACE, OWNER)
            self.current, self.shadow, self.served = self.shadow, self.current, True

    @rule()
    def roll_back(self) -> None:
        calls = [one.calls for one in MODELS.values()]
        if self.shadow is None or not self.served:
            with pytest.raises(Conflict):
                self.engine.generations.roll_back(SPACE, OWNER)
        elif self.bare[self.shadow]:
            with pytest.raises(ShadowIncomplete):
                self.engine.generations.roll_back(SPACE, OWNER)
        else:
            self.engine.generations.roll_back(SPACE, OWNER)
            self.current, self.shadow, self.served = self.shadow, self.current, False
            assert calls == [one.calls for one in MODELS.values()]

    @rule(name=st.sampled_from(sorted(MODELS)))
    def drop(self, name: str) -> None:
        if name == self.current:
            with pytest.raises(Conflict):
                self.engine.generations.drop(SPACE, name, OWNER)
        elif name == self.shadow:
            self.engine.generations.drop(SPACE, name, OWNER)
            self.shadow, self.served = None, False
            del self.bare[name]
        else:
            with pytest.raises(NotFound):
                self.engine.generations.drop(SPACE, name, OWNER)

    @rule(absent=st.sampled_from([None, None, "words-b", "words-c"]))
    def restart(self, absent: str | None) -> None:
        """Go on in a process that has not all models."""
        self.engine.close()
        self.absent = absent
        self.engine = self.opened()

    @invariant()
    def holds_what_it_should(self) -> None:
        listed = {one.model: one for one in self.engine.generations.list(SPACE, OWNER)}
        roles = {name: one.role for name, one in listed.items()}
        assert roles == {self.current: "current"} | ({} if self.shadow is None else {self.shadow: "shadow"})
        for name, one in listed.items():
            assert (one.passages, one.missing) == (len(self.texts), len(self.bare[name] & self.texts.keys()))

    @invariant()
    def every_vector_is_that_of_its_text(self) -> None:
        (rows,) = self.engine._database.read([
            Statement(
                "SELECT g.hash, v.content, e.vector FROM embeddings e JOIN versions v ON v.id = e.version_id "
                "JOIN generations g ON g.id = e.generation_id WHERE v.died IS NULL"
            )
        ])  # fmt: skip
        for digest, content, vector in rows:
            encoder = MODELS[BY_IDENTITY[str(digest)]]
            assert vector == pack(np.stack([encoder.encode_query(str(content))]))[0]

    @invariant()
    def search_uses_the_model_of_the_space(self) -> None:
        text = next(iter(self.texts.values()))
        answer = self.engine.owner.read.search(SPACE, Query(text=text, mode="semantic"))
        if self.current == self.absent:
            assert answer.strategy == "keyword" and answer.degraded
        else:
            assert answer.strategy == "semantic"
            assert bool(answer.degraded) == bool(self.bare[self.current] & self.texts.keys())
        if not answer.degraded:
            encoder = MODELS[self.current]
            best = max(float(encoder.encode_query(one) @ encoder.encode_query(text)) for one in self.texts.values())
            found = float(encoder.encode_query(answer.hits[0].memory.content) @ encoder.encode_query(text))
            assert found >= best - 1e-3


def test_any_course_of_exchanges_loses_no_vector_and_serves_the_right_model(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(missing_vectors, "BATCH", 2)
    many = 10 if isinstance(stores(), RemoteStore) else 30
    run_state_machine_as_test(
        lambda: Exchanges(stores()),  # pyright: ignore[reportArgumentType]  # a class would take no store
        settings=settings(examples(many), stateful_step_count=12),
    )
