"""Adoption of messages as earlier versions imported them of Memorg: sessions and conversations, with turns in order."""

import json
from pathlib import Path

from tests.service.conftest import Run

WHERE = {"session": "ses-1", "conversation": "con-1", "conversation_title": "Spring plans", "exchange": "exc-1"}
MESSAGES = [
    {"id": f"0197a3c0-5f4e-7000-8000-00000000000{turn}", "content": text, "author": author,
     "category": "conversations", "metadata": {**WHERE, "turn": turn}}
    for turn, (author, text) in enumerate(
        [("anna-7", "Which paint for the hull?"), ("assistant", "Two coats of epoxy")], start=1
    )
]  # fmt: skip


def test_messages_of_an_earlier_import_of_memorg_are_adopted(run: Run, tmp_path: Path):
    header = {"type": "muisti", "format": 2, "source": "memorg"}
    lines = [header, *({"type": "memory", "memory": one} for one in MESSAGES), {"type": "end", "lines": 3}]
    (tmp_path / "earlier.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert run("import", str(tmp_path / "earlier.ndjson")).exit_code == 0
    done = json.loads(run("conversations", "adopt", "--json").stdout)
    assert (done["exchanges"], done["conversations"], done["sessions"], done["left"]) == (2, 1, 1, 0)
    talk = json.loads(run("conversations", "show", "con-1", "--category", "conversations", "--json").stdout)
    assert (talk["title"], talk["session"], talk["turns"]) == ("Spring plans", "ses-1", 2)
    assert "anna-7" in talk["users"] and [one["turn"] for one in talk["exchanges"]] == [1, 2]
