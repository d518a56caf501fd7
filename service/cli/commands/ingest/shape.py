"""Options of the ingest command, and the paths that files get as documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from muisti.core.model.errors import InvalidInput
from muisti.core.parsing.chunking.options import Chunking, check
from muisti.service.cli.options import comma_list
from muisti.service.folders import git
from muisti.service.folders.choosing import Choice, check_languages

STDIN = "-"
STDIN_PATH = "stdin.txt"


class How(Struct, frozen=True, kw_only=True):
    """Options of the command. `largest` is in bytes."""

    name: str | None
    sync: bool
    watch: bool
    dry_run: bool
    preview: bool
    category: str | None
    tags: Sequence[str]
    chunking: Chunking
    main_content: bool
    largest: int
    choice: Choice
    allowed: Sequence[str]

    def parameters(self) -> dict[str, Any]:
        """Return the query parameters of a request that stores files."""
        return {**self.reading(), "category": self.category, "tags": ",".join(self.tags) or None}

    def reading(self) -> dict[str, Any]:
        """Return the query parameters that say how a file is read and cut; those as usual are left out."""
        usual = Chunking()
        names = ("strategy", "size", "overlap")
        said = {name: getattr(self.chunking, name) for name in names}
        found: dict[str, Any] = {name: said[name] for name in names if said[name] != getattr(usual, name)}
        return found | ({"main_content": True} if self.main_content else {})


def how(*, strategy: Any, chunk_size: int, overlap: int, tags: Sequence[str], largest: int, **given: Any) -> How:
    """Return the options of the command.

    Raises:
        UsageError: they cannot be used together.
    """
    allowed = ("secrets",) if given.pop("allow_secrets") else ()
    choice = Choice(comma_list(given.pop("languages")), tests=not given.pop("no_tests"))
    chunking = Chunking(strategy=strategy, size=chunk_size, overlap=overlap)
    try:
        check(chunking)
        check_languages(choice.languages)
    except InvalidInput as refused:
        raise click.UsageError("; ".join(f"--{one.path[2:]} {one.message}" for one in refused.problems)) from refused
    found = How(
        choice=choice, chunking=chunking, tags=comma_list(tags), largest=largest * 1_000_000, allowed=allowed, **given
    )
    if found.preview and (found.sync or found.watch):
        raise click.UsageError("--preview goes without --sync and --watch")
    if found.watch and found.dry_run:
        raise click.UsageError("--watch goes without --dry-run")
    return found


def document_path(place: Path) -> str:
    """Return the path of a file or folder as a document: from the top of its repository, whose name comes first.

    Outside of a repository it is the name of the file or folder.
    """
    place = place.resolve()
    top = git.top(place if place.is_dir() else place.parent)
    if top is None or not place.is_relative_to(top.resolve()):
        return place.name or "root"
    top = top.resolve()
    return "/".join((top.name or "root", *place.relative_to(top).parts))
