"""The work of the demo command: steps that a person can follow, each with its time."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import msgspec

from service.cli.base import ERROR, Failure, Globals
from service.cli.configuration import in_force
from service.cli.output import cell, console, fields, for_people, grid, indented, one_line, stack, tabbed
from service.cli.session import client, server_url
from service.client import ApiError, Client
from service.demo import memories

SPACE = "demo"
SHOWN = 100  # characters of a memory
QUESTIONS = (
    ("undo a bad release", "Found by meaning: the answer says roll back"),
    ("what broke in July", "Time words prefer memories of that time"),
    ("port of the staging database", "Two databases, of which one is meant"),
    ("Who wins the elections in Peru?", "Nothing here is about this, and the answer says so"),
)
CONTRADICTION = "The staging database runs on port 5436 and is rebuilt from a masked backup each Monday."


@dataclass(frozen=True, slots=True)
class Step:
    """What was done, the command that does the same, how long it took, and what came of it, a line each."""

    title: str
    command: str
    seconds: float
    lines: list[str]


def run(options: Globals, keep: Path | None) -> None:
    """Every step on a database of its own, told as it happens."""
    if server_url(options):
        raise click.UsageError("the demo runs on a database of its own: leave out --url and MUISTI_URL")
    if keep is not None and keep.exists():
        raise Failure(f"{keep} is there already; name another file, or delete it", ERROR)
    done: list[Step] = []
    with _folder(keep) as path:
        for step in _steps(options, path):
            done.append(step)
            if not options.json:
                _tell(options, len(done), step)
    if options.json:
        click.echo(msgspec.json.encode({"steps": [asdict(step) for step in done]}))
    elif for_people(options):
        console(options).print(_summary(done, keep))


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
        opened.create_space(SPACE)
        yield Step("Start on an empty database", "muisti serve", perf_counter() - began, [])
        yield _timed("Store 200 memories, each embedded and indexed", "muisti add TEXT", lambda: _store(opened))
        for question, why in QUESTIONS:
            asked = f'muisti search "{question}"'
            yield _timed(why, asked, lambda question=question: _ask(opened, question))
        yield _timed(
            "A memory that contradicts another is not stored",
            f'muisti add "{CONTRADICTION}"',
            lambda: _contradict(opened),
        )
        yield _timed("What the space holds", "muisti categories", lambda: _categories(opened))


def _timed(title: str, command: str, work: Callable[[], list[str]]) -> Step:
    began = perf_counter()
    lines = work()
    return Step(title, command, perf_counter() - began, lines)


def _store(opened: Client) -> list[str]:
    stored = [*memories()]
    opened.add_batch(SPACE, stored)
    return [f"{len(stored)} memories of Harbourline, a team that runs ferries between islands."]


def _ask(opened: Client, question: str) -> list[str]:
    found = opened.search(SPACE, {"query": question, "limit": 2, "min_evidence": "weak"}).data
    if not found["hits"]:
        return ["Nothing: evidence none."]
    return [f"{hit['score']:.2f}  {_short(hit['memory']['content'])}" for hit in found["hits"]]


def _contradict(opened: Client) -> list[str]:
    try:
        opened.add(SPACE, {"content": CONTRADICTION})
    except ApiError as refusal:
        if refusal.status != 409:
            raise
        return [
            f"409 {refusal.code}: {_short(one['content'])}  "
            + ", ".join(f"{part['existing']} there, {part['new']} here" for part in one["differs"])
            for one in refusal.conflicts
        ]
    return ["It was stored: without a model of embeddings only equal texts are found."]


def _categories(opened: Client) -> list[str]:
    items = opened.categories(SPACE).data["items"]
    return [", ".join(f"{one['name']} {one['count']}" for one in items)]


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def _tell(options: Globals, number: int, step: Step) -> None:
    if not for_people(options):
        click.echo(tabbed(number, f"{step.seconds * 1000:.0f} ms", step.title, *step.lines))
        return
    head = cell(f"{number}. {step.title}", "bold") + cell(f"   {step.seconds * 1000:,.0f} ms", "green")
    lines = stack(cell(f"$ {step.command}", "dim"), *map(cell, step.lines), cell(""))
    console(options).print(stack(head, indented(lines)))


def _summary(done: list[Step], keep: Path | None) -> Any:
    table = grid(None, "step", "milliseconds", right=("milliseconds",))
    for step in done:
        table.add_row(cell(step.title), f"{step.seconds * 1000:,.0f}")
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
