"""The demo command."""

import io
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from importlib import import_module, resources
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import msgspec

from muisti.client import calls
from muisti.service import cli
from muisti.service.terminal.base import ERROR, Failure, Globals, command
from muisti.service.terminal.options import option
from muisti.service.terminal.output import console, for_people, print_json
from muisti.service.terminal.session import Client, client, compile_once, in_force, server_url
from muisti.service.terminal.views import cell, fields, grid, indented, stack, tabbed

SPACE = "demo"
CONTRADICTION = "The staging database runs on port 5436 and is rebuilt from a masked backup each Monday."
COMMANDS = (
    ("Found by meaning: the answer says roll back", 'muisti search "reverting a bad release" --limit 2'),
    ("Time words prefer memories of that time", 'muisti search "incidents in July" --limit 2'),
    ("Two databases, of which one is meant", 'muisti search "port of the staging database" --limit 2'),
    ("Nothing here is about this, and the answer says so", 'muisti search "Who wins the elections in Peru?"'),
    ("A memory that contradicts another is not stored", f'muisti add "{CONTRADICTION}"'),
    ("What the space holds", "muisti categories"),
)


@command("muisti demo", "muisti demo --keep harbour.db", "muisti demo --json")
@option("--keep", "Keep the demo's database in FILE.", click.Path(dir_okay=False, path_type=Path), metavar="FILE")
def demo(options: Globals, keep: Path | None) -> None:
    """Try Muisti on a made-up project.

    Stores 200 memories of a team that runs ferries, asks questions, stores a contradiction, and shows how long each
    step took. The demo has a database of its own, which is deleted afterwards unless --keep names a file.
    """
    if server_url(options):
        raise click.UsageError("the demo runs on a database of its own: leave out --url and MUISTI_URL")
    if keep is not None and keep.exists():
        raise Failure(f"{keep} exists already; name another file, or delete it", ERROR)
    compile_once(options)
    done: list[Step] = []
    with _folder(keep) as path:
        for step in _steps(options, path):
            done.append(step)
            if not options.json:
                _tell(options, len(done), step)
    if options.json:
        print_json({"steps": [asdict(step) for step in done]})
    elif for_people(options):
        console(options).print(_summary(done, keep))


@dataclass(frozen=True, slots=True)
class Step:
    """Step of the demo, with its time in seconds, the command that was run (None if there was none) and its output."""

    title: str
    command: str | None
    seconds: float
    lines: list[str]


class _Captured(io.TextIOWrapper):
    """Stream that collects a command's output. It claims to be a terminal where the demo runs on one."""

    def __init__(self, *, isatty: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self._isatty = isatty

    def isatty(self) -> bool:
        return self._isatty

    def lines(self) -> list[str]:
        self.seek(0)
        return [line.rstrip() for line in self.read().splitlines() if line.strip()]


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="muisti-demo-") as folder:
        yield Path(folder) / "demo.db"


def _steps(options: Globals, path: Path) -> Iterator[Step]:
    settings = msgspec.structs.replace(in_force(options), database_url=f"file:{path}")
    began = perf_counter()
    with client(options, settings, create=True) as opened:
        opened.send(calls.create_space({"name": SPACE}))
        yield Step("Start on an empty database", None, perf_counter() - began, [])
        text = resources.files("muisti.service").joinpath("static", "harbour.ndjson").read_bytes()
        began = perf_counter()
        stored = [msgspec.json.decode(line) for line in text.splitlines()]
        opened.send(calls.add_memories(SPACE, {"memories": stored}, atomic=True, on_conflict="keep"))
        summary = f"{len(stored)} memories of Harbourline, a team that runs ferries between islands."
        yield Step("Store 200 memories, each embedded and indexed", None, perf_counter() - began, [summary])
        for title, command in COMMANDS:
            began = perf_counter()
            lines = _run(options, opened, command)
            yield Step(title, command, perf_counter() - began, lines)


def _run(options: Globals, opened: Client, command: str) -> list[str]:
    lent = Globals(space=SPACE, plain=options.plain, no_color=options.no_color, opened=opened)
    out = _Captured(isatty=for_people(options))
    with redirect_stdout(out), redirect_stderr(out), suppress(SystemExit):  # refusals are shown as output too
        cli.main.main(shlex.split(command)[1:], prog_name="muisti", obj=lent)
    return out.lines()


def _tell(options: Globals, number: int, step: Step) -> None:
    if not for_people(options):
        click.echo(tabbed(number, f"{step.seconds * 1000:.0f} ms", step.title, *step.lines))
        return
    head = cell(f"{number}. {step.title}", "bold") + cell(f"   {step.seconds * 1000:,.0f} ms", "green")
    ran = [cell(f"$ {step.command}", "dim")] if step.command else []
    printed = [import_module("rich.text").Text.from_ansi(line) for line in step.lines]
    console(options).print(stack(head, indented(stack(*ran, *printed, cell("")))))


def _summary(done: list[Step], keep: Path | None) -> Any:
    rows = ((step.title, f"{step.seconds * 1000:,.0f}") for step in done)
    table = grid(None, "step", "milliseconds", right=("milliseconds",), rows=rows)
    where = "The database is gone." if keep is None else f"The database is {keep}; look around in it."
    ask = "" if keep is None else f" --database {keep} --space {SPACE}"
    nexts = [
        (f'muisti search "your own question"{ask}' if keep else 'muisti add "what you want to keep"', "in this folder"),
        ("muisti connect claude-code", "or cursor, vscode, codex, gemini-cli, zed, claude-desktop"),
        ("muisti serve", "for HTTP, MCP and several clients"),
    ]
    return stack(
        table, cell(where), cell("Next:"), fields([(cell(f"  {one}"), cell(two, "dim")) for one, two in nexts])
    )
