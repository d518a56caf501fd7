"""Points of history on the command line: numbers, times and names of checkpoints."""

import pytest

from muisti.service.checkpoints.commands import point_of


@pytest.mark.parametrize("text", ["17", "2026-01-31T09:30:00+00:00", "before-import"])
def test_what_is_no_word_of_time_asks_for_no_checkpoints(text: str):
    assert point_of(None, text) == text  # pyright: ignore[reportArgumentType]  # a session that cannot be asked
