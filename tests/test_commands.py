"""Every `muisti` and `make` command that documents, pages of the console and messages print exists."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from muisti.service.cli import main
from muisti.service.settings import Settings

ROOT = Path(__file__).parent.parent
CODE = ("core", "service", "clients/python", "integrations")
FILES = [
    ROOT / "README.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "service").rglob("*.html"),
    *(path for folder in CODE for path in (ROOT / folder).rglob("*.py")),
]
# Commands as they are printed: in code marks, in a string of its own, or at the start of a line of a shell block.
PRINTED = re.compile(r"""(?:`|"|^[ ]{0,4}|=\w+ )muisti ([a-z][a-z-]*(?: [^`"'\n|#;&]*)?)""", re.MULTILINE)
OPTION = re.compile(r"--[a-z][a-z-]*")


def faults(printed: str) -> list[str]:
    """Return what a printed command names that does not exist: a command below a group, or an option."""
    command: click.Command = main
    context = click.Context(main, info_name="muisti")
    words = printed.split()
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        below = command.get_command(context, words[0])
        if below is None:
            return [] if command.invoke_without_command else [f"{printed}: no {words[0]}"]
        command, context = below, click.Context(below, info_name=words.pop(0), parent=context)
    known = {name for param in (*command.params, *main.params) for name in (*param.opts, *param.secondary_opts)}
    named = [word.split("=")[0] for word in words if OPTION.match(word)]
    passes = bool(command.context_settings.get("ignore_unknown_options"))
    return [] if passes else [f"{printed}: no {one}" for one in named if one not in {*known, "--help", "--version"}]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_printed_commands_exist(path: Path):
    found = PRINTED.findall(path.read_text("utf-8"))
    assert [fault for printed in found for fault in faults(printed)] == []


def test_a_wrong_command_is_found():
    assert faults("probes add --help") and faults("probe ad") and faults("search x --nowhere")
    assert faults("probe add --help") == faults('search "x" --limit 3 --json') == []


def test_pages_of_the_console_name_no_target_of_make():
    pages = [
        path
        for path in (ROOT / "service").rglob("*.html")
        if re.search(r"\bmake [a-z]+\b *\"", path.read_text("utf-8"))
    ]
    assert pages == [], "a wheel and an image have no Makefile"


def ranges(command: click.Command, name: str) -> list[str]:
    """Return the commands whose help shows a bound that is none."""
    context = click.Context(command, info_name=name)
    if isinstance(command, click.Group):
        below = [(one, command.get_command(context, one)) for one in command.list_commands(context)]
        return [fault for word, one in below if one is not None for fault in ranges(one, f"{name} {word}")]
    return [name] if "None" in command.get_help(context) else []


def test_no_help_shows_a_bound_that_is_none():
    assert ranges(main, "muisti") == []


@pytest.mark.parametrize("words", [[], ["graph"]], ids=str)
def test_without_a_command_the_help_is_printed(words: list[str]):
    shown = CliRunner().invoke(main, words)
    assert (shown.exit_code, shown.stderr) == (0, "") and "--help" in shown.stdout


def test_a_system_without_locks_is_refused_in_words():
    code = "import sys; sys.modules['fcntl'] = None\nfrom muisti.service.cli import main"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "ImportError: Muisti runs on Linux and macOS" in done.stderr


def test_settings_that_pages_name_exist():
    known = {f"MUISTI_{name.upper()}" for name in Settings.__struct_fields__} | {"MUISTI_KEY"}
    pages = [path.read_text("utf-8") for path in (ROOT / "service").rglob("*.html")]
    assert {name for page in pages for name in re.findall(r"MUISTI_[A-Z_]+", page)} <= known
