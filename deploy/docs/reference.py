"""The tables of the reference, written from the declarations: `python -m deploy.docs.reference`.

A page in `docs/reference` has a place for each part, between `<!-- from: NAME -->` and `<!-- end -->`.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from muisti.core.identity.grants import Grant
from muisti.service.app.app import create_app
from muisti.service.auth.access import Access
from muisti.service.cli import main
from muisti.service.mcp.manager import told
from muisti.service.mcp.token_budget import tokens
from muisti.service.mcp.tools import TOOLS, offered
from muisti.service.openapi.specification import document
from muisti.service.schemas.access_modes import MODES
from muisti.service.schemas.errors import KINDS
from muisti.service.settings import Option, Settings, options
from muisti.service.settings.tool_groups import GROUPS
from muisti.service.terminal.base import global_options

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PLACE = re.compile(r"(<!-- from: (?P<name>\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
NEEDED = re.compile(r"Needs (?:the scope (\w+)|a (key))\.$")
SIZES = (("GiB", 1 << 30), ("MiB", 1 << 20), ("MB", 10**6), ("", 1))
FIELDS, FILTERS = ("add", "supersede"), ("search", "changes")  # commands that share these sets of options
Row = tuple[str, str]  # an option with its value, and what it does


def table(*rows: tuple[str, ...]) -> str:
    """Return rows as a table in Markdown; the first has the titles.

    >>> print(table(("call", "does"), ("`GET /docs`", "a | b")), end="")
    |call|does|
    |---|---|
    |`GET /docs`|a \\| b|
    """
    lines = [rows[0], ("---",) * len(rows[0]), *rows[1:]]
    escaped = (tuple(cell.replace("|", "\\|") for cell in line) for line in lines)
    return "".join(f"|{'|'.join(line)}|\n" for line in escaped)


def clause(text: str) -> str:
    """Return the main clause of a summary.

    >>> clause("Read a memory: all of it. Needs a key."), clause("The body is too large.")
    ('Read a memory', 'The body is too large')
    """
    return re.split(r"[.;:](?: |$)", text)[0]


def calls() -> str:
    """Return the operations of the HTTP API: call, what it does, the scope that it needs, the status of its answers."""
    described = document(create_app(Settings()))
    rows: list[tuple[str, ...]] = []
    for path, item in described["paths"].items():
        for method, operation in item.items():
            needed = NEEDED.search(operation.get("description", ""))
            answers = " ".join(status for status in operation["responses"] if status < "400")
            row = (
                f"`{method.upper()} {path}`",
                clause(operation["summary"]),
                needed[1] or "key" if needed else "",
                answers,
            )
            rows.append(row)
    return table(("call", "does", "scope", "answers"), *rows)


def errors() -> str:
    """Return the codes of errors with their status and meaning."""
    kinds = sorted(KINDS.items(), key=lambda one: (one[1].status, one[0]))
    return table(
        ("code", "status", "when"), *((f"`{code}`", str(kind.status), clause(kind.meaning)) for code, kind in kinds)
    )


def accepted(expected: str) -> str:
    """Return the values that a setting accepts as a cell of a table.

    >>> accepted("a whole number from 1 to 64"), accepted("one of on, off"), accepted("the path of a file")
    ('1 to 64', 'on, off', 'path of a file')
    """
    text = re.sub(r"^an? (?:whole )?number from ", "", expected)
    return re.sub(r"^(?:an?|the|one of) |(?<=^a size) .*", "", text)


def settings() -> str:
    """Return the settings with their defaults and accepted values."""
    rows = [(f"`{one.variable}`", _default(one), one.description, accepted(one.expected)) for one in options()]
    return table(("variable", "default", "meaning", "accepts"), *rows)


def _default(option: Option) -> str:
    if accepted(option.expected) != "size" or not isinstance(option.default, int):
        return option.default_text
    unit, size = next((unit, size) for unit, size in SIZES if option.default % size == 0)
    return f"{option.default // size}{unit}"


def groups() -> str:
    """Return the groups of MCP tools with the tokens that their descriptions take in a client's context."""
    own = Access("x", Grant(frozenset((*MODES["full"], "admin")), ("*",)))
    rows: list[tuple[str, ...]] = []
    for group in GROUPS:
        tools = [told(tool, own).model_dump(by_alias=True, exclude_none=True) for tool in offered(own, (group,))]
        rows.append((f"`{group}`", str(len(tools)), f"{tokens(json.dumps(tools, separators=(',', ':'))):,}"))
    return table(("group", "tools", "tokens"), *rows)


def tools() -> str:
    """Return the MCP tools with their group, scope and description."""
    rows = [(f"`{tool.name}`", tool.group, f"`{tool.needs}`", tool.description) for tool in TOOLS]
    return table(("tool", "group", "scope", "does"), *rows)


def everywhere() -> str:
    """Return the options of every command."""
    return table(("option", "meaning"), *_code(_rows(global_options(), click.Context(main))))


def fields() -> str:
    """Return the options that set fields of a memory."""
    return table(("option", "meaning"), *_code(_alike(FIELDS)))


def filters() -> str:
    """Return the options that choose memories."""
    return table(("option", "meaning"), *_code(_alike(FILTERS)))


def commands() -> str:
    """Return all commands below the titles of their sections, with usage, options and an example."""
    top = click.Context(main, info_name="muisti")
    sets = {"#fields-of-a-memory": {*_alike(FIELDS)}, "#filters": {*_alike(FILTERS)}}
    parts: list[str] = []
    for title, section in main.sections.items():
        parts.append(f"### {title}\n")
        parts += [_command(context, sets) for name in section for context in _below(name, top)]
    return "\n".join(parts)


def _below(name: str, parent: click.Context) -> Iterator[click.Context]:
    assert isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent)
    yield context
    if isinstance(command, click.Group):
        for one in command.list_commands(context):
            yield from _below(one, context)


def _command(context: click.Context, sets: Mapping[str, set[Row]]) -> str:
    command: Any = context.command
    arguments = [param.make_metavar(context) for param in command.params if isinstance(param, click.Argument)]
    usage = f"`{' '.join([context.command_path, *arguments])}`"
    head = f"#### {usage}\n\n" if context.parent and context.parent.parent is None else f"**{usage}** "
    summary = clause(" ".join((command.help or "").partition("\n\n")[0].split())) + "."
    example = f" Example: `{command.examples[0]}`." if command.examples and arguments else ""
    rows = _own(context)
    whole = {anchor: one for anchor, one in sets.items() if len(one & {*rows}) > 1}
    known = set[Row]().union(*whole.values())
    named = [names for names, says in rows if (names, says) not in known]
    parts = [f"`{', '.join(name.replace(' / ', '|').replace(' ', '=') for name in named)}`"] if named else []
    parts += [f"[{anchor[1:].replace('-', ' ')}]({anchor})" for anchor in whole]
    listed = f" Options: {'; '.join(parts)}." if parts else ""
    return f"{head}{summary}{example}{listed}\n"


def _own(context: click.Context) -> list[Row]:
    """Return the options of a command without those of every command; those of `serve` are the settings."""
    flags = {option.flag for option in options()} if context.info_name == "serve" else set[str]()
    left_out = {param.name for param in global_options()} | {"dry_run"}
    own = [param for param in context.command.params if param.name not in left_out and param.opts[0] not in flags]
    return _rows(own, context)


def _rows(params: list[click.Parameter], context: click.Context) -> list[Row]:
    records = [param.get_help_record(context) for param in params if isinstance(param, click.Option)]
    return [
        (names.split(", ")[-1].replace("INTEGER RANGE", "N"), " ".join(says.split()))
        for names, says in filter(None, records)
    ]


def _code(rows: Sequence[Row]) -> list[Row]:
    return [(f"`{names}`", says) for names, says in rows]


def _alike(names: Sequence[str]) -> list[Row]:
    """Return the options that two commands have alike."""
    top = click.Context(main, info_name="muisti")
    (one, *_), (other, *_) = (list(_below(name, top)) for name in names)
    return [row for row in _own(one) if row in _own(other)]


PARTS = {
    part.__name__: part for part in (calls, errors, settings, groups, tools, everywhere, fields, filters, commands)
}


def filled(page: str) -> str:
    """Return a page with its places filled from the declarations."""
    return PLACE.sub(lambda place: f"{place[1]}{PARTS[place['name']]()}{place[3]}", page)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m deploy.docs.reference", description=__doc__).parse_args()
    for path in sorted(FOLDER.glob("*.md")):
        path.write_text(filled(path.read_text("utf-8")), "utf-8")
