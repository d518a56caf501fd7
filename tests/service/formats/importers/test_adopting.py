"""What was imported of Memorg becomes sessions and conversations, with both messages of an exchange in their places."""

import json
from pathlib import Path

from tests.service.conftest import Run
from tests.service.formats.importers.fixtures import FIXTURES


def test_an_import_of_memorg_is_adopted(run: Run, tmp_path: Path):
    (full,) = (one for one in FIXTURES if (one.system, one.name) == ("memorg", "full.db"))
    path = tmp_path / full.name
    full.make(path)
    assert run("import", str(path)).exit_code == 0
    done = json.loads(run("conversations", "adopt", "--json").stdout)
    assert (done["exchanges"], done["conversations"], done["sessions"], done["left"]) == (2, 1, 1, 0)
    talk = json.loads(run("conversations", "show", "con-1", "--json").stdout)
    assert (talk["title"], talk["session"], talk["turns"]) == ("Spring plans", "ses-1", 2)
    assert "anna-7" in talk["users"] and [one["turn"] for one in talk["exchanges"]] == [1, 2]
    summaries = json.loads(run("list", "--category", "summaries", "--json").stdout)
    assert {one["kind"] for one in summaries["items"]} == {"memory"} and len(summaries["items"]) == 2
