"""Commands that are entries: their arguments, options, bounds and choices are those of the operation."""

import json
from typing import Any

import click
import pytest

from muisti.client import calls
from muisti.client.operations import OPERATIONS
from muisti.service.terminal.calling import calling
from muisti.service.terminal.views import same
from tests.service.conftest import Run

IDS = same("id")


def test_an_entry_takes_what_the_operation_declares():
    made = calling("redeliver ID=webhook_id --since --dry-run", calls.redeliver_webhook, IDS, "muisti webhook …")
    shown = {param.name: param for param in made.params if param.name in ("webhook_id", "since", "dry_run")}
    since = shown["since"]
    assert made.name == "redeliver" and shown["webhook_id"].metavar == "ID" and len(shown) == 3
    assert isinstance(since, click.Option) and isinstance(since.type, click.IntRange) and since.type.min == 0
    declared = json.loads(OPERATIONS["redeliver_webhook"])
    assert since.help == declared["body"]["since"]["description"] and declared["about"] in str(made.help)


@pytest.mark.parametrize("words", ["redeliver ID", "redeliver ID=webhook_id --sinse", "redeliver ID=webhook_id --url"])
def test_an_entry_names_only_what_the_operation_takes(words: str):
    with pytest.raises(KeyError):
        calling(words, calls.redeliver_webhook, IDS)


@pytest.mark.parametrize(("words", "expected"), [
    (("webhook", "redeliver", "x", "--since", "-1"), "--since is '-1'; expected a whole number of 0 or more"),
    (("conflicts", "decide", "1", "keeep"), "DECISION is 'keeep'; expected one of keep, reject, supersede"),
    (("webhook", "create", "https://x", "--change", "make"), "--change is 'make'; expected one of created,"),
    (("graph", "neighbours", "Ann", "--depth", "9"), "--depth is '9'; expected a whole number from 1 to 3"),
])  # fmt: skip
def test_bounds_and_choices_are_those_of_the_operation(words: tuple[str, ...], expected: str, run: Run):
    result: Any = run(*words)
    assert result.exit_code == 64 and expected in result.stderr
