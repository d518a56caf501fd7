"""The ingest command: files, folders, repositories and archives become documents."""

from typing import TYPE_CHECKING, Any

import click

from muisti.core.chunking.defaults import OVERLAP, SIZE, STRATEGIES
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import choice, flag, integer, option

if TYPE_CHECKING:
    from muisti.service.cli.commands.ingest import bringing, shape
else:  # with watchfiles, pathspec and httpx, which `--help` does without
    bringing = Lazy("muisti.service.cli.commands.ingest.bringing")
    shape = Lazy("muisti.service.cli.commands.ingest.shape")


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
@option("--chunk-size", "Tokens of a chunk at most.", int, metavar="N", default=SIZE)
@option("--overlap", "Tokens that a chunk repeats.", int, metavar="N", default=OVERLAP)
@flag("--main-content", "Leave menus and the like out of web pages.")
@integer("--largest", "Leave larger files of a folder out.", 1, metavar="MB", default=100)
@option("--language languages", "Only source code in this language, of a folder; repeat for several.", multiple=True)
@flag("--no-tests", "Leave the tests of a repository out.")
@flag("--allow-secrets", "Also store texts that look like a password or a key.")
def ingest(options: Globals, sources: tuple[str, ...], **given: Any) -> int | None:
    """Store files as documents, in chunks that searches find.

    FILE is a file, an archive, a folder or repository, or - for standard input. Of a folder, files that git ignores
    are left out, and only new and changed files are read. The exit code is 1 when a file could not be stored.
    """
    how = shape.how(**given)
    return (bringing.preview if how.preview else bringing.bring)(options, sources, how)
