import random

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from loadtests.quality import summaries, topics
from loadtests.quality.topics import STRETCHES, TEXTS, TURNS, Text, errors, halves
from loadtests.quality.turns import sessions
from muisti.service.evaluation.dataset import Dataset, DatasetError, Document

SUBJECTS = ("flat rent balcony river", "cat vet fur basket", "ship harbour sail wind", "bread oven flour salt")


def conversation(groups: int = 20, turns: int = 12) -> Dataset:
    """Return a set in which each group is one session on one of a few subjects."""
    draw = random.Random(0)
    documents = {
        f"g{group}": tuple(
            Document(
                id=f"g{group}/{turn}",
                part=0,
                text=f"Ann: {' '.join(draw.choices(SUBJECTS[group % len(SUBJECTS)].split(), k=8))}",
                meta={"session": "s"},
            )
            for turn in range(turns)
        )
        for group in range(groups)
    }
    return Dataset(name="made", documents=documents, queries={}, qrels={}, notes=())


def test_joined_texts_have_known_boundaries_and_halves_share_no_session() -> None:
    made = conversation()
    tuning, reported = halves(made)
    assert len(tuning) == len(reported) == TEXTS
    for text in (*tuning, *reported):
        assert len(text.boundaries) == STRETCHES - 1
        assert all(
            after - before >= TURNS[0] for before, after in zip((0, *text.boundaries), text.boundaries, strict=False)
        )
    of_turn = {turn.text: key for key, turns in sessions(made).items() for turn in turns}
    used = [{of_turn[turn] for text in half for turn in text.turns} for half in (tuning, reported)]
    assert len(used[0]) <= 10 >= len(used[1])


@given(st.integers(20, 60), st.data())
def test_errors_are_shares_and_perfect_guesses_have_none(length: int, data: st.DataObject) -> None:
    places = st.frozensets(st.integers(1, length - 1), max_size=6)
    text = Text(("said",) * length, tuple(sorted(data.draw(places))))
    guess = errors(text, data.draw(places))
    assert 0 <= guess.pk <= guess.window_diff <= 1
    assert errors(text, text.boundaries).window_diff == 0
    middle = Text(("said",) * 40, (20,))
    assert errors(middle, [21]).pk < errors(middle, []).pk  # off by one costs less than none


def test_lines_of_a_meeting_are_turns_of_their_speakers() -> None:
    meeting = Document(id="m", part=0, text="Ann B: Hello .\nBob: Yes: it is .\nno name", meta={"turns": [0, 2]})
    made = Dataset(name="m", documents={"g": (meeting,)}, queries={}, qrels={}, notes=())
    (said,) = sessions(made).values()
    assert [(turn.number, turn.author, turn.text) for turn in said] == [
        (0, "Ann B", "Hello ."),
        (1, "Bob", "Yes: it is ."),
        (2, "", "no name"),
    ]


def test_change_points_beat_no_boundary_on_made_texts() -> None:
    _, reported = halves(conversation())
    ours, _ = topics.measured(topics.change_points(), reported[:5])
    none, _ = topics.measured(lambda _: [], reported[:5])
    assert ours.pk < none.pk


def test_summaries_of_all_own_ways_fit_the_budget() -> None:
    (turns, *_) = sessions(conversation()).values()
    ways = summaries.ways(lambda term: 1.0)
    for name in ("the first sentences", "random sentences", "**coverage of words**"):
        text = ways[name](turns, 30)
        assert 0 < summaries.tokens(text) <= 30


@pytest.mark.parametrize("command", [topics.main, summaries.main])
def test_a_folder_without_data_or_with_too_few_sessions_is_told(command, tmp_path) -> None:
    done = CliRunner().invoke(command, [str(tmp_path)])
    assert done.exit_code == 1
    assert "corpus.jsonl" in done.output
    with pytest.raises(DatasetError, match="too few"):
        halves(conversation(groups=5))
