"""The agent loop of the load tests: it takes the longest conversations, and no context is over its budget."""

import json
import re
from pathlib import Path

import pytest

from loadtests import agent_loop
from muisti.core.model.choices import CONTENT_MAX

WORDS = ("harbour", "lantern", "anchor", "compass", "rudder", "mooring", "signal", "current")


def data(folder: Path) -> Path:
    """Write a short conversation whose last message is too long, and a longer one."""
    lines = [
        {"group": group, "text": f"{speaker}: The {word} of {group} is number {turn}." * (1 if turn < 4 else long),
         "meta": {"speaker": speaker, "timestamp": f"2026-05-0{1 + turn}"}}
        for group, count, long in (("short", 5, CONTENT_MAX), ("long", 8, 1))
        for turn, word, speaker in zip(range(count), WORDS, ("Ann", "assistant") * 4, strict=False)
    ]  # fmt: skip
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder


def test_the_longest_conversation_comes_first_and_names_of_speakers_are_taken_off(tmp_path: Path):
    found, skipped = agent_loop.messages(data(tmp_path), 600)
    assert [one.group for one in found] == ["long"] * 8 + ["short"] * 4 and skipped == 1
    assert (found[0].text, found[0].at) == ("The harbour of long is number 0.", "2026-05-01T00:00:00Z")
    assert len(agent_loop.messages(tmp_path, 3)[0]) == 3


@pytest.mark.prove
def test_a_loop_asks_before_each_turn_of_the_user_and_stays_within_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    page = tmp_path / "why" / "agent-loop.md"
    page.parent.mkdir()
    page.write_text("<!-- bench:agent-loop -->\n<!-- /bench -->\n", "utf-8")
    options = [str(data(tmp_path)), "--turns", "12", "--budget", "200", "--docs", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["agent_loop", *options])
    assert agent_loop.main() == 0
    said, written = capsys.readouterr().out, page.read_text("utf-8")
    assert "6 contexts: 0 over budget" in written and "0 counted otherwise" in written
    assert "12 turns of long, short; 0 too long" in said and re.search(r"The \w+ of long is number \d\.", said)
