"""A wrong value of any option or argument is one line that says what is expected, of every command."""

import re
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from muisti.core.model.collisions import Echo
from muisti.core.model.errors import InvalidInput, MuistiError, PlaceTaken
from muisti.service.cli import main
from muisti.service.cli.commands.clients import CLIENTS, Client
from muisti.service.terminal.error_messages import in_words_of_a_person
from muisti.service.terminal.options import JsonObject, Moment, OrDefault, Point, Several, Span, Weighted
from muisti.service.terminal.values import Number, OneOf, Whole, line_of
from tests.service.cli_commands import tree
from tests.service.conftest import Run

pytestmark = pytest.mark.one_store

TEXT = (click.STRING, click.BOOL, click.UNPROCESSED)
FREE = (Point, click.Path, click.File)  # the service checks the text, or click names the file
WRONG = "no=such=value"
CHECKED = (Whole, Number, OneOf, Client, JsonObject, Moment, OrDefault, Several, Span, Weighted)


def checked() -> list[Any]:
    """Every option whose values are checked, with the words of its command."""
    return [
        pytest.param(path, param, id=" ".join((*path, param.opts[0])))
        for path, command in tree(main)
        for param in command.params
        if isinstance(param, click.Option) and isinstance(param.type, CHECKED) and not isinstance(param.type, Point)
    ]


def one_line(done: Result) -> str:
    """The only line of an error, without its beginning."""
    assert done.exit_code == 64, done.output
    (line,) = done.stderr.splitlines()
    assert done.stdout == "" and line.startswith("Error: ")
    return line.removeprefix("Error: ")


@pytest.mark.parametrize(("path", "option"), checked())
def test_a_wrong_value_is_one_line_that_says_what_is_expected(path: tuple[str, ...], option: click.Option):
    name = max(option.opts, key=len)
    done = CliRunner().invoke(main, [*path, name, WRONG], prog_name="muisti")
    assert one_line(done).startswith(f"{name} is '{WRONG}'; expected ")


def test_every_type_of_a_parameter_is_checked_or_takes_any_text():
    kinds = {type(param.type) for _, command in tree(main) for param in command.params}
    known = {*CHECKED, *FREE, *map(type, TEXT)}
    assert {kind for kind in kinds if kind not in known} == set()


@pytest.mark.parametrize(("words", "line"), [
    (("search", "x", "--limit", "abc"), "--limit is 'abc'; expected a whole number from 1 to 100"),
    (("search", "x", "--limit", "0"), "--limit is '0'; expected a whole number from 1 to 100"),
    (("list", "--limit", "1.5"), "--limit is '1.5'; expected a whole number of 1 or more"),
    (("search", "x", "--diversity", "nan"), "--diversity is 'nan'; expected a number from 0 to 1"),
    (("--access", "none", "list"), "--access is 'none'; expected one of read-only, append-only, no-delete, full"),
    (("add", "x", "--metadata", "[1]"), '--metadata is \'[1]\'; expected a JSON object such as {"team": "core"}'),
    (("completion", "tcsh"), "SHELL is 'tcsh'; expected one of bash, zsh, fish"),
    (("quota", "--memories", "many"), "--memories is 'many'; expected a number such as 1000 or 512MB, or default"),
], ids=lambda one: " ".join(one) if isinstance(one, tuple) else "")  # fmt: skip
def test_the_line_names_the_option_the_value_and_the_good_ones(words: tuple[str, ...], line: str):
    assert one_line(CliRunner().invoke(main, [*words], prog_name="muisti")) == line


@pytest.mark.parametrize("flag", ["--port", "--workers", "--upkeep", "--body-limit", "--log-level", "--queue-seconds"])
def test_a_wrong_setting_is_one_line_too(run: Run, flag: str):
    line = one_line(run("serve", flag, WRONG))
    assert f"{flag} is '{WRONG}'; expected " in line


def test_a_wrong_point_in_history_is_one_line_too(run: Run):
    run("add", "We deploy on Tuesdays")
    assert "; give a time such as" in one_line(run("list", "--as-of", WRONG))


def test_a_long_value_is_cut(run: Run):
    assert len(one_line(run("search", "x", "--limit", "9" * 5_000))) < 130


@pytest.mark.parametrize(("given", "meant"), [
    ("claud", "claude-code or claude-desktop"), ("claude", "claude-code or claude-desktop"),
    ("Claude Code", "claude-code"), ("cursr", "cursor"), ("VSCode", "vscode"), ("copilot", "copilot-cli or vscode"),
    ("gemini", "gemini-cli"), ("codex-cli", "codex"),
])  # fmt: skip
def test_a_misspelt_client_is_answered_with_the_nearest_and_with_all(run: Run, given: str, meant: str):
    line = one_line(run("connect", given))
    assert line == f"CLIENT is {given!r}; expected one of all, status, {', '.join(CLIENTS)}. Did you mean {meant}?"


def test_an_unknown_client_is_answered_with_the_way_without_it(run: Run):
    line = one_line(run("connect", "neovim"))
    assert all(name in line for name in CLIENTS) and "`muisti connect cursor --print`" in line
    assert '"mcpServers"' in run("connect", "cursor", "--print").stdout


def test_a_misspelt_word_is_answered_with_the_nearest(run: Run):
    assert one_line(run("search", "x", "--mode", "keywords")).endswith(". Did you mean keyword?")


def test_a_missing_argument_still_shows_the_usage(run: Run):
    assert "Usage: muisti add" in run("add").stderr


@pytest.mark.parametrize(("kind", "good", "words"), [
    (Whole(1), "3", " of 1 or more"), (Whole(max=9), "3", " of 9 or less"),
    (Number(0, 1, min_open=True), "0.5", " above 0 and of 1 or less"), (Whole(), "3", "a whole number"),
    (Number(), "0.5", "a number"),
])  # fmt: skip
def test_bounds_are_said_in_words(kind: click.ParamType, good: str, words: str):
    option = click.Option(["--some"], type=kind)
    command = click.Command("test", params=[option])
    assert command.make_context("test", ["--some", good]).params == {"some": float(good)}
    with pytest.raises(click.BadParameter) as refused:
        command.make_context("test", ["--some", "x"])
    assert line_of(refused.value).endswith(words)


@pytest.mark.parametrize(
    "error", [PlaceTaken("exchange", "c-42", 3), Echo(["1"], "$"), InvalidInput.at("$", "send limit=3")]
)
def test_a_refusal_on_the_command_line_has_no_words_of_http(error: MuistiError):
    message = getattr(error, "problems", [error])[0]
    assert re.search(r"\bsend\b|PATCH|=", in_words_of_a_person(getattr(message, "message", str(message)))) is None
