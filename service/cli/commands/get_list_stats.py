"""Commands that show what is stored: get, list, categories, tags, stats."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import click

from muisti.client import Call, calls
from muisti.client import names as by_name
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.memory_names import locate, memory_argument
from muisti.service.terminal.options import as_filter, as_of, choice, filters, flag, full, integer, option
from muisti.service.terminal.output import answer, revised, talk
from muisti.service.terminal.session import Reply, ask, client, session, space_choice
from muisti.service.terminal.views import (
    address,
    ago,
    brief,
    cell,
    fields,
    grid,
    lines,
    listed,
    short_id,
    stack,
    tabbed,
)

PAGE_DEFAULT, PAGE_MAX = 50, 100  # memories of a page
TIMES = ("created_at", "updated_at", "event_at", "valid_from", "valid_to", "expires_at")


@command("muisti get 0197a3c0-5f4e-7000-8000-0123456789ab", "muisti get people ann --json")
@memory_argument
@as_of
@flag("--no-touch", "Do not count this as a retrieval.")
def get(options: Globals, name: tuple[str, ...], *, as_of: str | None, no_touch: bool) -> None:
    """Show one memory.

    Name it by its ID, or by the end of the ID that tables show. Or name it by its CATEGORY and KEY, as two words or as
    one: category/key.
    """
    with session(options, reads=True) as opened:
        found = locate(opened, name, as_of)
        reply = opened.client.send(by_name.get(opened.space, found, as_of=as_of, no_touch=no_touch))
        answer(options, reply, _card, lambda memory: [*_lines(memory), "", memory["content"]])


@command(
    "muisti list --limit 20 --tag infra",
    "muisti list --sort updated --changed-after 2026-01-01 --all",
    """muisti list --filter '{"importance": {"gte": "high"}}' --json""",
    name="list",
)
@integer("--limit", "Show at most N memories.  [default: 50]", 1)
@flag("--all all_", "Show all memories; progress goes to standard error.")
@choice("--sort", "Time to sort by.  [default: created]", ["created", "updated"])
@flag("--reverse", "Show the oldest first.")
@option("--cursor", "Continue after a page: the cursor that it printed.", metavar="TEXT")
@filters
@as_of
@full
def list_memories(
    options: Globals, *, limit: int | None, all_: bool, full: bool, cursor: str | None, **asked: Any
) -> None:
    """List memories, newest first."""
    if all_ and (limit is not None or cursor is not None):
        raise click.UsageError("--all excludes --limit and --cursor")
    sort, reverse, as_of = (asked.pop(name) for name in ("sort", "reverse", "as_of"))
    wanted = as_filter(**asked)
    order = f"{'' if reverse else '-'}{sort or 'created'}_at" if sort or reverse else None
    given = None if wanted is None else json.dumps(wanted)
    with session(options, reads=True) as opened:

        def ask(count: int, cursor: str | None, order: str | None) -> Reply:
            return opened.client.send(
                calls.list_memories(opened.space, limit=count, sort=order, cursor=cursor, filter=given, as_of=as_of)
            )

        reply = _pages(ask, None if all_ else limit or PAGE_DEFAULT, cursor, order)
        text = str if full else brief
        plain = lines("id", f"{sort or 'created'}_at", address, lambda memory: text(memory["content"]))
        answer(options, reply, lambda page: _table(page["items"], sort or "created"), plain)
        if reply.data["next_cursor"]:
            talk(f"There are more: --cursor {reply.data['next_cursor']}, or --all")
        elif not reply.data["items"] and cursor is None:
            talk(f"Nothing in the space {opened.space}{' passes the filter' if wanted else ' yet: muisti add TEXT'}.")


def _pages(
    ask: Callable[[int, str | None, str | None], Reply], wanted: int | None, cursor: str | None, order: str | None
) -> Reply:
    """Return `wanted` memories as one page, all of them for None; each request reads at most a hundred.

    All memories sorted by last change, newest first, are read in reverse. A memory that changes during the reading
    moves to the end that is still to be read, so none is missed.
    """
    turned = wanted is None and order == "-updated_at"
    order = "updated_at" if turned else order
    found: dict[str, Any] = {}
    while True:
        reply = ask(PAGE_MAX if wanted is None else min(PAGE_MAX, wanted - len(found)), cursor, order)
        cursor = reply.data["next_cursor"]
        if not found and not turned and (cursor is None or len(reply.data["items"]) == wanted):
            return reply  # one page was enough
        for memory in reply.data["items"]:
            found.pop(memory["id"], None)  # it changed during the reading, and has moved here
            found[memory["id"]] = memory
        if cursor is None or len(found) == wanted:
            items = [*found.values()]
            return revised(reply, {**reply.data, "items": items[::-1] if turned else items})
        if wanted is None:
            talk(f"Read {len(found):,} memories …")


@command("muisti categories", "muisti categories --json")
@as_of
def categories(options: Globals, as_of: str | None) -> None:
    """List categories and how many memories each has."""
    _counts(options, lambda space: calls.list_categories(space, as_of=as_of), "category")


@command("muisti tags", "muisti tags --plain | head -5")
@as_of
def tags(options: Globals, as_of: str | None) -> None:
    """List tags and how many memories each has."""
    _counts(options, lambda space: calls.list_tags(space, as_of=as_of), "tag")


@command("muisti stats", "muisti stats --space acme.web --json", "muisti stats --server --url http://127.0.0.1:8321")
@as_of
@flag("--server", "How long the operations of the server take, instead of a space.")
def stats(options: Globals, as_of: str | None, *, server: bool) -> None:
    """Show how many memories and bytes a space has.

    With --server: how long each operation took since the server started, in milliseconds.
    """
    if server:
        if as_of is not None:
            raise click.UsageError("--as-of is about a space; leave it out with --server")
        with client(options, reads=True) as opened:
            answer(options, opened.send(calls.get_server_stats()), _latencies, _latency_lines)
        return
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.get_stats(opened.space, as_of=as_of))
        answer(options, reply, partial(_sizes, opened.space), lambda sizes: [tabbed(*row) for row in _flat(sizes)])


def _latencies(data: Any) -> Any:
    about = f"{data['workers']} worker(s), {data['memory_bytes'] / 1e6:,.0f} MB, up {data['uptime_seconds']:,.0f} s"
    numbers = ("requests", "mean ms", "p50", "p95", "p99")
    rows = (
        (
            f"{one['method']} {one['route']}",
            f"{one['count']:,}",
            *(f"{one[name]:,.1f}" for name in ("mean", "p50", "p95", "p99")),
        )
        for one in data["operations"]
    )
    return grid(about, "operation", *numbers, right=numbers, rows=rows)


def _latency_lines(data: Any) -> list[str]:
    names = ("method", "route", "count", "mean", "p50", "p95", "p99")
    return [tabbed(*(one[name] for name in names)) for one in data["operations"]]


def _counts(options: Globals, call: Callable[[str], Call], what: str) -> None:
    view = listed({what: "name", "memories": "count"}, ("name", "count"), right=("memories",))
    if not ask(options, call, view, reads=True)["items"]:
        talk(f"No memory in the space {space_choice(options).space} has a {what}.")


def _table(memories: list[Mapping[str, Any]], by: str) -> Any:
    if not memories:
        return cell("No memories.")
    rows = (
        (
            cell(short_id(memory), "dim"),
            ago(memory[f"{by}_at"]),
            address(memory),
            brief(memory["content"], 240),
            cell(", ".join(memory["tags"]), "dim"),
        )
        for memory in memories
    )
    return grid(None, "id", "stored" if by == "created" else "changed", "category/key", "content", "tags", rows=rows)


def _card(memory: Mapping[str, Any]) -> Any:
    named = [line.partition("\t")[::2] for line in _lines(memory)]
    times = {name: f" ({ago(value)})" for name, value in named if name in TIMES}
    table = fields([(cell(name, "dim"), cell(value + times.get(name, ""))) for name, value in named])
    return stack(table, cell(""), cell(memory["content"]))


def _lines(memory: Mapping[str, Any]) -> Iterator[str]:
    for name, value in memory.items():
        if name != "content" and value not in (None, [], {}):
            yield tabbed(name, _one_value(value))


def _one_value(value: Any) -> str:
    """Return a value as a person and a script read it: names with commas, what has parts as JSON.

    >>> _one_value(["a", "b"]), _one_value({"pr": "12"}), _one_value(3)
    ('a, b', '{"pr":"12"}', '3')
    """
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return import_module("msgspec").json.encode(value).decode() if isinstance(value, dict) else str(value)


def _sizes(space: str, sizes: Mapping[str, Any]) -> Any:
    rows = ((_label(name), _size(name, value)) for name, value in _flat(sizes))
    return grid(f"space {space}", "size", "value", right=("value",), rows=rows)


def _label(name: str) -> str:
    """The name of a size in words.

    >>> _label("by.type.fact"), _label("quota.bytes.limit"), _label("content_bytes")
    ('of type fact', 'quota: bytes, limit', 'content bytes')
    """
    first, _, rest = name.replace("_", " ").partition(".")
    if first == "by":
        return f"of {rest.replace('.', ' ')}"
    return f"{first}: {rest.replace('.', ', ')}" if rest else first


def _size(name: str, value: Any) -> Any:
    if name.endswith("_at") and value:
        return cell(ago(value))
    if value is None:
        return cell("any" if name.endswith("limit") else "")
    return cell(f"{value:,}" if isinstance(value, int) else value)


def _flat(sizes: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in sizes.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
