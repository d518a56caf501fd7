"""Answers about the knowledge graph: tables for people, lines for programs."""

from typing import Any

from muisti.service.cli.views import Shown, View, cell, dim, fields, grid, lines, listed, rest, stack, stated, tabbed

_FIGURES = tuple(
    [
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
    ]
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


def _name(end: Any) -> Shown:
    return cell(end["name"], COLOURS.get(end["kind"], "white"))


def _others(one: Any) -> str:
    return ", ".join(alias["name"] for alias in one["aliases"])


def _profile(data: Any) -> Shown:
    one = data["entity"]
    head = fields([
        (_name(one), cell(f"{one['kind']}, in {one['mentions']:,} memories", "dim")),
        *([(cell("also", "dim"), cell(_others(one)))] if one["aliases"] else []),
    ])  # fmt: skip
    by_memory = {mention["memory"]: mention for mention in reversed(data["mentioned"])}
    rows = [
        (cell(mention["at"][:10], "dim"), mention["text"], cell(memory, "dim"))
        for memory, mention in [*reversed(by_memory.items())][:10]
    ]
    memories = grid("Memories", "when", "as", "memory", rows=rows)
    facts = RELATIONS.table({"items": data["facts"], "more": False}) if data["facts"] else cell("No facts.", "dim")
    return stack(head, cell(""), facts, memories)


def _object(one: Any) -> str:
    return one["literal"] if one["object"] is None else one["object"]["name"]


def _kind(one: Any) -> str:
    return f"{'not ' if one['negative'] else ''}{one['kind'].replace('_', ' ')}"


def _near(data: Any) -> Shown:
    names = {data["entity"]["id"]: data["entity"]["name"]}
    names |= {one["entity"]["id"]: one["entity"]["name"] for one in data["items"]}
    rows = (
        (
            _name(one["entity"]),
            cell(", ".join(kind.replace("_", " ") for kind in one["kinds"]), "dim"),
            cell("" if one["depth"] == 1 else names.get(one["via"], ""), "dim"),
            one["weight"],
            f"{one['association']:.2f}",
        )
        for one in data["items"]
    )
    numbers = ("memories", "association")
    table = grid(None, "entity", "ties", "by", *numbers, right=numbers, rows=rows)
    more = "There are more than are followed." if data["capped"] else rest(data)
    return stack(table, cell(more, "dim")) if more else table


def _proposals(data: Any) -> Shown:
    rows = (
        (
            *(_name(one["first"]), one["first_mentions"]),
            *(_name(one["second"]), one["second_mentions"], cell(one["reason"], "dim")),
        )
        for one in data["items"]
    )
    return grid(None, "name", "memories", "other", "memories", "why", rows=rows)


def _members(one: Any) -> str:
    return ", ".join(end["name"] for end in one["entities"])


FIGURES = View(
    lambda data: fields([(cell(name, "dim"), cell(data[name])) for name in _FIGURES]),
    lambda data: [tabbed(name, data[name]) for name in _FIGURES],
)
ENTITIES = listed(
    {"entity": _name, "kind": dim("kind"), "memories": "mentions", "also": dim(_others)},
    ("kind", "name", "mentions", _others),
    right=("memories",),
    none="No such entity.",
    note=rest,
)
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
        "tie": dim(lambda step: ", ".join(kind.replace("_", " ") for kind in step["kinds"])),
        "to": lambda step: _name(step["target"]),
        "memory": dim(lambda step: step["memories"][0] if step["memories"] else ""),
    },
    (
        lambda step: step["source"]["name"],
        lambda step: ",".join(step["kinds"]),
        lambda step: step["target"]["name"],
        lambda step: ",".join(step["memories"]),
    ),
    among="steps",
)
RELATIONS = listed(
    {
        "since": dim(lambda one: one["valid_from"][:10]),
        "until": lambda one: cell((one["valid_to"] or "")[:10], "yellow"),
        "who": lambda one: _name(one["subject"]),
        "fact": lambda one: cell(f"{_kind(one)} ", "dim") + cell(_object(one)),
        "evidence": "evidence",
    },
    ("valid_from", "valid_to", lambda one: one["subject"]["name"], _kind, _object, "memory"),
    none="No such relation.",
    note=lambda data: "There are more; --limit shows them." if data["more"] else "",
)
PROFILE = View(_profile, lambda data: RELATIONS.plain({"items": data["facts"]}))
PROPOSALS = View(
    _proposals,
    lines(lambda one: one["first"]["name"], lambda one: one["second"]["name"], "reason"),
    "No names look alike.",
)
COMMUNITIES = listed(
    {"memories": "memories", "names": dim("size"), "most telling": _members},
    ("memories", "size", _members),
    right=("memories", "names"),
    none="No names belong together.",
)
STATEMENT = View(lambda data: cell(data["id"], "dim") + cell(f"  {data['content']}"), lines("id", "content"))
DROPPED = stated("Dropped {entities:,} entities.", "entities")
BUILT = stated("{id} {state}, {done:,} versions read", "id", "state", "done")
