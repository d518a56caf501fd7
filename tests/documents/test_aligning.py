"""The alignment of chunks: in order, by content, as many as a longest common subsequence where keys occur once."""

import random

import pytest

from muisti.core.documents import planning as aligning
from muisti.core.documents.planning import POSITION_MAX, STEP, aligned, fresh, placed


def keys(numbers: list[int]) -> list[bytes]:
    return [str(number).encode() for number in numbers]


def common(old: list[bytes], new: list[bytes]) -> int:
    """Return the length of a longest common subsequence, by the textbook."""
    rows = [0] * (len(new) + 1)
    for one in old:
        before = 0
        for place, other in enumerate(new, 1):
            before, rows[place] = rows[place], before + 1 if one == other else max(rows[place], rows[place - 1])
    return rows[-1]


@pytest.mark.parametrize("seed", range(30))
def test_matches_are_equal_and_in_order(seed: int):
    rng = random.Random(seed)
    old = [rng.randrange(40) for _ in range(rng.randrange(60))]
    new = [one for one in old if rng.random() > 0.2]
    for _ in range(rng.randrange(8)):
        new.insert(rng.randrange(len(new) + 1), rng.randrange(60))
    found = aligned(keys(old), keys(new))
    places = [one for one in found if one is not None]
    assert places == sorted(set(places))
    assert all(old[one] == new[mine] for mine, one in enumerate(found) if one is not None)


@pytest.mark.parametrize("seed", range(30))
def test_keys_that_occur_once_are_matched_best(seed: int):
    rng = random.Random(seed)
    old = rng.sample(range(1000), 50)
    new = [one for one in old if rng.random() > 0.2] + rng.sample(range(1000, 2000), 10)
    rng.shuffle(new) if seed % 3 == 0 else None
    found = aligned(keys(old), keys(new))
    assert sum(one is not None for one in found) == common(keys(old), keys(new))


@pytest.mark.parametrize("seed", range(20))
def test_positions_ascend_and_those_given_stay(seed: int):
    rng = random.Random(seed)
    given: list[int | None] = []
    at = 0
    for _ in range(rng.randrange(1, 40)):
        at += rng.randrange(1, 1000)
        given.append(at if rng.random() > 0.3 else None)
    found = placed(given)
    if found is None:
        return
    assert found == sorted(set(found))
    assert all(0 <= one <= POSITION_MAX for one in found)
    assert all(one in (None, mine) for one, mine in zip(given, found, strict=True))


def test_a_gap_without_room_is_told(monkeypatch: pytest.MonkeyPatch):
    assert placed([5, None, 6]) is None
    assert placed([None, 0]) is None
    assert len(set(fresh(10_000))) == 10_000
    monkeypatch.setattr(aligning, "POSITION_MAX", 1_000 * STEP)  # so that a few chunks are many
    assert len(set(fresh(5_000))) == 5_000 and max(fresh(5_000)) <= aligning.POSITION_MAX
