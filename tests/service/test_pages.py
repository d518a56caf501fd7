"""Blocks of code in the documents: requests are accepted, commands and options exist, JSON and Python can be read."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import httpx
import pytest

from muisti.service.cli import main
from tests import curl

pytestmark = pytest.mark.one_store

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md"))}
FENCE = re.compile(r'^```(\w+)(?: title="[^"]*")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
REFUSED = {400, 405, 415, 422, 500}  # statuses of requests that no state of a space makes right
HERE = ":8321/"
ELSEWHERE = {
    "reference/http.md",
    "concepts/conversations.md",
    "how-to/recipes.md",
}  # tests of their own compare answers
COMMAND = re.compile(r"(?:^|[|;&] *|\$ )((?:[A-Z_]+=\S+ +)*muisti(?: [^|;&#\n]*)?)(?= *(?:[|;&#]|$))", re.MULTILINE)


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """Yield the page and text of each block in a language."""
    for name, text in PAGES.items():
        yield from ((name, code) for found, code in FENCE.findall(text) if found == language)


def commands() -> Iterator[tuple[str, str]]:
    """Yield the page and text of each command line of Muisti, in fenced and in indented blocks."""
    for name, text in PAGES.items():
        for _, code in FENCE.findall(text):
            yield from ((name, line) for line in COMMAND.findall(code.replace("\\\n", " ")))
        for code in INDENTED.findall(FENCE.sub("", text)):
            yield from ((name, line.strip()) for line in COMMAND.findall(re.sub("^    ", "", code, flags=re.MULTILINE)))


def requests() -> Iterator[tuple[str, str]]:
    for name, text in PAGES.items():
        for language, code in FENCE.findall(text):
            if language in ("sh", "text") and name not in ELSEWHERE:
                yield from ((name, line) for line in curl.lines(code) if line.startswith("curl ") and HERE in line)


@pytest.mark.parametrize(("page", "line"), [*requests()])
def test_requests_are_accepted(page: str, line: str, client: httpx.Client, tmp_path: Path):
    for name in re.findall(r"@([\w.-]+)", line):
        (tmp_path / name).write_text("Deploys go out on Fridays.", "utf-8")
    request = curl.read(line, tmp_path, {"MUISTI_KEY": "", "id": "01a20131-1568-7a87-a6e0-b5363d498cec"})
    request.headers.pop("Authorization", None)
    answer = request.send(client)
    assert answer.status_code not in REFUSED, (line, answer.text[:300])
    assert answer.status_code != 404 or answer.json()["code"] != "no_route", (line, answer.text)


@pytest.mark.parametrize(("page", "line"), sorted({*commands()}))
def test_commands_and_options_exist(page: str, line: str):
    words = [word for word in shlex.split(line, comments=True) if not re.match(r"[A-Z_]+=", word)][1:]
    command: click.Command = main
    context = click.Context(main, info_name="muisti")
    try:
        while isinstance(command, click.Group) and words:
            context = command.make_context(command.name, words, parent=context.parent and context)
            words = [*context._protected_args, *context.args]  # pyright: ignore[reportPrivateUsage]
            _, below, words = command.resolve_command(context, words)
            assert below is not None
            command = below
        command.make_context(command.name, words, parent=context)
    except click.exceptions.Exit:
        pass
    except click.BadParameter as error:
        assert "exist" in error.message or isinstance(error.param, click.Argument), error.message


@pytest.mark.parametrize(("page", "code"), [*blocks("python")])
def test_python_compiles(page: str, code: str):
    compile(code, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize(("page", "code"), [*blocks("json")])
def test_json_can_be_read(page: str, code: str):
    for one in code.split("\n\n"):
        text = re.sub(r"^[A-Z]+ /.*\n", "", one)
        json.loads(text if _reads(text) else re.sub(r", …|…,|…(?=[\]}])", "", text))


def _reads(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
