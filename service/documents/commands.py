"""Commands about documents: ingest, those that are stored, and hooks of git that keep them up to date."""

import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.model.choices import LIMIT_MAX, PRUNE_STRATEGIES, PruneStrategy
from muisti.core.parsing.chunking.defaults import OVERLAP, SIZE, STRATEGIES
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import Failure, Globals, Subcommands, command
from muisti.service.terminal.calling import Operations, category
from muisti.service.terminal.options import allowing, as_of, choice, dry_run, flag, integer, option
from muisti.service.terminal.output import answer, talk
from muisti.service.terminal.session import session, space_choice
from muisti.service.terminal.views import View, cell, lines, listed, safe, same, tabbed

if TYPE_CHECKING:
    from muisti.service.documents import folder_sync, ingest_work
    from muisti.service.folders import git
else:  # with what reads folders, and with subprocess
    ingest_work = Lazy("muisti.service.documents.ingest_work")
    folder_sync = Lazy("muisti.service.documents.folder_sync")
    git = Lazy("muisti.service.folders.git")


@command(
    "muisti ingest report.pdf",
    "muisti ingest ~/src/webshop --dry-run",
    "muisti ingest ~/src/webshop --sync",
    "muisti ingest . --watch",
    "muisti ingest handbook.docx --preview --chunk-size 256",
    "muisti ingest papers.zip --as papers",
    "pdftotext report.pdf - | muisti ingest - --as report.txt",
)
@click.argument("sources", metavar="FILE…", nargs=-1, required=True)
@option("--as name", "Path of the document; of a folder, the beginning of all paths.", metavar="PATH")
@flag("--sync", "Also end the documents of a folder whose file is gone or ignored.")
@flag("--watch", "Go on: bring in each change of a folder, as --sync does.")
@flag("--dry-run", "Show which files are new, changed or gone, and change nothing.")
@flag("--preview", "Show where a file would be cut, and store nothing.")
@option("--category", "Category of the documents.")
@option("--tag tags", "Tag; repeat for several.", multiple=True)
@choice("--strategy", "How texts are cut; see docs/concepts/documents.md.", STRATEGIES, default="auto")
@integer("--chunk-size", "Tokens of a chunk at most.", default=SIZE)
@integer("--overlap", "Tokens that a chunk repeats.", default=OVERLAP)
@flag("--main-content", "Leave menus and the like out of web pages.")
@option("--encoding", "Encoding of the files, such as shift_jis, whatever they state.")
@integer("--largest", "Leave larger files of a folder out.", 1, metavar="MB", default=100)
@option("--language languages", "Only source code in this language, of a folder; repeat for several.", multiple=True)
@flag("--no-tests", "Leave the tests of a repository out.")
@allowing("secrets", "Also store texts that look like a password or a key.")
def ingest(options: Globals, sources: tuple[str, ...], **given: Any) -> int | None:
    """Store files as documents, in chunks that searches find.

    FILE is a file, an archive, a folder or repository, or - for standard input. Of a folder, files that git ignores
    are left out, and only new and changed files are read. The exit code is 1 when a file could not be stored.
    """
    how = folder_sync.how_of(**given)
    return (ingest_work.preview if how.preview else ingest_work.bring)(options, sources, how)


documents = Operations(
    "documents",
    examples=("muisti documents list", "muisti documents text webshop/README.md"),
    help="List, show and delete documents.\n\n`muisti ingest` stores them. A document is named by its path or ID.",
)

name_argument = click.argument("name", metavar="PATH")


def _pruned(data: Any) -> list[str]:
    found = [tabbed(kind, name) for kind in PRUNE_STRATEGIES if kind != "all" for name in data[kind]]
    return [*found, tabbed("unknown", data["unknown"])]


def _headings(one: Any) -> str:
    return " › ".join(one["headings"])


DOCUMENTS = listed(
    {
        "path": "path",
        "format": "media_type",
        "chunks": lambda one: f"{one['chunks']:,}",
        "bytes": lambda one: "" if one["size"] is None else f"{one['size']:,}",
        "read": lambda one: one["indexed_at"][:16].replace("T", " "),
    },
    ("path", "id", "media_type", "chunks", "size", "indexed_at"),
    right=("chunks", "bytes"),
    none="There are no documents.",
)
CHUNKS = listed(
    {
        "chunk": "id",
        "from": "start",
        "to": "stop",
        "tokens": "tokens",
        "where": lambda one: " › ".join([*one["headings"], *([one["symbol"]] if one["symbol"] else [])]),
        "beginning": lambda one: one["content"][one["overlap"] :][:60],
    },
    ("id", "start", "stop", "tokens", _headings, lambda one: one["content"][one["overlap"] :][:80]),
    right=("from", "to", "tokens"),
    none="The document has no chunks.",
)
DELETED = same("documents", "chunks", right=("documents", "chunks"))
PRUNED = View(lambda data: cell("\n".join(_pruned(data))), _pruned)


documents.call(
    "list --folder --limit --cursor --category --as-of",
    calls.list_documents,
    DOCUMENTS,
    "muisti documents list",
    "muisti documents list --folder webshop/docs/",
    help="List documents by their paths.",
    prints="the path, the ID, the format, the chunks, the bytes of the file and when it was read",
)


@documents.has("muisti documents show webshop/README.md")
@name_argument
@category
@as_of
def show(options: Globals, name: str, category: str | None, as_of: str | None) -> None:
    """Show a document and where its chunks are.

    Prints the ID of each chunk, its first and last character, its tokens, its headings and how it begins.
    """
    with session(options, reads=True) as opened:
        given: dict[str, Any] = {"category": category, "as_of": as_of, "limit": LIMIT_MAX}
        reply = opened.whole(lambda cursor: calls.list_chunks(opened.space, name, cursor=cursor, **given))
        answer(options, reply, *CHUNKS)


@documents.has("muisti documents text webshop/README.md > README.md")
@name_argument
@category
@as_of
def text(options: Globals, name: str, category: str | None, as_of: str | None) -> None:
    """Print the whole text of a document, as its parser read it."""
    with session(options) as opened:
        request = calls.get_text(opened.space, name, category=category, as_of=as_of)
        with opened.client.stream(request) as response:
            for piece in response.iter_bytes():
                click.echo(piece, nl=False)


documents.call(
    "delete PATH=document --category --dry-run",
    calls.delete_document,
    lambda given: DELETED._replace(plain=lines(lambda _: given["document"], "chunks")),
    "muisti documents delete webshop/old.md --dry-run",
    help="""Delete a document with its chunks.

    `muisti undo` brings it back; `muisti purge` erases for good.
    """,
)


@documents.has("muisti documents prune --dry-run", "muisti documents prune --strategy orphaned_chunks --yes")
@choice("--strategy", "What to look for.", PRUNE_STRATEGIES, default="all")
@dry_run
@flag("--yes", "Do not ask. Needed in scripts.")
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
            answer(options, planned, *PRUNED)
            return
        if not yes:
            for line in _pruned(planned.data["answer"]):
                talk(f"  {safe(line)}")
            if not click.confirm(f"End them in the space {opened.space}?", err=True):
                raise Failure("Nothing was pruned.")
        reply = opened.client.send(calls.prune_documents(opened.space, body))
        answer(options, reply, *PRUNED)
        if reply.data["more"]:
            talk("There may be more: muisti documents prune again.")


@documents.has("muisti documents stale ~/src/webshop")
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False))
@option("--as name", "Beginning of the paths, if `ingest` was given one.", metavar="PATH")
@category
def stale(options: Globals, folder: str, name: str | None, category: str | None) -> None:
    """List files of a folder that differ from their documents.

    Prints what became of each file, and its path. The exit code is 1 when there are any.
    """
    found = folder_sync.compared(options, folder, name, category)
    lines = [tabbed(state, path) for state, paths in found.items() for path in paths]
    for line in lines:
        click.echo(safe(line))
    if lines:
        raise Failure(f"{len(lines):,} files differ; `muisti ingest {folder} --sync` brings them in")


hooks = Subcommands(
    "hooks",
    examples=("muisti hooks install", "muisti hooks remove ~/src/webshop"),
    help="Make git bring each commit into the documents.\n\nAfter each commit, merge, checkout and rebase git runs "
    "`muisti ingest --sync`. Hooks that a repository has keep their lines.",
)

repository = click.argument(
    "repository", metavar="REPOSITORY", type=click.Path(exists=True, file_okay=False, path_type=Path), default="."
)


@hooks.has("muisti hooks install", "muisti hooks install ~/src/webshop --space webshop")
@repository
def install(options: Globals, repository: Path) -> None:
    """Make git bring each commit into the documents.

    The hooks of REPOSITORY, by default that of this folder, run `muisti ingest` in the background. They use the
    server or database and the space that this command uses; a key comes from the environment of git.
    """
    top, folder = _hooks_of(repository)
    words = [*_program(), "ingest", str(top), "--sync", "--space", space_choice(options).space]
    for name in ("url", "database", "config"):
        value = getattr(options, name)
        words += (
            [f"--{name}", value if name == "url" or "://" in value else str(Path(value).resolve())] if value else []
        )
    _print_hooks(lambda: git.install_hooks(folder, shlex.join(words)))


@hooks.has("muisti hooks remove")
@repository
def remove(options: Globals, repository: Path) -> None:
    """Take the hooks out again. Lines of others stay."""
    _, folder = _hooks_of(repository)
    _print_hooks(lambda: git.remove_hooks(folder))


def _print_hooks(work: "Callable[[], list[git.Hooked]]") -> None:
    try:
        done = work()
    except (git.HookRefused, OSError) as error:
        raise Failure(str(error)) from error
    for one in done:
        click.echo(f"{one.name}\t{one.outcome}")


def _hooks_of(repository: Path) -> tuple[Path, Path]:
    top, folder = git.top(repository), git.hooks_folder(repository)
    if top is None or folder is None:
        raise Failure(f"{repository} is in no repository of git, or git is not installed")
    return top, folder


def _program() -> list[str]:
    beside = Path(sys.executable).with_name("muisti")
    found = str(beside) if beside.exists() else shutil.which("muisti")
    return [found] if found else [sys.executable, "-m", "muisti.service"]
