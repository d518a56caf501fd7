"""The walk from the entities of a question over memories: against networkx's definition by dense matrices."""

import numpy as np

from muisti.core.graph.pagerank import STEPS, candidates, of_pairs, rarity, walk


def dense(pairs: set[tuple[int, int]], total: int, seeds: list[int], restart: float) -> dict[int, float]:
    """The walk with matrices that have every pair of version and entity."""
    versions, entities = sorted({v for v, _ in pairs}), sorted({e for _, e in pairs})
    there = np.array([[(v, e) in pairs for e in entities] for v in versions], float)
    counts = there.sum(axis=0)
    rare = np.log(1 + (total - counts + 0.5) / (counts + 0.5))
    down = there / counts
    up = (there * rare) / (there * rare).sum(axis=1, keepdims=True)
    start = np.array([rare[place] if e in seeds else 0.0 for place, e in enumerate(entities)])
    start /= start.sum()
    at, visits = start, np.zeros(len(versions))
    for _ in range(STEPS):
        visits = down @ at
        at = restart * start + (1 - restart) * (up.T @ visits)
    return dict(zip(versions, (visits / visits.max()).tolist(), strict=True))


def test_visits_are_those_of_dense_matrices():
    assert walk(of_pairs([], 0), np.array([1])) is walk(of_pairs([(1, 2)], 3), np.array([1])) is None
    draw = np.random.default_rng(3)
    for _ in range(20):
        size = int(draw.integers(1, 40))
        pairs = {(int(v), int(e)) for v, e in zip(draw.integers(1, 20, size), draw.integers(5, 15, size), strict=True)}
        seed = next(iter(pairs))[1]
        walked = walk(of_pairs([*pairs], 25), np.array([seed, 99]), restart=0.3)
        assert walked is not None
        wanted = dense(pairs, 25, [seed], 0.3)
        np.testing.assert_allclose(walked.of(np.array([*wanted])), [*wanted.values()], atol=1e-12)
        assert walked.of(np.array([77, 0])).tolist() == [0.0, 0.0]


def test_memories_of_the_named_come_first_and_rare_names_before_common_ones():
    pairs = [(v, 1) for v in range(1, 11)] + [(1, 2)] + [(v, 3) for v in range(2, 30)]
    incidence = of_pairs(pairs, 40)
    walked = walk(incidence, np.array([1]))
    assert walked is not None
    visits = dict(zip(walked.versions.tolist(), walked.visits.tolist(), strict=True))
    assert max(visits, key=lambda v: visits[v]) == 1  # names the rare entity 2 beside the named one
    assert min(visits[v] for v in range(1, 11)) > max(visits[v] for v in range(11, 30)) > 0
    assert rarity(incidence)[1] > rarity(incidence)[0] > rarity(incidence)[2]


def test_names_of_a_question_begin_with_a_capital_and_are_no_stop_words():
    found = [name for *_, name in candidates("When did “Ann Lee”, of ACME-2, call him?")]
    assert {"Ann Lee", "Ann", "Lee", "ACME-2"} <= {*found}
    assert found.index("Ann Lee") < found.index("Ann")
    assert not {"when", "of", "call", "him"} & {*found}
    assert candidates("what happened in the end?") == []
    assert candidates("") == []
