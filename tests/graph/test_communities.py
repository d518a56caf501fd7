"""Communities: planted groups are found, the same every time, and each caller sees those of its own memories."""

import numpy as np
import pytest

from muisti.core.engine import Engine
from muisti.core.graph.communities import labelled, ties
from muisti.core.graph.pagerank import of_pairs
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, InvalidInput
from muisti.core.model.values import Draft
from tests.core.fakes import SPACE, add


def planted(draw: np.random.Generator, groups: int, size: int, versions: int, stray: float) -> list[tuple[int, int]]:
    """Return mentions of versions that name three of one group, and now and then somebody of another."""
    pairs: list[tuple[int, int]] = []
    for version in range(1, versions + 1):
        group = int(draw.integers(groups))
        pairs += [(version, 1 + group * size + int(one)) for one in draw.choice(size, 3, replace=False)]
        if draw.random() < stray:
            pairs.append((version, 1 + int(draw.integers(groups * size))))
    return pairs


def test_planted_groups_are_found_whatever_the_numbers_of_their_names():
    draw = np.random.default_rng(5)
    for _ in range(5):
        incidence = of_pairs(planted(draw, groups=6, size=8, versions=600, stray=0.1), 600)
        labels = labelled(len(incidence.entities), ties(incidence))
        assert np.array_equal(labels, labelled(len(incidence.entities), ties(incidence)))
        groups = (incidence.entities - 1) // 8
        same_label = labels[:, None] == labels[None, :]
        same_group = groups[:, None] == groups[None, :]
        assert (same_label == same_group).mean() > 0.95


def test_ties_weigh_memories_and_surprise_and_leave_chance_out():
    everywhere = [(version, 9) for version in range(1, 21)]
    found = ties(of_pairs([(1, 1), (1, 2), (2, 1), (2, 2), (3, 3), *everywhere], 20))
    assert sorted(zip(found.source.tolist(), found.target.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert found.weight == pytest.approx([2 * np.log(2 * 20 / 4)] * 2)
    assert len(ties(of_pairs([], 0)).source) == 0
    assert labelled(0, ties(of_pairs([], 0))).tolist() == []


def test_communities_have_their_most_telling_entities_and_merge_names(engine: Engine):
    add(engine, *(f"Ann Lee met Bob and Kim number {n}" for n in range(4)), "Ann called Bob and Kim")
    add(engine, *(f"Oslo and Turku and Kemi are far {n}" for n in range(3)), "it rained", "Eve slept")
    found = engine.owner.graph.communities(SPACE)
    names = [{one.name for one in community.entities} for community in found.items]
    assert (names, found.total) == ([{"Ann Lee", "Bob", "Kim"}, {"Oslo", "Turku", "Kemi"}], 2)
    assert [(one.size, one.memories) for one in found.items] == [(4, 5), (3, 3)]
    assert found.items == engine.owner.graph.communities(SPACE).items
    assert len(engine.owner.graph.communities(SPACE, limit=1).items) == 1


def test_a_caller_sees_the_communities_of_its_memories_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    a = [Draft(content=f"Ann met Bob and Kim {n}", category="a") for n in range(3)]
    b = [Draft(content=f"Oslo and Turku and Kemi {n}", category="b") for n in range(3)]
    other = Draft(content="Eve slept", category="b")  # without it all names are in all memories: no surprise
    engine.owner.write.add(SPACE, [*a, *b, other], on_conflict="keep")
    assert engine.owner.graph.communities(SPACE).total == 2
    (one,) = engine.seen_by(Caller("b", category="b")).graph.communities(SPACE).items
    assert {end.name for end in one.entities} == {"Oslo", "Turku", "Kemi"}
    monkeypatch.setattr("muisti.core.graph.pagerank.MOST", 2)
    add(engine, "Bob left")
    found = engine.owner.graph.communities(SPACE)
    assert (found.items, found.too_large) == ((), True)
    with pytest.raises(InvalidInput):
        engine.owner.graph.communities(SPACE, limit=0)
    engine.spaces.set_policy(SPACE, {"graph": "off"})
    with pytest.raises(Conflict):
        engine.owner.graph.communities(SPACE)
