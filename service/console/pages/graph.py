"""The graph of a space: who and what its memories name, the facts about each, and how two of them are tied."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from muisti.service.console.answers import Model, shows
from muisti.service.console.visit import Visit

KINDS = (
    "person",
    "organisation",
    "place",
    "work",
    "product",
    "event",
    "date",
    "identifier",
    "symbol",
    "title",
    "other",
)
PAGE, MOST = 50, 1_000
DRAWN = 60
FORMATS = ("json", "graphml", "cytoscape", "cypher", "json-ld", "dot")


@shows("graph", "graph.html")
async def show_graph(visit: Visit, space: str) -> Model:
    """Show the entities that are mentioned most, what belongs together, and paths between two."""
    given = visit.request.query_params
    status = await visit.api.get_graph(space)
    asked = {name: given.get(name, "") for name in ("prefix", "kind", "from", "to")}
    limit = shown(given.get("limit", ""))
    model: dict[str, Any] = {"status": status, "asked": asked, "kinds": KINDS, "path": None}
    if status["enabled"]:
        kind: Any = asked["kind"] if asked["kind"] in KINDS else None
        found = await visit.api.list_entities(space, prefix=asked["prefix"], kind=kind, limit=limit, **visit.at)
        together = await visit.api.list_communities(space, limit=10, **visit.at)
        model |= {
            "entities": [{**one, "href": visit.to(f"graph/{one['id']}")} for one in found["items"]],
            "total": found["total"],
            "more": further(visit, asked, limit, found["total"]),
            "communities": [community(visit, one) for one in together["items"]],
            "exports": exports(visit, space),
        }
        if asked["from"] and asked["to"]:
            walked = await visit.api.find_path(space, from_=asked["from"], to=asked["to"], **visit.at)
            model["path"] = {"found": walked["found"], "steps": [step(visit, one) for one in walked["steps"]]}
    return model


@shows("graph/{entity}", "entity.html")
async def show_entity(visit: Visit, space: str, entity: str) -> Model:
    """Show an entity: its names, its facts in the order of time, its neighbours and the memories that mention it."""
    found = await visit.api.get_entity(space, entity, **visit.at)
    near = await visit.api.list_neighbours(space, entity, limit=DRAWN, **visit.at)
    return {
        "one": found["entity"],
        "facts": [fact(visit, one) for one in found["facts"]],
        "mentioned": [{**one, "href": visit.to(f"memories/{one['memory']}")} for one in found["mentioned"]],
        "near": [neighbour(visit, one) for one in near["items"]],
        "total": near["total"],
        "picture": picture(visit, space, found["entity"]["id"]),
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


def picture(visit: Visit, space: str, entity: str) -> str:
    """Return the address of the picture around an entity."""
    asked = {"entity": entity, "limit": DRAWN, **visit.at}
    return f"/v1/spaces/{quote(space, safe='')}/graph/picture?{urlencode(asked)}"


def exports(visit: Visit, space: str) -> list[tuple[str, str]]:
    """Return the formats in which the graph can be downloaded, each with its address."""
    base = f"/v1/spaces/{quote(space, safe='')}/graph/export"
    return [(name, f"{base}?{urlencode({'format': name, **visit.at})}") for name in FORMATS]


def end(visit: Visit, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return an end of a fact with the address of its page."""
    return {"name": one["name"], "kind": one["kind"], "href": visit.to(f"graph/{one['id']}")}


def fact(visit: Visit, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a fact with its ends, its evidence, and how long it held."""
    return {
        "subject": end(visit, one["subject"]),
        "kind": one["kind"].replace("_", " "),
        "negative": one["negative"],
        "object": None if one["object"] is None else end(visit, one["object"]),
        "literal": one["literal"],
        "evidence": one["evidence"],
        "from": one["valid_from"],
        "to": one["valid_to"],
        "href": visit.to(f"memories/{one['memory']}"),
        "closed": None if one["closed_by"] is None else visit.to(f"memories/{one['closed_by']}"),
    }


def neighbour(visit: Visit, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a neighbour with the kinds of its ties in words."""
    return {**end(visit, one["entity"]), "ties": _ties(one["kinds"]), "weight": one["weight"]}


def step(visit: Visit, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tie of a path with the memories that state it."""
    places = [visit.to(f"memories/{memory}") for memory in one["memories"]]
    return {
        "source": end(visit, one["source"]),
        "target": end(visit, one["target"]),
        "ties": _ties(one["kinds"]),
        "memories": list(enumerate(places, 1)),
    }


def community(visit: Visit, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return names that belong together, the most telling ones as links."""
    return {
        "entities": [end(visit, each) for each in one["entities"]],
        "size": one["size"],
        "memories": one["memories"],
    }


def _ties(kinds: list[str]) -> str:
    return ", ".join(kind.replace("_", " ") for kind in kinds)
