"""The command that suggests preferences which users state in a conversation."""

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_preferences_are_shown_first_then_stored_once(run: Run):
    run("conversations", "add", "c", "I prefer tea. Do you?", "--author", "Ann")
    run("conversations", "add", "c", "I prefer coffee myself.", "--author", "assistant")
    tried = run("conversations", "suggest", "c", "--dry-run")
    assert tried.exit_code == 0, tried.output
    turn, status, _, text = tried.stdout.strip().split("\t")
    assert (turn, status, text) == ("1", "created", "I prefer tea.")
    assert run("list", "--type", "preference", "--status", "candidate").stdout == ""
    stored = run("conversations", "suggest", "c").stdout.strip().split("\t")
    assert stored[1] == "created"
    assert stored[2] in run("list", "--type", "preference", "--status", "candidate").stdout
    assert run("conversations", "suggest", "c").stdout.split("\t")[1] == "duplicate"
    accepted = run("update", stored[2], "--status", "active")
    assert accepted.exit_code == 0, accepted.output
    assert "I prefer tea." in run("context", "drinks", "--section", "profile", "--all").stdout
