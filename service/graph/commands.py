"""Commands about the knowledge graph: entities, their facts, neighbours and paths, and what people say of them."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.model.choices import BY_MEMORY, DEPTH_MAX, RELATION_KINDS
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import ERROR, OK, Globals
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.options import JOINED, as_of, choice, dry_run, flag, integer, option
from muisti.service.terminal.output import answer, talk, write_file
from muisti.service.terminal.session import ask, exit_code, follow, session, space_choice
from muisti.service.terminal.views import (
    Shown,
    View,
    cell,
    dim,
    fields,
    grid,
    lines,
    listed,
    rest,
    stack,
    stated,
    tabbed,
)

if TYPE_CHECKING:
    from muisti.service.graph import exporting, formats
else:  # with the core
    exporting = Lazy("muisti.service.graph.exporting")
    formats = Lazy("muisti.service.graph.formats")

_FIGURES = (
    *("enabled", "entities", "mentions", "relations", "read", "pending"),
    *("recogniser", "current", "fallbacks", "degraded"),
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
        (cell(mention["at"][:10], "dim"), mention["around"], cell(memory, "dim"))
        for memory, mention in [*reversed(by_memory.items())][:10]
    ]
    memories = grid("Memories", "when", "text", "memory", rows=rows)
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


FORMATS = ("json", "graphml", "cytoscape", "cypher", "json-ld", "dot")

graph = Operations(
    "graph",
    examples=('muisti graph show "Ann Berg"', "muisti graph path Ann Acme", "muisti graph draw --entity Ann ann.svg"),
    help="Ask who and what the memories are about.\n\nEntities and facts are read from memories as they are written. "
    "A fact ends with the memory that states it.",
)
TIES = option("--kind kinds", f"Kind of tie, as works_at or {BY_MEMORY}; repeat it.", metavar="KIND", **JOINED)


def _noted(options: Globals, data: Any) -> None:
    if data.get("pending"):
        talk(f"Note: {data['pending']:,} versions are not read yet; muisti graph build reads them.")


def _found(options: Globals, data: Any) -> int:
    _noted(options, data)
    if not data["found"]:
        talk("No way leads from one to the other.")
    return OK if data["found"] else ERROR


def _belonging(options: Globals, data: Any) -> None:
    _noted(options, data)
    if data["too_large"]:
        talk("The graph of this space has too many mentions to look for communities.")


graph.call("status", calls.get_graph, FIGURES, then=_noted)
graph.call(
    "entities --prefix --kind --sort -n,--limit --as-of",
    calls.list_entities,
    ENTITIES,
    "muisti graph entities --prefix ann",
    "muisti graph entities --kind place",
    prints="the kind, the name, how many memories mention it, and its other names",
    then=_noted,
)
graph.call(
    "show NAME=entity --as-of",
    calls.get_entity,
    PROFILE,
    'muisti graph show "Ann Berg"',
    "muisti graph show Acme --as-of 2026-01-31",
    help="Show an entity: its names, its facts in the order of time, and the latest memories that mention it.",
    prints="the time from which a fact holds, and until when, the fact, and the memory that states it",
    then=_noted,
)
graph.call(
    "neighbours NAME=entity --depth --sort -n,--limit --as-of",
    calls.list_neighbours,
    NEIGHBOURS,
    "muisti graph neighbours Ann",
    "muisti graph neighbours Ann --depth 2",
    help="Show what is tied to an entity, by relations and by being mentioned together.",
    more=(TIES,),
    then=_noted,
)
graph.call(
    "path FIRST=from_ SECOND=to --as-of",
    calls.find_path,
    PATH,
    "muisti graph path Ann Acme",
    help="Show a shortest path from one entity to another. The exit code is 1 when there is none.",
    more=(TIES,),
    then=_found,
)
graph.call(
    "relations --subject --object=target -n,--limit --as-of",
    calls.list_relations,
    RELATIONS,
    "muisti graph relations --subject Ann",
    "muisti graph relations --kind works_at --json",
    more=(option("--kind kinds", "Kind, as works_at or your own; repeat it.", metavar="KIND", **JOINED),),
    then=_noted,
)
graph.call(
    "proposals -n,--limit --as-of",
    calls.list_proposals,
    PROPOSALS,
    help="List names that look alike. Nothing is merged until somebody says so: see merge and keep-apart.",
    then=_noted,
)
graph.call(
    "communities -n,--limit --as-of",
    calls.list_communities,
    COMMUNITIES,
    "muisti graph communities -n 5",
    prints="the number of memories and of names, and the most telling names",
    then=_belonging,
)
graph.call(
    "merge NAME=entity OTHERS --dry-run",
    calls.merge_entities,
    STATEMENT,
    'muisti graph merge "Ann Berg" "A. Berg"',
    help="""Say that OTHERS are names of the entity NAME, too.

    It is stored as a memory, and `muisti undo` takes it back.
    """,
)
graph.call(
    "keep-apart NAME=entity OTHERS --dry-run",
    calls.keep_entities_apart,
    STATEMENT,
    'muisti graph keep-apart Flask "Flask-Talisman"',
    help="Say that OTHERS are not names of the entity NAME, whatever a rule finds.",
)


@graph.has(
    'muisti graph relate "Ann Berg" works_at Acme',
    'muisti graph relate Ann likes --text "dark roast"',
    help="State a relation between two entities, or of one entity to words.\n\n"
    f"It is stored as a memory, with an author and a history. KIND is one of {', '.join(RELATION_KINDS)}, "
    "or your own, as reports_to.",
)
@click.argument("subject")
@click.argument("kind", metavar="KIND")
@click.argument("object", metavar="[OBJECT]", required=False)
@option("--text literal", "Words as the object, in place of a name.", metavar="TEXT")
@flag("--not negative", "State that it is not so.")
@dry_run
def relate(options: Globals, *, dry_run: bool, **body: Any) -> None:
    """State a relation."""
    if (body["object"] is None) == (body["literal"] is None):
        raise click.UsageError("give OBJECT, a name, or --text, words")
    body.pop("object" if body["object"] is None else "literal")
    request = partial(calls.state_relation, body=body, dry_run=dry_run)
    ask(options, request, STATEMENT, create=not dry_run, reads=dry_run)


@graph.has("muisti graph retract 0197a3c0-5f4e-7000-8000-0123456789ab")
@click.argument("memory", metavar="ID")
@dry_run
def retract(options: Globals, memory: str, *, dry_run: bool) -> None:
    """Delete what was stated of an entity or a relation, by the ID of its memory."""
    with session(options) as opened:
        reply = opened.client.send(calls.retract_statement(opened.space, memory, dry_run=dry_run))
        if dry_run:
            answer(options, reply, *STATEMENT)
        elif options.json:
            click.echo("{}")
        else:
            talk("Retracted; muisti undo takes it back.")


@graph.has("muisti graph build", "muisti graph build --again")
@flag("--again", "Read all memories again, as after a change of the recogniser.")
@flag("--no-wait", "Begin the task, and do not follow it.")
@dry_run
def build(options: Globals, *, again: bool, no_wait: bool, dry_run: bool) -> int:
    """Read all memories that are not read yet, with progress.

    Single writes are read by themselves. With --dry-run, the next memories are read and nothing is stored.
    """
    with session(options) as opened:
        reply = opened.client.send(calls.build_graph(opened.space, {"again": again}, dry_run=dry_run))
        if dry_run:
            found = reply.data["answer"]
            talk(
                f"Nothing was stored. The next {found['read']:,} versions have {found['mentions']:,} mentions and "
                f"{found['relations']:,} relations; {found['pending']:,} versions are to be read."
            )
            if options.json:
                click.echo(reply.body)
            return OK
        task = reply.data if no_wait else follow(options, opened, reply.data)
        answer(options, opened.client.send(calls.get_task(opened.space, task["id"])), *BUILT)
    return OK if no_wait else exit_code(task)


@graph.has("muisti graph draw all.svg", "muisti graph draw --entity Ann ann.svg")
@click.argument("file", metavar="FILE")
@option("--entity", "The entity in the middle; else the most mentioned are drawn.")
@integer("--depth", "Ties to follow.  [default: 1]", 1, DEPTH_MAX)
@integer("-n --limit", "Entities at most.  [default: 60]", 1, 260)
@integer("--width", "Width in pixels, such as 360 for a phone.", 320, 4_000)
@flag("--force", "Overwrite an existing file.")
@as_of
def draw(options: Globals, file: str, *, force: bool, **given: Any) -> None:
    """Draw the entities around one into an SVG file, with a legend; - is standard output."""
    with session(options) as opened:
        reply = opened.client.send(calls.draw_graph(opened.space, **given))
    write_file([reply.body], Path(file), force=force)


@graph.has("muisti graph export graph.graphml", "muisti graph export --format cypher - | cypher-shell")
@click.argument("file", metavar="FILE")
@choice("--format", "Format.  [default: by the ending of FILE, else json]", FORMATS)
@flag("--force", "Overwrite an existing file.")
@as_of
def export(
    options: Globals, file: str, *, format: "formats.GraphFormat | None", as_of: str | None, force: bool
) -> None:
    """Write all entities and relations into a file; - is standard output.

    GraphML is for Gephi, yEd and networkx, Cypher for Neo4j, DOT for Graphviz, .cyjs for Cytoscape.
    """
    endings: Mapping[str, formats.GraphFormat] = {one.suffix: name for name, one in formats.FORMATS.items()}
    form = format or endings.get(Path(file).suffix.lower(), "json")
    space = space_choice(options).space
    with exporting.exported_graph(options, space, form, as_of) as pieces:
        write_file(pieces, Path(file), force=force)


graph.call("drop", calls.drop_graph, DROPPED)
