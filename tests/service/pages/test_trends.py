"""Lines of ranks, and answers of before beside those of now."""

from hypothesis import given
from hypothesis import strategies as st

from muisti.service.pages import quality

RANKS = st.lists(st.none() | st.integers(1, 100), max_size=20)


@given(RANKS, st.integers(1, 100))
def test_every_rank_has_a_point_within_the_picture_and_better_ranks_are_higher(ranks: list[int | None], k: int):
    line = quality.line_of(ranks, k)
    points = [tuple(map(int, one.split(","))) for one in line["points"].split()]
    assert len(points) == len(ranks)
    assert all(0 <= x <= quality.WIDTH and 0 <= y <= quality.HEIGHT for x, y in points)
    for (_, y), rank in zip(points, ranks, strict=True):
        for (_, other), worse in zip(points, ranks, strict=True):
            if rank is not None and (worse is None or rank <= worse):
                assert y <= other


def test_a_probe_that_is_younger_than_a_run_has_no_point_there():
    assert quality.line_of([quality.ABSENT, 3], 5)["points"].count(",") == 1
    assert quality.line_of([quality.ABSENT], 5)["words"] == "not run yet"


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_each_memory_of_both_answers_has_one_row_with_both_ranks(then: list[str], now: list[str]):
    kept = [{"id": id_, "rank": rank, "score": 1.0} for rank, id_ in enumerate(then, 1)]
    found = [{"memory": {"id": id_}, "score": 1.0} for id_ in now]
    rows = {row["id"]: row for row in quality.compared(kept, found, [])}
    assert set(rows) == {*then, *now}
    assert all(row["then"] == (then.index(id_) + 1 if id_ in then else None) for id_, row in rows.items())
    assert all(row["now"] == (now.index(id_) + 1 if id_ in now else None) for id_, row in rows.items())
