"""The ingest command: files, folders, repositories and archives become documents."""

from typing import TYPE_CHECKING, Any

import click

from muisti.core.parsing.chunking.defaults import OVERLAP, SIZE, STRATEGIES
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals, command

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
@click.option("--as", "name", metavar="PATH", help="Path of the document; of a folder, the beginning of all paths.")
@click.option("--sync", is_flag=True, help="Also end the documents of a folder whose file is gone or ignored.")
@click.option("--watch", is_flag=True, help="Go on: bring in each change of a folder, as --sync does.")
@click.option("--dry-run", is_flag=True, help="Show which files are new, changed or gone, and change nothing.")
@click.option("--preview", is_flag=True, help="Show where a file would be cut, and store nothing.")
@click.option("--category", metavar="NAME", help="Category of the documents.")
@click.option("--tag", "tags", metavar="NAME", multiple=True, help="Tag; repeat for several.")
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="auto",
    show_default=True,
    help="How texts are cut; see docs/concepts/documents.md.",
)
@click.option("--chunk-size", type=int, default=SIZE, show_default=True, metavar="N", help="Tokens of a chunk at most.")
@click.option(
    "--overlap", type=int, default=OVERLAP, show_default=True, metavar="N", help="Tokens that a chunk repeats."
)
@click.option("--main-content", is_flag=True, help="Leave menus and the like out of web pages.")
@click.option(
    "--largest",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="MB",
    help="Leave larger files of a folder out.",
)
@click.option(
    "--language",
    "languages",
    metavar="NAME",
    multiple=True,
    help="Only source code in this language, of a folder; repeat for several.",
)
@click.option("--no-tests", is_flag=True, help="Leave the tests of a repository out.")
@click.option("--allow-secrets", is_flag=True, help="Also store texts that look like a password or a key.")
def ingest(options: Globals, sources: tuple[str, ...], **given: Any) -> int | None:
    """Store files as documents, in chunks that searches find.

    FILE is a file, an archive, a folder or repository, or - for standard input. Of a folder, files that git ignores
    are left out, and only new and changed files are read. The exit code is 1 when a file could not be stored.
    """
    how = shape.how(**given)
    return (bringing.preview if how.preview else bringing.bring)(options, sources, how)
