"""Hooks of git that keep documents up to date."""

import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Failure, Globals, Subcommands
from muisti.service.cli.session import space_choice

if TYPE_CHECKING:
    from muisti.service.folders import git
else:  # with subprocess and msgspec
    git = Lazy("muisti.service.folders.git")


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
    _print(lambda: git.install_hooks(folder, shlex.join(words)))


@hooks.has("muisti hooks remove")
@repository
def remove(options: Globals, repository: Path) -> None:
    """Take the hooks out again. Lines of others stay."""
    _, folder = _hooks_of(repository)
    _print(lambda: git.remove_hooks(folder))


def _print(work: "Callable[[], list[git.Hooked]]") -> None:
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
