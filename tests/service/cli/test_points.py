"""Points of history on the command line: times in words reach every command, and a checkpoint keeps its name."""

from collections.abc import Callable

import pytest
from click.testing import Result

from muisti.service.cli.commands.checkpoints import point_of
from tests.service.cli.test_cli import added

Run = Callable[..., Result]


def test_changes_since_a_time_are_those_after_it(run: Run):
    for text in ("first", "second"):
        added(run, text)
    for since in ("yesterday", "7d", "2h"):  # the space is younger: all that there is
        assert run("changes", "--since", since).stdout.count("\n") == 2
    assert run("changes", "--since", "now").stdout == ""
    assert run("changes", "--since", "tomorrow-ish").exit_code == 64


def test_a_checkpoint_keeps_its_name_though_it_is_a_word_of_time(run: Run):
    added(run, "first")
    assert run("checkpoint", "create", "now").exit_code == 0
    added(run, "second")
    assert run("diff", "now").stdout.split("\t")[0] == "added"  # since the checkpoint, not since this moment
    assert run("rollback", "now").stdout == "0\t0\t1\n"
    assert [line.split("\t")[-1] for line in run("list").stdout.splitlines()] == ["first"]


def test_a_diff_between_times_in_words(run: Run):
    added(run, "first")
    assert run("diff", "now").stdout == ""
    early = run("diff", "7d")
    assert early.exit_code == 1 and "has no earlier history" in early.stderr
    assert run("documents", "list", "--as-of", "now").exit_code == 0


@pytest.mark.parametrize("text", ["17", "2026-01-31T09:30:00+00:00", "before-import"])
def test_what_is_no_word_of_time_asks_for_no_checkpoints(text: str):
    assert point_of(None, text) == text  # pyright: ignore[reportArgumentType]  # a session that cannot be asked
