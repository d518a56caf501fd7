"""The links of a dialogue are those of its turns in order, whatever the order in which they came."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.dialogue import NONE, OUTSIDE, Dialogues

turns = st.one_of(st.none(), st.integers(-3, 9), st.floats(0, 9), st.just("third"))
sessions = st.sampled_from([None, "monday", "tuesday", 7])
memories = st.lists(
    st.tuples(
        st.integers(1, 3), st.sampled_from([None, "monday", "tuesday", 7]), turns, st.sampled_from([None, "ann", "bob"])
    ),
    max_size=25,
)


def rows_of(found: list[tuple]) -> list[tuple]:
    return [
        (number, session, turn, speaker) for passages, session, turn, speaker in found for number in range(passages)
    ]


def filled(rows: list[tuple], batch: int) -> Dialogues:
    dialogues = Dialogues()
    for start in range(0, len(rows), batch):
        dialogues.append(*map(list, zip(*rows[start : start + batch], strict=True)))
    return dialogues


def expected(rows: list[tuple]) -> tuple[dict[int, int], dict[int, int]]:
    sessions: dict[object, list[tuple[float, int]]] = {}
    for row, (number, session, turn, _) in enumerate(rows):
        if number == 0 and session is not None:
            own = sessions.setdefault(session, [])
            own.append((turn if isinstance(turn, int | float) else float("inf"), row))
    before, after = {}, {}
    for order in map(sorted, sessions.values()):
        for (_, left), (_, right) in zip(order, order[1:], strict=False):
            before[right], after[left] = left, right
    return before, after


@given(memories, st.integers(1, 10))
def test_each_turn_is_linked_with_its_neighbours_in_the_session(found: list[tuple], batch: int):
    rows = rows_of(found)
    dialogues = filled(rows, batch)
    check(dialogues, rows)


@given(memories, st.integers(0, 2**32 - 1))
def test_what_is_left_after_compaction_is_linked_anew(found: list[tuple], seed: int):
    rows = rows_of(found)
    dead = np.random.default_rng(seed).random(len(found)) < 0.4
    alive = np.repeat(~dead, [passages for passages, *_ in found]) if found else np.empty(0, np.bool_)
    kept = [row for row, living in zip(rows, alive, strict=True) if living]
    compacted = filled(rows, 7).only(alive)
    check(compacted, kept)
    compacted.append([0], ["monday"], [4], ["eve"])
    check(compacted, [*kept, (0, "monday", 4, "eve")])


def check(dialogues: Dialogues, rows: list[tuple]) -> None:
    before, after = expected(rows)
    assert dialogues.linked == any(session is not None for _, session, _, _ in rows)
    if dialogues.linked:
        missing = [NONE if number == 0 and session is not None else OUTSIDE for number, session, _, _ in rows]
        assert dialogues.before().tolist() == [before.get(row, none) for row, none in enumerate(missing)]
        assert dialogues.after().tolist() == [after.get(row, none) for row, none in enumerate(missing)]
    names = dialogues.speakers.names
    if len(dialogues.speaker()):
        assert [None if code == NONE else names[code] for code in dialogues.speaker()] == [row[3] for row in rows]
    else:
        assert not any(row[3] for row in rows)
