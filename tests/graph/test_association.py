"""The order of neighbours by memories times association, which the answer has and which counts what the caller sees."""

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.facts.between import association
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import FREQUENT
from tests.core.fakes import SPACE, add

# Ann meets Eve, whom everybody meets, as often as Bob, whom nobody else does.
TEXTS = [
    "Ann saw Bob", "Bob saw Ann", "Ann saw Eve", "Eve saw Ann", *(f"Eve saw Dan{n}" for n in range(6)), "Ann slept",
]  # fmt: skip


@pytest.fixture(autouse=True)
def filled(engine: Engine) -> None:
    add(engine, *TEXTS, category="mine")


def counted(*names: str, texts: list[str] = TEXTS) -> int:
    return sum(all(name in text.split() for name in names) for text in texts)


def test_neighbours_have_the_association_of_a_plain_count(engine: Engine):
    seq = engine.spaces.get(SPACE).seq
    near = engine.owner.graph.neighbours(SPACE, "Ann")
    assert [one.entity.name for one in near.items] == ["Bob", "Eve"] and near.sort == "-association"
    for one in near.items:
        name = one.entity.name
        assert (one.weight, one.mentions) == (counted("Ann", name), counted(name))
        expected = association(one.weight, counted("Ann"), one.mentions, seq)
        assert one.association == pytest.approx(expected, abs=1e-4)


def test_those_as_near_are_in_the_order_that_is_asked_for(engine: Engine):
    add(engine, "Ann saw Eve", "Bob saw Ann and Cid")
    for name in ("Ann", "Eve", "Bob"):
        for depth in (1, 2, 3):
            found = {
                sort: engine.owner.graph.neighbours(SPACE, name, depth=depth, sort=sort).items
                for sort in ("-weight", "-association")
            }
            for sort, items in found.items():
                keys = [(one.depth, -one.weight * (1 if sort == "-weight" else one.association)) for one in items]
                assert keys == sorted(keys, key=lambda one: (one[0], round(one[1], 3)))
            assert {one.entity.id for one in found["-weight"]} == {one.entity.id for one in found["-association"]}


def test_association_says_nothing_of_what_the_caller_does_not_see(engine: Engine):
    mine = engine.seen_by(Caller(category="mine")).graph
    before = mine.neighbours(SPACE, "Ann").items
    add(engine, *["Bob slept"] * 9, category="other")
    after = mine.neighbours(SPACE, "Ann").items
    assert [one.mentions for one in after] == [one.mentions for one in before]
    seen = {one.entity.name: one.mentions for one in engine.owner.graph.neighbours(SPACE, "Ann").items}
    assert seen["Bob"] == counted("Bob") + 9


def test_frequent_names_are_counted_up_to_a_bound(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    assert FREQUENT > 10
    monkeypatch.setattr("muisti.core.graph.walking.FREQUENT", 3)
    near = engine.owner.graph.neighbours(SPACE, "Ann").items
    assert {one.entity.name: one.mentions for one in near} == {"Bob": 2, "Eve": 3}
    assert all(0 <= one.association <= 1 for one in near)
