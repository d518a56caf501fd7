"""Tests that the commands and settings which pages show exist, and are right for a wheel, an image and a clone."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from jinja2 import nodes

from muisti.service.cli import main
from muisti.service.connect.clients import CLIENTS
from muisti.service.console.commands import prefixed
from muisti.service.console.render import environment
from muisti.service.settings.table import options

WAYS = {"wheel": (None, None), "image": ("docker exec a1b2", None), "clone": (None, ".venv/bin/muisti")}


def shown() -> Iterator[str]:
    """Yield the texts of templates that begin as a command or a setting does, with a word for each value."""
    for name in environment().list_templates():
        loader = environment().loader
        assert loader is not None
        parsed = environment().parse(loader.get_source(environment(), name)[0])
        parts = [one.nodes for one in parsed.find_all(nodes.Concat)]
        inside = {id(part) for one in parts for part in one}
        parts += [[one] for one in parsed.find_all(nodes.Const) if id(one) not in inside]
        for each in parts:
            yield "".join(str(part.value) if isinstance(part, nodes.Const) else "x" for part in each)


LINES = sorted({text for text in shown() if text.startswith("muisti ")})
CONNECTS = [f"muisti connect {name} --url http://h" for name in CLIENTS]


@pytest.mark.parametrize("line", [*LINES, *CONNECTS])
@pytest.mark.parametrize("way", WAYS)
def test_a_command_that_a_page_shows_can_be_typed(line: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "muisti-purge-x.json").touch()
    monkeypatch.chdir(tmp_path)
    program, inside = WAYS[way]
    words = shlex.split(prefixed(line, "http://h", program, inside))
    at = next(at for at, word in enumerate(words) if word.endswith("muisti"))
    assert words[:at] in ([], ["MUISTI_URL=http://h"], ["docker", "exec", "a1b2"])
    assert words[at] == (inside or "muisti")
    command: click.Command = main
    context = main.make_context("muisti", words[at + 1 :])
    while isinstance(command, click.Group):
        name, found, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None, line
        command, context = found, found.make_context(name, rest, parent=context)  # fails on an option that is none
    context.close()


def test_the_settings_that_pages_show_exist():
    found = {text.partition("=")[0] for text in shown() if text.startswith("MUISTI_") and "=" in text}
    assert len(found) > 2
    assert found <= {one.variable for one in options()}


def test_pages_show_commands():
    assert len(LINES) > 10
