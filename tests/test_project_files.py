"""Files for contributors: hooks need no network, forms can be read."""

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_every_hook_is_local_and_runs_what_is_there_and_there_are_forms():
    assert [path.stem for path in FORMS] == ["bug", "feature"]
    assert {repo["repo"] for repo in HOOKS["repos"]} == {"local"}
    hooks: list[dict[str, Any]] = [hook for repo in HOOKS["repos"] for hook in repo["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert {hook["entry"].split()[0] for hook in hooks} <= {".venv/bin/ruff", "git"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_every_form_asks_for_something(path: Path):
    form = yaml.safe_load(path.read_text("utf-8"))
    assert form["name"] and form["description"]
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert ids and len(set(ids)) == len(ids)
