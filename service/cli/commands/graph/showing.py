"""Answers of the graph on the command line: tables for people, lines for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muisti.client import Call, calls
from muisti.service.cli.base import ERROR, Globals
from muisti.service.cli.output import answer, cell, fields, grid, stack, tabbed, talk
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = Mapping[str, Any]
COLOURS = {
    "person": "blue",
    "organisation": "red",
    "place": "green",
    "work": "magenta",
    "product": "yellow",
    "event": "magenta",
    "symbol": "cyan",
    "identifier": "cyan",
}


def status(options: Globals) -> None:
    """Print the figures of a graph."""
    ask(options, calls.get_graph, {}, _status, lambda data: [tabbed(name, data[name]) for name in _FIGURES])


def entities(options: Globals, given: Row) -> None:
    """Print entities."""
    ask(options, calls.list_entities, given, _entities, _entity_lines, "No such entity.")


def show(options: Globals, name: str, given: Row) -> None:
    """Print an entity with its facts and the memories that mention it."""
    ask(options, calls.get_entity, {"entity": name, **given}, _profile, lambda data: _fact_lines(data["facts"]))


def neighbours(options: Globals, name: str, given: Row) -> None:
    """Print the neighbours of an entity."""
    ask(options, calls.list_neighbours, {"entity": name, **given}, _near, _near_lines, "Nothing is tied to it.")


def path(options: Globals, first: str, second: str, given: Row) -> None:
    """Print a path, and end with an error when there is none."""
    data = ask(options, calls.find_path, {"from_": first, "to": second, **given}, _path, _path_lines)
    if not data["found"]:
        talk("No way leads from one to the other.")
        sys.exit(ERROR)


def relations(options: Globals, given: Row) -> None:
    """Print relations."""
    ask(
        options,
        calls.list_relations,
        given,
        lambda data: stack(_facts(data["items"]), *_more(data)),
        lambda data: _fact_lines(data["items"]),
        "No such relation.",
    )


def proposals(options: Globals, given: Row) -> None:
    """Print pairs of names that look alike."""
    ask(options, calls.list_proposals, given, _proposals, _proposal_lines, "No names look alike.")


def ask(
    options: Globals,
    ask: Callable[..., Call],
    given: Row,
    table: Callable[[Any], RenderableType],
    plain: Callable[[Any], Sequence[str]],
    none: str = "",
) -> Any:
    """Ask, print the answer, and return its data; say when the graph is behind."""
    with session(options, reads=True) as opened:
        reply = opened.client.send(ask(opened.space, **given))
        answer(options, reply, table=table, plain=plain, none=none)
        if reply.data.get("pending"):
            talk(f"Note: {reply.data['pending']:,} versions are not read yet; muisti graph build reads them.")
        return reply.data


_FIGURES = (
    "enabled",
    "entities",
    "mentions",
    "relations",
    "read",
    "pending",
    "recogniser",
    "current",
    "fallbacks",
    "degraded",
)


def _status(data: Row) -> RenderableType:
    return fields([(cell(name, "dim"), cell(data[name])) for name in _FIGURES])


def _name(end: Row) -> RenderableType:
    return cell(end["name"], COLOURS.get(end["kind"], "white"))


def _others(one: Row) -> str:
    return ", ".join(alias["name"] for alias in one["aliases"])


def _entities(data: Row) -> RenderableType:
    table = grid(None, "entity", "kind", "memories", "also", right=("memories",))
    for one in data["items"]:
        table.add_row(_name(one), cell(one["kind"], "dim"), cell(one["mentions"]), cell(_others(one), "dim"))
    rest = data["total"] - len(data["items"])
    return stack(table, cell(f"{rest:,} more; --limit shows them.", "dim")) if rest > 0 else table


def _entity_lines(data: Row) -> list[str]:
    return [tabbed(one["kind"], one["name"], one["mentions"], _others(one)) for one in data["items"]]


def _profile(data: Row) -> RenderableType:
    one = data["entity"]
    head = fields([
        (_name(one), cell(f"{one['kind']}, in {one['mentions']:,} memories", "dim")),
        *([(cell("also", "dim"), cell(_others(one)))] if one["aliases"] else []),
    ])  # fmt: skip
    memories = grid("Memories", "when", "as", "memory")
    by_memory = {mention["memory"]: mention for mention in reversed(data["mentioned"])}
    for memory, mention in [*reversed(by_memory.items())][:10]:
        memories.add_row(cell(mention["at"][:10], "dim"), cell(mention["text"]), cell(memory, "dim"))
    facts = _facts(data["facts"]) if data["facts"] else cell("No facts.", "dim")
    return stack(head, cell(""), facts, memories)


def _object(one: Row) -> str:
    return one["literal"] if one["object"] is None else one["object"]["name"]


def _kind(one: Row) -> str:
    return f"{'not ' if one['negative'] else ''}{one['kind'].replace('_', ' ')}"


def _facts(items: Sequence[Row]) -> Any:
    table = grid(None, "since", "until", "who", "fact", "evidence")
    for one in items:
        until = cell((one["valid_to"] or "")[:10], "yellow")
        words = cell(f"{_kind(one)} ", "dim") + cell(_object(one))
        table.add_row(cell(one["valid_from"][:10], "dim"), until, _name(one["subject"]), words, cell(one["evidence"]))
    return table


def _fact_lines(items: Sequence[Row]) -> list[str]:
    return [
        tabbed(
            one["valid_from"], one["valid_to"] or "", one["subject"]["name"], _kind(one), _object(one), one["memory"]
        )
        for one in items
    ]


def _more(data: Row) -> list[RenderableType]:
    return [cell("There are more; --limit shows them.", "dim")] if data["more"] else []


def _near(data: Row) -> RenderableType:
    names = {data["entity"]["id"]: data["entity"]["name"]}
    names |= {one["entity"]["id"]: one["entity"]["name"] for one in data["items"]}
    table = grid(None, "entity", "ties", "by", "memories", "association", right=("memories", "association"))
    for one in data["items"]:
        kinds = ", ".join(kind.replace("_", " ") for kind in one["kinds"])
        by = "" if one["depth"] == 1 else names.get(one["via"], "")
        table.add_row(
            _name(one["entity"]),
            cell(kinds, "dim"),
            cell(by, "dim"),
            cell(one["weight"]),
            cell(f"{one['association']:.2f}"),
        )
    rest = data["total"] - len(data["items"])
    if rest <= 0 and not data["capped"]:
        return table
    words = "There are more than are followed." if data["capped"] else f"{rest:,} more; --limit shows them."
    return stack(table, cell(words, "dim"))


def _near_lines(data: Row) -> list[str]:
    return [
        tabbed(
            *(one["depth"], one["entity"]["kind"], one["entity"]["name"], ",".join(one["kinds"]), one["weight"]),
            one["association"],
        )
        for one in data["items"]
    ]


def _path(data: Row) -> RenderableType:
    table = grid(None, "from", "tie", "to", "memory")
    for step in data["steps"]:
        kinds = ", ".join(kind.replace("_", " ") for kind in step["kinds"])
        memory = cell(step["memories"][0] if step["memories"] else "", "dim")
        table.add_row(_name(step["source"]), cell(kinds, "dim"), _name(step["target"]), memory)
    return table


def _path_lines(data: Row) -> list[str]:
    return [
        tabbed(step["source"]["name"], ",".join(step["kinds"]), step["target"]["name"], ",".join(step["memories"]))
        for step in data["steps"]
    ]


def _proposals(data: Row) -> RenderableType:
    table = grid(None, "name", "memories", "other", "memories", "why")
    for one in data["items"]:
        counts = (cell(one["first_mentions"]), cell(one["second_mentions"]))
        table.add_row(_name(one["first"]), counts[0], _name(one["second"]), counts[1], cell(one["reason"], "dim"))
    return table


def _proposal_lines(data: Row) -> list[str]:
    return [tabbed(one["first"]["name"], one["second"]["name"], one["reason"]) for one in data["items"]]
