"""Commands about the knowledge graph: entities, their facts, neighbours and paths, and what people say of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from muisti.core.model.graph_terms import DEPTH_MAX, ENTITIES_MAX, ENTITY_KINDS, FACTS_MAX, TIE_KINDS
from muisti.core.model.relations import RELATION_KINDS
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals, Subcommands
from muisti.service.cli.options import as_of, dry_run_option

if TYPE_CHECKING:
    from muisti.service.cli.commands.graph import files, showing, stating
    from muisti.service.formats.graphs.formats import GraphFormat
else:  # with rich, which `--help` does without
    files = Lazy("muisti.service.cli.commands.graph.files")
    showing = Lazy("muisti.service.cli.commands.graph.showing")
    stating = Lazy("muisti.service.cli.commands.graph.stating")

COMMANDS = {
    "status": ("graph:status", "Show how much the graph knows, and what is not read yet."),
    "entities": ("graph:entities", "List the people, places and things that memories name."),
    "show": ("graph:show", "Show an entity: names, facts, memories."),
    "neighbours": ("graph:neighbours", "Show what is tied to an entity."),
    "path": ("graph:path", "Show how two entities are tied."),
    "relations": ("graph:relations", "List relations by subject, kind and object."),
    "proposals": ("graph:proposals", "List names that look alike, to be merged or kept apart."),
    "communities": ("graph.communities:communities", "List names that belong together."),
    "merge": ("graph:merge", "Say that other names are those of an entity."),
    "keep-apart": ("graph:keep_apart", "Say that other names are not those of an entity."),
    "relate": ("graph:relate", "State a relation."),
    "retract": ("graph:retract", "Delete what was stated."),
    "build": ("graph:build", "Read all memories that are not read yet."),
    "draw": ("graph:draw", "Draw the graph around an entity into an SVG file."),
    "export": ("graph:export", "Write the graph into a file for other programs."),
    "drop": ("graph:drop", "Delete what was read from memories."),
}
SUFFIXES = ("json", "graphml", "cytoscape", "cypher", "json-ld", "dot")

graph = Subcommands(
    "graph",
    commands_at=COMMANDS,
    examples=('muisti graph show "Ann Berg"', "muisti graph path Ann Acme", "muisti graph draw --entity Ann ann.svg"),
    help="Ask who and what the memories are about.\n\nEntities and facts are read from memories as they are written. "
    "A fact ends with the memory that states it.",
)
limit = click.option("-n", "--limit", type=click.IntRange(1, ENTITIES_MAX), metavar="N", help="At most.  [default: 50]")
facts = click.option("-n", "--limit", type=click.IntRange(1, FACTS_MAX), metavar="N", help="At most.  [default: 100]")
depth = click.option("--depth", type=click.IntRange(1, DEPTH_MAX), metavar="N", help="Ties to follow.  [default: 1]")
ties = click.option("--kind", "kinds", type=click.Choice(TIE_KINDS), multiple=True, help="Kind of tie; repeat it.")


@click.command(cls=Command, examples=("muisti graph status", "muisti graph status --json"))
@click.pass_obj
def status(options: Globals) -> None:
    """Show how much the graph knows, and what is not read yet."""
    showing.status(options)


@click.command(cls=Command, examples=("muisti graph entities --prefix ann", "muisti graph entities --kind place"))
@click.option("--prefix", metavar="TEXT", help="Beginning of the names, in any case.")
@click.option("--kind", type=click.Choice(ENTITY_KINDS), help="Only this kind.")
@click.option("--sort", type=click.Choice(("-mentions", "name")), help="Order.  [default: -mentions]")
@limit
@as_of
@click.pass_obj
def entities(options: Globals, **given: Any) -> None:
    """List the people, places and things that memories name.

    Prints the kind, the name, how many memories mention it, and its other names.
    """
    showing.entities(options, _given(given))


@click.command(cls=Command, examples=('muisti graph show "Ann Berg"', "muisti graph show Acme --as-of 2026-01-31"))
@click.argument("name")
@as_of
@click.pass_obj
def show(options: Globals, name: str, **given: Any) -> None:
    """Show an entity: its names, its facts in the order of time, and the latest memories that mention it.

    Prints the time from which a fact holds, and until when, the fact, and the memory that states it.
    """
    showing.show(options, name, _given(given))


@click.command(cls=Command, examples=("muisti graph neighbours Ann", "muisti graph neighbours Ann --depth 2"))
@click.argument("name")
@depth
@ties
@click.option("--sort", type=click.Choice(("-association", "-weight")), help="Order.  [default: -association]")
@limit
@as_of
@click.pass_obj
def neighbours(options: Globals, name: str, kinds: tuple[str, ...], **given: Any) -> None:
    """Show what is tied to an entity, by relations and by being mentioned together."""
    showing.neighbours(options, name, _given(given) | _listed(kinds))


@click.command(cls=Command, examples=("muisti graph path Ann Acme",))
@click.argument("first")
@click.argument("second")
@ties
@as_of
@click.pass_obj
def path(options: Globals, first: str, second: str, kinds: tuple[str, ...], **given: Any) -> None:
    """Show a shortest path from one entity to another. The exit code is 1 when there is none."""
    showing.path(options, first, second, _given(given) | _listed(kinds))


@click.command(
    cls=Command, examples=("muisti graph relations --subject Ann", "muisti graph relations --kind works_at --json")
)
@click.option("--subject", metavar="NAME", help="Only relations of this entity.")
@click.option("--object", metavar="NAME", help="Only relations to this entity.")
@click.option("--kind", "kinds", type=click.Choice(RELATION_KINDS), multiple=True, help="Kind; repeat it.")
@facts
@as_of
@click.pass_obj
def relations(options: Globals, kinds: tuple[str, ...], **given: Any) -> None:
    """List relations by subject, kind and object, those of the latest memories first."""
    showing.relations(options, _given(given) | _listed(kinds))


@click.command(cls=Command, examples=("muisti graph proposals",))
@limit
@as_of
@click.pass_obj
def proposals(options: Globals, **given: Any) -> None:
    """List names that look alike. Nothing is merged until somebody says so: see merge and keep-apart."""
    showing.proposals(options, _given(given))


@click.command(cls=Command, examples=('muisti graph merge "Ann Berg" "A. Berg"',))
@click.argument("name")
@click.argument("others", nargs=-1, required=True)
@dry_run_option
@click.pass_obj
def merge(options: Globals, name: str, others: tuple[str, ...], *, dry_run: bool) -> None:
    """Say that OTHERS are names of the entity NAME, too.

    It is stored as a memory, and `muisti undo` takes it back.
    """
    stating.merge(options, name, others, dry_run=dry_run)


@click.command("keep-apart", cls=Command, examples=('muisti graph keep-apart Flask "Flask-Talisman"',))
@click.argument("name")
@click.argument("others", nargs=-1, required=True)
@dry_run_option
@click.pass_obj
def keep_apart(options: Globals, name: str, others: tuple[str, ...], *, dry_run: bool) -> None:
    """Say that OTHERS are not names of the entity NAME, whatever a rule finds."""
    stating.keep_apart(options, name, others, dry_run=dry_run)


@click.command(
    cls=Command,
    help="State a relation between two entities, or of one entity to words.\n\n"
    f"It is stored as a memory, with an author and a history. KIND is one of {', '.join(RELATION_KINDS)}.",
    examples=('muisti graph relate "Ann Berg" works_at Acme', 'muisti graph relate Ann likes --text "dark roast"'),
)
@click.argument("subject")
@click.argument("kind", type=click.Choice(RELATION_KINDS), metavar="KIND")
@click.argument("object_", metavar="[OBJECT]", required=False)
@click.option("--text", "literal", metavar="TEXT", help="Words as the object, in place of a name.")
@click.option("--not", "negative", is_flag=True, help="State that it is not so.")
@dry_run_option
@click.pass_obj
def relate(
    options: Globals,
    subject: str,
    kind: str,
    object_: str | None,
    literal: str | None,
    *,
    negative: bool,
    dry_run: bool,
) -> None:
    """State a relation."""
    stating.relate(options, subject, kind, object_, literal, negative=negative, dry_run=dry_run)


@click.command(cls=Command, examples=("muisti graph retract 0197a3c0-5f4e-7000-8000-0123456789ab",))
@click.argument("memory", metavar="ID")
@dry_run_option
@click.pass_obj
def retract(options: Globals, memory: str, *, dry_run: bool) -> None:
    """Delete what was stated of an entity or a relation, by the ID of its memory."""
    stating.retract(options, memory, dry_run=dry_run)


@click.command(cls=Command, examples=("muisti graph build", "muisti graph build --again"))
@click.option("--again", is_flag=True, help="Read all memories again, as after a change of the recogniser.")
@click.option("--no-wait", is_flag=True, help="Begin the task, and do not follow it.")
@dry_run_option
@click.pass_context
def build(context: click.Context, *, again: bool, no_wait: bool, dry_run: bool) -> None:
    """Read all memories that are not read yet, with progress.

    Single writes are read by themselves. With --dry-run, the next memories are read and nothing is stored.
    """
    options = context.ensure_object(Globals)
    context.exit(stating.build(options, again=again, wait=not no_wait, dry_run=dry_run))


@click.command(cls=Command, examples=("muisti graph draw all.svg", "muisti graph draw --entity Ann ann.svg"))
@click.argument("file", metavar="FILE")
@click.option("--entity", metavar="NAME", help="The entity in the middle; else the most mentioned are drawn.")
@depth
@click.option("-n", "--limit", type=click.IntRange(1, 260), metavar="N", help="Entities at most.  [default: 60]")
@click.option("--width", type=click.IntRange(320, 4_000), metavar="N", help="Width in pixels, such as 360 for a phone.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@as_of
@click.pass_obj
def draw(options: Globals, file: str, *, force: bool, **given: Any) -> None:
    """Draw the entities around one into an SVG file, with a legend; - is standard output."""
    files.draw(options, file, _given(given), force=force)


@click.command(
    cls=Command, examples=("muisti graph export graph.graphml", "muisti graph export --format cypher - | cypher-shell")
)
@click.argument("file", metavar="FILE")
@click.option("--format", type=click.Choice(SUFFIXES), help="Format.  [default: by the ending of FILE, else json]")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@as_of
@click.pass_obj
def export(options: Globals, file: str, *, format: "GraphFormat | None", as_of: str | None, force: bool) -> None:
    """Write all entities and relations into a file; - is standard output.

    GraphML is for Gephi, yEd and networkx, Cypher for Neo4j, DOT for Graphviz, .cyjs for Cytoscape.
    """
    files.export(options, file, format, as_of, force=force)


@click.command(cls=Command, examples=("muisti graph drop",))
@click.pass_obj
def drop(options: Globals) -> None:
    """Delete what was read from memories; `muisti graph build` reads it again. What people stated stays."""
    stating.drop(options)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _listed(kinds: tuple[str, ...]) -> dict[str, Any]:
    return {"kinds": ",".join(kinds)} if kinds else {}
