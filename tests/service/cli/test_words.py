"""Words between commands and people: refusals name what was typed, times are words, nothing is erased unasked."""

import json
import os
import pty
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select

import click
import pytest

from muisti.service.cli import main
from muisti.service.cli.commands.serve import GROUPS
from muisti.service.settings import options
from muisti.service.terminal.options import Moment, Point, seconds_of
from tests.service.cli.test_cli import TOKEN, added, for_a_person
from tests.service.conftest import Run

MUISTI = Path(sys.executable).with_name("muisti")
NO_PATH = "$."


@pytest.mark.parametrize(("words", "named"), [
    (["search"], "QUERY: "), (["add", "x", "--key", "k"], "--key: "), (["add", " "], "TEXT: "),
    (["add", TOKEN], "TEXT: holds what looks like a secret"), (["list", "--cursor", "x"], "--cursor: "),
    (["add", "x", "--metadata", json.dumps({"a": {"b": TOKEN}})], "--metadata (a.b): "),
    (["add", "x", "--author", "a" * 999], "--author: "), (["add", "x", "--tag", "t" * 999], "--tag: "),
    (["list", "--filter", '{"colour": "red"}'], "--filter (colour): "), (["list", "--as-of", "x"], "--as-of: "),
    (["search", "x", "--half-life", "1e99"], "--half-life: "),
    (["changes", "--since", "x"], "--since: "), (["purge", "--everything", "--yes", "--no-report"], "--confirm: "),
    (["keys", "create", "n", "--mode", "read-only", "--spaces", "A B"], "--spaces: "),
    (["purge", "--older-than-days", "-1", "--yes", "--no-report"], "--older-than-days: "),
    (["policy", "--purge-after-days", "0"], "--purge-after-days: "), (["probe", "add", " ", "c", "k"], "QUERY: "),
    (["webhook", "create", "nonsense"], "URL: "), (["space", "create", "A B"], "NAME: "),
], ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "")  # fmt: skip
def test_a_refusal_names_what_was_typed_and_says_it_once(words: list[str], named: str, run: Run):
    run("add", "something")
    result = run(*words)
    assert result.exit_code in (1, 64) and NO_PATH not in result.stderr, result.stderr
    assert result.stderr.count(named.rstrip()) >= 1, result.stderr
    lines = [line.strip() for line in result.stderr.splitlines()]
    assert len(lines) == len({*lines}) and result.stderr.count("holds what looks like") <= 1


@pytest.mark.parametrize(("word", "meant"), [
    ("rm", "'delete'"), ("show", "'get'"), ("find", "'search'"), ("remember", "'add' or 'put'"), ("ls", "'list'"),
    ("project", "'space'"), ("create", "'add' or 'put'"), ("edit", "'update'"), ("reindex", "'reembed'"),
    ("help", "`muisti --help`"), ("version", "`muisti --version`"), ("serch", "'search'"),
])  # fmt: skip
def test_another_word_for_a_command_names_it(word: str, meant: str, run: Run):
    result = run(word)
    assert result.exit_code == 64 and f"Did you mean {meant}?" in result.stderr
    assert "'revoke'" in run("keys", "rm", "x").stderr


@pytest.mark.parametrize("words", [(), ("add",), ("keys",), ("keys", "create"), ("serve",)], ids=" ".join)
def test_h_is_help_and_the_global_options_are_described_once(words: tuple[str, ...], run: Run):
    shown = run(*words, "-h").stdout
    assert shown == run(*words, "--help").stdout and shown.startswith("Usage: muisti")
    assert ("Use the server at this URL" in shown) == (words == ()) and "--url" in shown


def test_every_setting_is_in_one_group_of_the_help_of_serve(run: Run):
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(option.name for option in options())
    shown = run("serve", "--help").stdout
    assert all(f"{title}:\n" in shown for title in GROUPS) and all(option.flag in shown for option in options())


@pytest.mark.parametrize(
    ("words", "days"), [("7d", 7), ("2w", 14), ("36h", 1.5), ("yesterday", None), ("last week", None), ("now", 0)]
)
def test_words_of_time_count_from_now(words: str, days: float | None):
    past = datetime.fromisoformat(Moment().convert(words, None, None))
    now = datetime.now(UTC)
    if days is None:
        assert now - timedelta(days=15) < past < now and (past.hour, past.minute) == (0, 0)
        return
    ahead = datetime.fromisoformat(Moment(ahead=True).convert(words, None, None))
    for found, wanted in ((past, now - timedelta(days=days)), (ahead, now + timedelta(days=days))):
        assert abs(found - wanted) < timedelta(minutes=1)


@pytest.mark.parametrize("words", ["someday", "90", "deploys in May were late", "", "99999999999d", "before 2020"])
def test_what_is_no_time_is_refused(words: str):
    if words == "":
        assert Moment().convert(words, None, None) == ""
        return
    with pytest.raises(click.BadParameter, match="expected a time such as"):
        Moment().convert(words, None, None)


def test_a_point_of_history_may_be_a_number_and_a_span_has_a_bound():
    assert Point().convert("17", None, None) == "17"
    assert seconds_of("9999999999d") is None and seconds_of("2w") == 1_209_600


def test_filters_and_keys_take_words_of_time(run: Run):
    added(run, "new")
    assert run("list", "--after", "yesterday").stdout.count("\n") == 1
    assert run("list", "--before", "1h").stdout == ""
    assert run("keys", "create", "n", "--mode", "read-only", "--spaces", "notes", "--expires", "1d").exit_code == 0
    until = run("keys", "list").stdout.strip().rpartition("until ")[2]
    assert timedelta(hours=23) < datetime.fromisoformat(until) - datetime.now(UTC) < timedelta(hours=25)


def test_a_pipe_is_not_flooded_unless_it_is_asked_to(run: Run):
    long = "Deploys happen on Tuesdays. " + "All other days are for other things. " * 1_400
    added(run, long)
    for words in (("search", "deploys", "--all"), ("list",), ("changes",)):
        (line,) = run(*words).stdout.splitlines()
        assert len(line) < 700 and "Deploys happen" in line and line.endswith("…")
    for words in (("search", "deploys", "--all", "--full"), ("list", "--full")):
        assert long.strip() in run(*words).stdout


def test_sizes_and_factors_for_people_are_words(run: Run, monkeypatch: pytest.MonkeyPatch):
    added(run, "We deploy on Tuesdays")
    for_a_person(monkeypatch)
    sizes = run("stats").stdout
    assert "of type fact" in sizes and "by.kind" not in sizes and ("ago" in sizes or "now" in sizes)
    shown = run("search", "deploy", "--explain").stdout
    assert "words" in shown and "multiplied by" in shown and "=" not in shown


@pytest.mark.file_only
def test_a_reader_that_has_enough_is_no_failure_of_a_pipe(run: Run):
    for number in range(3):
        added(run, f"memory {number} " + "of many words " * 4_000)
    env = {**os.environ, "MUISTI_EMBEDDINGS": "off"}
    line = f"set -o pipefail; {MUISTI} list --full | head -c 1 >/dev/null"
    done = subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.file_only
def test_a_shell_completes_names_of_the_database(run: Run, home: Path):
    memory = added(run, "We deploy", "--category", "rules", "--tag", "infra,prod")
    run("add", "other", "--space", "acme.web")

    def completed(*words: str) -> set[str]:
        env = {**os.environ, "COMP_WORDS": " ".join(("muisti", *words)), "COMP_CWORD": str(len(words))}
        done = subprocess.run(
            [MUISTI], env={**env, "_MUISTI_COMPLETE": "bash_complete"}, capture_output=True, text=True, timeout=60
        )
        assert done.stderr == ""
        return {line.partition(",")[2] for line in done.stdout.splitlines() if line}

    assert {"acme.web", "notes"} <= completed("list", "--space", "")
    assert completed("list", "--category", "r") == {"rules"} and completed("add", "x", "--tag", "infra,p") == {
        "infra,prod"
    }
    assert completed("get", memory["id"][:4]) == {memory["id"]}
    run("add", "Ann likes tea", "--category", "people", "--key", "ann", "--author", "Ann")
    assert completed("get", "peo") == {"people/ann"} and completed("add", "x", "--key", "") == {"ann"}
    assert completed("list", "--author", "A") == {"Ann"}
    assert completed("list", "--database", "nope/x.db", "--tag", "") == set() and not Path("nope").exists()


def in_a_terminal(*words: str, typed: str) -> tuple[int, str]:
    """Run a command whose three streams are a terminal, and type input."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([MUISTI, *words], stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True) as process:
        os.close(theirs)
        seen, sent = b"", False
        while True:
            try:
                piece = os.read(ours, 4096) if select([ours], [], [], 60)[0] else b""
            except OSError:  # the other side has closed
                break
            if not piece:
                break
            seen += piece
            if not sent and b"[y/N]" in seen:
                os.write(ours, f"{typed}\n".encode())
                sent = True
        code = process.wait(60)
    os.close(ours)
    return code, seen.decode()


@pytest.mark.file_only
def test_a_purge_asks_on_a_terminal_and_wants_consent_elsewhere(run: Run):
    for number in range(5):
        run("add", f"note {number} of Ann", "--author", "Ann")
    silent = run("purge", "--author", "Ann")
    assert silent.exit_code == 64 and "--yes" in silent.stderr and "--dry-run" in silent.stderr
    refused, seen = in_a_terminal("purge", "--author", "Ann", typed="n")
    assert refused == 1 and "Erase 5 memories of the space notes permanently" in seen
    assert seen.count("of Ann") == 3 and "and 2 more" in seen and "Nothing was erased" in seen
    assert len(run("list").stdout.splitlines()) == 5 and [*Path.cwd().iterdir()] == []
    agreed, seen = in_a_terminal("purge", "--author", "Ann", typed="y")
    assert agreed == 0 and run("list").stdout == ""
    (report,) = Path.cwd().iterdir()
    assert report.name in "".join(seen.split()) and run("verify-report", report.name).exit_code == 0


@pytest.mark.file_only
@pytest.mark.parametrize("words", [
    ("purge", "--author", "Ann", "--yes"), ("space", "delete", "notes", "--confirm", "notes"),
    ("purge", "--everything", "--confirm", "notes"),
], ids=" ".join)  # fmt: skip
def test_what_erases_for_good_keeps_its_signed_report(words: tuple[str, ...], run: Run):
    run("add", "note of Ann", "--author", "Ann")
    assert run(*words, "--dry-run").exit_code == 0 and [*Path.cwd().iterdir()] == []
    unwritable = run(*words, "--report", "nope/r.json")
    assert unwritable.exit_code == 1 and "nothing was erased" in unwritable.stderr
    assert len(run("list").stdout.splitlines()) == 1
    assert run(*words).exit_code == 0
    (report,) = Path.cwd().iterdir()
    assert report.name.startswith("muisti-purge-") and report.stat().st_mode & 0o077 == 0
    if words[0] == "purge":
        assert run("verify-report", str(report)).exit_code == 0
        report.unlink()
        assert run(*words, "--no-report").exit_code == 0 and [*Path.cwd().iterdir()] == []


def test_the_main_command_has_no_twin_of_a_synonym():
    names = main.list_commands(click.Context(main))
    assert not {"rm", "show", "find", "help", "version"} & {*names}
