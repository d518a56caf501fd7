"""Answers about the knowledge graph: tables for people, lines for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muisti.service.cli.views import View, cell, fields, grid, lines, listed, stack, tabbed

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = Mapping[str, Any]
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


def _proposals(data: Row) -> RenderableType:
    table = grid(None, "name", "memories", "other", "memories", "why")
    for one in data["items"]:
        counts = (cell(one["first_mentions"]), cell(one["second_mentions"]))
        table.add_row(_name(one["first"]), counts[0], _name(one["second"]), counts[1], cell(one["reason"], "dim"))
    return table


def _ties(one: Row) -> RenderableType:
    return cell(", ".join(kind.replace("_", " ") for kind in one["kinds"]), "dim")


def _members(one: Row) -> str:
    return ", ".join(end["name"] for end in one["entities"])


FIGURES = View(
    lambda data: fields([(cell(name, "dim"), cell(data[name])) for name in _FIGURES]),
    lambda data: [tabbed(name, data[name]) for name in _FIGURES],
)
ENTITIES = View(_entities, lines("kind", "name", "mentions", _others), "No such entity.")
PROFILE = View(_profile, lambda data: _fact_lines(data["facts"]))
NEIGHBOURS = View(
    _near,
    lines(
        "depth",
        lambda one: one["entity"]["kind"],
        lambda one: one["entity"]["name"],
        lambda one: ",".join(one["kinds"]),
        "weight",
        "association",
    ),
    "Nothing is tied to it.",
)
PATH = listed(
    {
        "from": lambda step: _name(step["source"]),
        "tie": _ties,
        "to": lambda step: _name(step["target"]),
        "memory": lambda step: cell(step["memories"][0] if step["memories"] else "", "dim"),
    },
    (
        lambda step: step["source"]["name"],
        lambda step: ",".join(step["kinds"]),
        lambda step: step["target"]["name"],
        lambda step: ",".join(step["memories"]),
    ),
    among="steps",
)
RELATIONS = View(
    lambda data: stack(_facts(data["items"]), *_more(data)),
    lambda data: _fact_lines(data["items"]),
    "No such relation.",
)
PROPOSALS = View(
    _proposals,
    lines(lambda one: one["first"]["name"], lambda one: one["second"]["name"], "reason"),
    "No names look alike.",
)
COMMUNITIES = listed(
    {"memories": "memories", "names": lambda one: cell(one["size"], "dim"), "most telling": _members},
    ("memories", "size", _members),
    right=("memories", "names"),
    none="No names belong together.",
)
STATEMENT = View(lambda data: cell(data["id"], "dim") + cell(f"  {data['content']}"), lines("id", "content"))
DROPPED = View(lambda data: cell(f"Dropped {data['entities']:,} entities."), lines("entities"))
BUILT = View(
    lambda one: cell(f"{one['id']} {one['state']}, {one['done']:,} versions read"), lines("id", "state", "done")
)
