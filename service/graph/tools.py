"""The tools of the knowledge graph: questions to it, and what an agent says of it."""

from collections.abc import Sequence
from typing import Any, Literal

from muisti.core.graph.model import End, Entity, NewRelation, Relation
from muisti.core.model.errors import InvalidInput, Problem, SensitiveContent
from muisti.core.model.outcomes import Written
from muisti.core.query.points import parse
from muisti.service.auth.access import check
from muisti.service.tools.arguments import InSpace
from muisti.service.tools.catalog import tool
from muisti.service.tools.rendering import CONTENT, NOTICE, more, one_line
from muisti.service.tools.session import Call, Json, Outcome

_SHOWN = 30
_NAMED = 5  # memories of an entity whose ids are in the text
_FIGURES = ("entities", "mentions", "relations", "pending", "degraded")


GraphAsked = Literal["entities", "entity", "neighbours", "path", "relations", "proposals", "communities", "status"]
GraphSaid = Literal["merge", "keep_apart", "relate", "retract"]


class GraphQuestion(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to the knowledge graph. `other` is the end of a path, or the object of relations."""

    action: GraphAsked
    name: str | None = None
    other: str | None = None
    depth: int = 1
    as_of: str | None = None


class GraphStatement(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement on the knowledge graph. `retract` takes an id, `relate` a kind with `object` or `text`."""

    action: GraphSaid
    name: str | None = None
    others: list[str] = []
    kind: str | None = None
    object: str | None = None
    text: str | None = None
    negative: bool = False
    statement: str | None = None
    dry_run: bool = False


@tool("read", group="graph", words={"action": "Question", "name": "Of an entity; its start, for entities"})
async def graph(call: Call, given: GraphQuestion) -> Outcome:
    """Ask who and what the memories are about. Entities by the start of a name; one entity with its facts; its
    neighbours; path from it to another; relations; names that may be one."""
    view, at = call.memories.graph, parse(given.as_of)
    match given.action:
        case "status":
            status = await call.ask(view.status)
            figures: Json = {name: getattr(status, name) for name in _FIGURES}
            return Outcome(figures, "\n".join(f"{name} {value}" for name, value in figures.items()))
        case "entities":
            found = await call.ask(view.entities, prefix=given.name or "", limit=_SHOWN, as_of=at)
            rows = [_entity(one) for one in found.items]
            lines = [f"{row['kind']} {row['name']}, in {row['memories']} memories" for row in rows]
            return _told({"entities": rows, "total": found.total}, lines, found.pending)
        case "communities":
            told = await call.ask(view.communities, limit=_SHOWN, as_of=at)
            rows = [{"names": [_name(end) for end in one.entities], "memories": one.memories} for one in told.items]
            lines = [f"{', '.join(row['names'])}, in {row['memories']} memories" for row in rows]
            return _told({"communities": rows, "total": told.total}, lines, told.pending)
        case "proposals":
            pairs = await call.ask(view.proposals, limit=_SHOWN, as_of=at)
            rows = [{"name": _name(one.first), "other": _name(one.second), "reason": one.reason} for one in pairs.items]
            lines = [f"{row['name']} = {row['other']}? ({row['reason']})" for row in rows]
            return _told({"proposals": rows, "total": pairs.total}, lines, pairs.pending)
        case "relations":
            ask = view.relations
            stated = await call.ask(ask, subject=given.name, object=given.other, limit=_SHOWN, as_of=at)
            return _facts({"more": True} if stated.more else {}, stated.items, stated.pending)
        case _:
            return await _about(call, given, _required(given.name, "name", given.action))


async def _about(call: Call, given: GraphQuestion, name: str) -> Outcome:
    """Answer a question about one entity."""
    view, at = call.memories.graph, parse(given.as_of)
    if given.action == "entity":
        profile = await call.ask(view.entity, name, facts=_SHOWN + 1, memories=_SHOWN, as_of=at)
        memories = list(dict.fromkeys(one.memory for one in profile.mentioned))
        one = profile.entity
        others = f", also {', '.join(one_line(alias.name) for alias in one.aliases[:_SHOWN])}" if one.aliases else ""
        head = [f"{one.kind} {one_line(one.name)}{others}, in {one.mentions} memories: {', '.join(memories[:_NAMED])}"]
        known: Json = {"entity": _entity(one), "memories": memories}
        known |= {"more": True} if len(profile.facts) > _SHOWN else {}
        return _facts(known, profile.facts[:_SHOWN], profile.pending, head)
    if given.action == "neighbours":
        near = await call.ask(view.neighbours, name, depth=given.depth, limit=_SHOWN, as_of=at)
        rows: list[Json] = [
            {
                **{"name": _name(one.entity), "ties": list(one.kinds), "depth": one.depth, "memories": one.weight},
                "association": one.association,
            }
            for one in near.items
        ]
        lines = [f"{row['name']}  {', '.join(row['ties'])}  {row['memories']}" for row in rows]
        return _told({"neighbours": rows, "total": near.total}, lines, near.pending)
    other = _required(given.other, "other", given.action)
    way = await call.ask(view.path, name, other, as_of=at)
    rows = [
        {
            "from": _name(step.source),
            "ties": list(step.kinds),
            "to": _name(step.target),
            "memories": list(step.memories),
        }
        for step in way.steps
    ]
    lines = [f"{row['from']}  {', '.join(row['ties'])}  {row['to']}" for row in rows]
    return _told({"found": way.found, "path": rows}, lines, way.pending)


@tool(
    "write",
    group="graph",
    words={
        "action": "relate needs kind and object or text; retract statement",
        "name": "Of the entity that is spoken of",
        "kind": "Of the relation, as works_at, or your own",
    },
)
async def state_graph(call: Call, given: GraphStatement) -> Outcome:
    """Correct the graph. Merge other names with an entity or keep them apart, relate it to an object or text,
    retract a statement by its id. Each can be undone."""
    view = call.session.memories(dry_run=given.dry_run).graph
    if given.action == "retract":
        check(call.access, "delete", call.space)
        id_ = _required(given.statement, "statement", given.action)
        return _done(await call.ask(view.retract, id_), "retracted", dry_run=given.dry_run)
    name = _required(given.name, "name", given.action)
    if given.action == "relate":
        if given.kind is None:
            raise InvalidInput.at("$.kind", "is required to relate")
        if (given.object is None) == (given.text is None):
            raise InvalidInput.at("$.object", "give either object, a name, or text, words")
        new = NewRelation(
            subject=name, kind=given.kind, object=given.object, literal=given.text, negative=given.negative
        )
        try:
            return _done(await call.ask(view.relate, new), "stated", dry_run=given.dry_run)
        except SensitiveContent as refused:
            names = {"$.subject": "$.name", "$.literal": "$.text"}
            told = [Problem(names.get(one.path, one.path), one.message) for one in refused.problems]
            raise SensitiveContent(told) from None
    say = view.merge if given.action == "merge" else view.keep_apart
    return _done(await call.ask(say, name, given.others), "stated", dry_run=given.dry_run)


def _required(value: str | None, field: str, action: str) -> str:
    if value is None:
        raise InvalidInput.at(f"$.{field}", f"is required for {action}")
    return value


def _done(one: Written, verb: str, *, dry_run: bool) -> Outcome:
    ids = [memory.id for memory in one.memories]
    said = "Dry run, nothing was stored." if dry_run else f"{verb.capitalize()}."
    return Outcome({"ids": ids, "dry_run": dry_run}, said)


def _name(end: End) -> str:
    return one_line(end.name)


def _entity(one: Entity) -> Json:
    row: Json = {"name": one_line(one.name), "kind": one.kind, "memories": one.mentions}
    return {**row, "aliases": [one_line(alias.name) for alias in one.aliases[:_SHOWN]]} if one.aliases else row


def _fact(one: Relation) -> Json:
    row: Json = {
        "subject": _name(one.subject),
        "kind": one.kind,
        "object": one_line(one.literal or "") if one.object is None else _name(one.object),
        "since": one.valid_from.date().isoformat(),
        "memory": one.memory,
    }
    row |= {} if one.valid_to is None else {"until": one.valid_to.date().isoformat()}
    return row | ({"negative": True} if one.negative else {})


def _facts(structured: Json, facts: Sequence[Relation], pending: int, head: Sequence[str] = ()) -> Outcome:
    rows = [_fact(one) for one in facts]
    lines = [
        *head,
        *(
            f"{row['since']}{'..' + row['until'] if 'until' in row else ''}  {row['subject']} "
            f"{'not ' if 'negative' in row else ''}{row['kind']} {row['object']}  [{row['memory']}]"
            for row in rows
        ),
    ]
    return _told({**structured, "facts": rows}, lines, pending)


def _told(structured: Json, lines: list[str], pending: int) -> Outcome:
    """Return an outcome that marks what is stored text, and says what it lacks."""
    marked: list[Any] = [f"{CONTENT}{line}" for line in lines] or ["Nothing."]
    marked += ["More are not shown."] if "more" in structured else more(structured.get("total", 0), len(lines))
    if pending:
        structured["pending"] = pending
        marked.append(f"{pending} versions are not read yet.")
    return Outcome({**structured, "notice": NOTICE}, "\n".join((NOTICE, "", *marked)))
