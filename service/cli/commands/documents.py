"""Commands about documents that are stored."""

from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.model.terms import PRUNE_STRATEGIES, PruneStrategy
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Failure, Globals, Subcommands
from muisti.service.cli.options import as_of, dry_run_option
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table

    from muisti.service.cli import output
    from muisti.service.cli.commands.ingest import looking, shape
else:  # with rich, and with what reads folders
    output = Lazy("muisti.service.cli.output")
    looking = Lazy("muisti.service.cli.commands.ingest.looking")
    shape = Lazy("muisti.service.cli.commands.ingest.shape")

COMMANDS = {
    "list": ("documents:list_documents", "List documents by their paths."),
    "show": ("documents:show", "Show a document and where its chunks are."),
    "text": ("documents:text", "Print the whole text of a document."),
    "delete": ("documents:delete", "Delete a document with its chunks."),
    "prune": ("documents:prune", "End documents, chunks and entities that have lost their source."),
    "stale": ("documents:stale", "List files of a folder that differ from their documents."),
}
PAGE = 100

documents = Subcommands(
    "documents",
    commands_at=COMMANDS,
    examples=("muisti documents list", "muisti documents text webshop/README.md"),
    help="List, show and delete documents.\n\n`muisti ingest` stores them. A document is named by its path or ID.",
)

name_argument = click.argument("name", metavar="PATH")
category_option = click.option("--category", metavar="NAME", help="Category of the document.")


@click.command("list", cls=Command, examples=("muisti documents list", "muisti documents list --folder webshop/docs/"))
@click.option("--folder", metavar="PATH", help="Only documents whose path begins so.")
@click.option("--limit", type=click.IntRange(1, PAGE), default=50, show_default=True, help="Largest number of them.")
@click.option("--cursor", metavar="TEXT", help="Continue a list; the page before names it with --json.")
@category_option
@as_of
@click.pass_obj
def list_documents(options: Globals, **asked: Any) -> None:
    """List documents by their paths.

    Prints the path, the ID, the format, the chunks, the bytes of the file and when it was read.
    """
    with session(options, reads=True) as opened:
        request = calls.list_documents(opened.space, **asked)
        reply = opened.client.send(request)
        output.answer(options, reply, table=_documents, plain=_document_lines, none="There are no documents.")


@click.command(cls=Command, examples=("muisti documents show webshop/README.md",))
@name_argument
@category_option
@as_of
@click.pass_obj
def show(options: Globals, name: str, category: str | None, as_of: str | None) -> None:
    """Show a document and where its chunks are.

    Prints the ID of each chunk, its first and last character, its tokens, its headings and how it begins.
    """
    with session(options, reads=True) as opened:
        request = calls.list_chunks(opened.space, name, category=category, as_of=as_of, limit=PAGE)
        reply = opened.client.send(request)
        items = [*reply.data["items"]]
        cursor = reply.data["next_cursor"]
        while cursor is not None:
            request = calls.list_chunks(opened.space, name, category=category, as_of=as_of, limit=PAGE, cursor=cursor)
            page = opened.client.send(request).data
            items += page["items"]
            cursor = page["next_cursor"]
        whole = output.revised(reply, {**reply.data, "items": items, "next_cursor": None})
        output.answer(options, whole, table=_chunks, plain=_chunk_lines, none="The document has no chunks.")


@click.command(cls=Command, examples=("muisti documents text webshop/README.md > README.md",))
@name_argument
@category_option
@as_of
@click.pass_obj
def text(options: Globals, name: str, category: str | None, as_of: str | None) -> None:
    """Print the whole text of a document, as its parser read it."""
    with session(options) as opened:
        request = calls.get_text(opened.space, name, category=category, as_of=as_of)
        with opened.client.stream(request) as response:
            for piece in response.iter_bytes():
                click.echo(piece, nl=False)


@click.command(cls=Command, examples=("muisti documents delete webshop/old.md --dry-run",))
@name_argument
@category_option
@dry_run_option
@click.pass_obj
def delete(options: Globals, name: str, category: str | None, dry_run: bool) -> None:
    """Delete a document with its chunks.

    `muisti undo` brings it back; `muisti purge` erases for good.
    """
    with session(options) as opened:
        request = calls.delete_document(opened.space, name, category=category, dry_run=dry_run or None)
        reply = opened.client.send(request)
        output.answer(options, reply, table=_ended, plain=lambda data: [output.tabbed(name, data["chunks"])])


@click.command(
    cls=Command,
    examples=("muisti documents prune --dry-run", "muisti documents prune --strategy orphaned_chunks --yes"),
)
@click.option(
    "--strategy", type=click.Choice(PRUNE_STRATEGIES), default="all", show_default=True, help="What to look for."
)
@dry_run_option
@click.option("--yes", is_flag=True, help="Do not ask. Needed in scripts.")
@click.pass_obj
def prune(options: Globals, strategy: PruneStrategy, dry_run: bool, yes: bool) -> None:
    """End documents, chunks and entities that have lost their source.

    `stale_code` is documents of code whose file the server has read itself, and that is gone or has changed. For files
    that a command has sent, use `muisti documents stale`. `orphaned_chunks` have no document. `orphaned_entities` come
    from imported graphs and are no tag of a memory. Shows what would end, and asks. `muisti rollback` brings all back.
    """
    body = {"strategy": strategy}
    with session(options) as opened:
        planned = opened.client.send(calls.prune_documents(opened.space, body, dry_run=True))
        if dry_run:
            output.answer(options, planned, table=lambda data: output.cell("\n".join(_pruned(data))), plain=_pruned)
            return
        if not yes:
            for line in _pruned(planned.data["answer"]):
                output.talk(f"  {output.safe(line)}")
            if not click.confirm(f"End them in the space {opened.space}?", err=True):
                raise Failure("Nothing was pruned.")
        reply = opened.client.send(calls.prune_documents(opened.space, body))
        output.answer(options, reply, table=lambda data: output.cell("\n".join(_pruned(data))), plain=_pruned)
        if reply.data["more"]:
            output.talk("There may be more: muisti documents prune again.")


@click.command(cls=Command, examples=("muisti documents stale ~/src/webshop",))
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False))
@click.option("--as", "name", metavar="PATH", help="Beginning of the paths, if `ingest` was given one.")
@category_option
@click.pass_context
def stale(context: click.Context, folder: str, name: str | None, category: str | None) -> None:
    """List files of a folder that differ from their documents.

    Prints what became of each file, and its path. The exit code is 1 when there are any.
    """
    options = context.ensure_object(Globals)
    found = looking.compared(options, folder, name, category)
    lines = [output.tabbed(state, path) for state, paths in found.items() for path in paths]
    for line in lines:
        click.echo(output.safe(line))
    if lines:
        raise Failure(f"{len(lines):,} files differ; `muisti ingest {folder} --sync` brings them in")


def _pruned(data: Any) -> list[str]:
    found = [output.tabbed(kind, name) for kind in PRUNE_STRATEGIES if kind != "all" for name in data[kind]]
    return [*found, output.tabbed("unknown", data["unknown"])]


def _documents(data: Any) -> "Table":
    table = output.grid(None, "path", "format", "chunks", "bytes", "read", right=("chunks", "bytes"))
    for one in data["items"]:
        size = f"{one['size']:,}" if one["size"] is not None else ""
        read = one["indexed_at"][:16].replace("T", " ")
        table.add_row(output.cell(one["path"]), output.cell(one["media_type"] or ""), f"{one['chunks']:,}", size, read)
    return table


def _document_lines(data: Any) -> list[str]:
    names = ("path", "id", "media_type", "chunks", "size", "indexed_at")
    return [output.tabbed(*(one[name] for name in names)) for one in data["items"]]


def _chunks(data: Any) -> "Table":
    table = output.grid(None, "chunk", "from", "to", "tokens", "where", "beginning", right=("from", "to", "tokens"))
    for one in data["items"]:
        where = " › ".join([*one["headings"], *([one["symbol"]] if one["symbol"] else [])])
        places = (str(one[name]) for name in ("start", "stop", "tokens"))
        table.add_row(one["id"], *places, output.cell(where), output.cell(one["content"][one["overlap"] :][:60]))
    return table


def _chunk_lines(data: Any) -> list[str]:
    names = ("id", "start", "stop", "tokens")
    return [
        output.tabbed(
            *(one[name] for name in names), " › ".join(one["headings"]), one["content"][one["overlap"] :][:80]
        )
        for one in data["items"]
    ]


def _ended(data: Any) -> "Table":
    table = output.grid(None, "documents", "chunks", right=("documents", "chunks"))
    table.add_row(str(data["documents"]), str(data["chunks"]))
    return table
