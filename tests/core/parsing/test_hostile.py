"""Hostile files give the right text or a stable code, and the next file is read.

`python -m tests.core.parsing.hostile` measures them.
"""

from pathlib import Path

import pytest

from muisti.core.parsing.parsed import Options
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples
from tests.core.parsing.hostile import CASES, TEXT, Hostile, answers

GOOD = samples.pdf("A good file.")


@pytest.mark.parametrize("case", [case for case in CASES if not case.large], ids=lambda case: case.name)
def test_a_hostile_file_is_answered_and_harms_nothing(
    case: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: Workers
):
    monkeypatch.chdir(tmp_path)
    path, good = tmp_path / case.name, tmp_path / "good.pdf"
    path.write_bytes(case.make())
    good.write_bytes(GOOD)
    found = [*answers(path, Options(), workers)]
    assert found and {code for code, _ in found} <= case.answers
    assert not any("root:" in text for _, text in found)  # of /etc/passwd
    assert [*answers(good, Options(), workers)] == [(TEXT, "A good file.")]
    assert {one.name for one in tmp_path.iterdir()} == {case.name, "good.pdf"}
