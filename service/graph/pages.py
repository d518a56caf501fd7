"""The graph of a space: who and what its memories name, the facts about each, and how two of them are tied."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from muisti.service.console.answers import Model, shows
from muisti.service.console.visit import Visit

KINDS = (
    *("person", "organisation", "place", "work", "product", "event", "date"),
    *("identifier", "symbol", "title", "other"),
)
PAGE, MOST = 50, 1_000
MENTIONED, QUOTED = 500, 30  # memories that are read, and those of a list that are shown
DRAWN = 60
FORMATS = ("json", "graphml", "cytoscape", "cypher", "json-ld", "dot")


@shows("graph", "graph.html")
async def show_graph(visit: Visit, space: str) -> Model:
    """Show the entities that are mentioned most, and paths between two."""
    given = visit.asked
    status = await visit.api.get_graph(space)
    asked = {name: given.get(name, "") for name in ("prefix", "kind", "from", "to")}
    limit = shown(given.get("limit", ""))
    model: dict[str, Any] = {"status": status, "asked": asked, "kinds": KINDS, "path": None}
    if status["enabled"]:
        kind: Any = asked["kind"] if asked["kind"] in KINDS else None
        found = await visit.api.list_entities(space, prefix=asked["prefix"], kind=kind, limit=limit, **visit.at)
        model |= {
            "entities": found["items"],
            "total": found["total"],
            "more": further(visit, asked, limit, found["total"]),
            "exports": exports(visit, space),
            "picture": picture(visit, space),
        }
        if asked["from"] and asked["to"]:
            model["path"] = await visit.api.find_path(space, from_=asked["from"], to=asked["to"], **visit.at)
    return model


@shows("graph/groups", "groups.html", block="groups")
async def show_groups(visit: Visit, space: str) -> Model:
    """Show what belongs together. The whole graph is read for it, so the page of the graph comes first."""
    return {"communities": (await visit.api.list_communities(space, limit=10, **visit.at))["items"]}


@shows("graph/{entity}", "entity.html", block="card")
async def show_entity(visit: Visit, space: str, entity: str) -> Model:
    """Show an entity: its names, its facts in the order of time, its neighbours and the memories that mention it."""
    found = await visit.api.get_entity(space, entity, memories_=MENTIONED, **visit.at)
    near = await visit.api.list_neighbours(space, entity, limit=DRAWN, **visit.at)
    return {
        "one": found["entity"],
        "facts": found["facts"],
        **mentions(found["mentioned"]),
        "near": near["items"],
        "total": near["total"],
        "picture": picture(visit, space, found["entity"]["id"]),
        "kinds": KINDS,
    }


def mentions(found: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the memories that name an entity, each once, apart from those that the entity itself wrote."""
    kept: dict[str, Mapping[str, Any]] = {}
    for one in found:
        if one["memory"] not in kept or kept[one["memory"]]["start"] < 0 <= one["start"]:
            kept[one["memory"]] = one
    return {
        "mentioned": [one for one in kept.values() if one["start"] >= 0][:QUOTED],
        "wrote": [one for one in kept.values() if one["start"] < 0][:QUOTED],
    }


def shown(limit: str) -> int:
    """Return how many entities to show, within what the API answers.

    >>> shown("100"), shown("-1"), shown("x"), shown("9999")
    (100, 50, 50, 1000)
    """
    return min(max(int(limit), PAGE), MOST) if limit.isascii() and limit.isdecimal() and len(limit) < 9 else PAGE


def further(visit: Visit, asked: Mapping[str, str], limit: int, total: int) -> str | None:
    """Return the address of the page with more entities; None when all are shown."""
    if limit >= min(total, MOST):
        return None
    return visit.to("graph", prefix=asked["prefix"] or None, kind=asked["kind"] or None, limit=limit * 2)


def picture(visit: Visit, space: str, entity: str | None = None) -> str:
    """Return the address of the picture around an entity, or of those that are mentioned most."""
    asked = {**({} if entity is None else {"entity": entity}), "limit": DRAWN, **visit.at}
    return f"/v1/spaces/{quote(space, safe='')}/graph/picture?{urlencode(asked)}"


def exports(visit: Visit, space: str) -> list[tuple[str, str]]:
    """Return the formats in which the graph can be downloaded, each with its address."""
    base = f"/v1/spaces/{quote(space, safe='')}/graph/export"
    return [(name, f"{base}?{urlencode({'format': name, **visit.at})}") for name in FORMATS]
