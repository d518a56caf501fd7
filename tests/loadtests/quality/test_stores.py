"""A question of a store passes when all that it wants has surfaced, and nothing else; instructions may come beside."""

import pytest

from loadtests.quality.stores import WITHOUT, Question, Surfaced, stores, table


def found(wanted: str, hits: str, lane: str = "", kind: str = "direct") -> Surfaced:
    return Surfaced(Question("?", kind, tuple(wanted)), tuple(hits), tuple(lane))


@pytest.mark.parametrize(
    ("wanted", "hits", "lane", "passes"),
    [
        ("a", "a", "", True),
        ("a", "", "a", True),
        ("a", "", "", False),
        ("a", "ab", "", False),
        ("ab", "a", "", False),
        ("", "", "", True),
        ("", "a", "", False),
        ("a", "a", "b", True),
    ],
)
def test_exactly_what_is_wanted_has_to_surface(wanted: str, hits: str, lane: str, passes: bool):
    assert found(wanted, hits, lane).passes is passes


def test_every_store_answers_its_questions_and_each_half_has_five():
    every = stores()
    assert sorted(one.half for one in every) == ["seen"] * 5 + ["unseen"] * 5
    for store in every:
        named = {name for question in store.questions for name in question.answers}
        assert named <= store.beliefs.keys() - store.superseded and store.superseded <= store.beliefs.keys()
        assert all(bool(one.answers) != (one.kind in WITHOUT) for one in store.questions)


def test_the_table_has_a_row_for_each_kind_and_two_for_all():
    lines = [*table([found("a", "a"), found("", "b", kind="near")])]
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| direct", "| near", "| all with an answer", "| all"]
    assert lines[-1] == "| all | 2 | 0.50 | 0.50 | 1.00 |"
