"""The files below a folder but those that `.gitignore` files name, by the rules of git and without it."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

IGNORE = ".gitignore"
GIT = ".git"


class _Rules(NamedTuple):
    """The patterns of a file, which hold below the folder whose path has `length` characters, the last `/` included."""

    length: int
    patterns: Sequence[GitIgnoreSpecPattern]


def files(folder: Path) -> Iterator[str]:
    """Yield the paths of files below a folder, relative to it and in no order. Ignored folders are not entered.

    The patterns of a folder come after those of the folders around it; the last one that fits decides.
    """
    top = os.path.realpath(folder)
    start = len(top) + 1 if top != os.sep else 1
    around = _around(Path(top))
    todo: list[tuple[str, Sequence[_Rules]]] = [] if around is None else [(top, around)]
    while todo:
        inside, rules = todo.pop()
        rules = [*_read(os.path.join(inside, IGNORE), inside), *rules]
        for entry in _entries(inside):
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == GIT or _is_ignored(entry.path, is_folder, rules):
                continue
            if not is_folder:
                yield entry.path[start:].replace(os.sep, "/")
            elif os.path.lexists(os.path.join(entry.path, GIT)):
                yield entry.path[start:].replace(os.sep, "/")  # another repository
            else:
                todo.append((entry.path, rules))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder; none when it may not be read, or is gone."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return []


def _around(folder: Path) -> list[_Rules] | None:
    """Return the patterns of the folders around one in its repository, the innermost first; None if it is ignored."""
    repository = next((place for place in (folder, *folder.parents) if (place / GIT).exists()), None)
    if repository is None:
        return []
    rules = _read(os.path.join(_common(repository / GIT), "info", "exclude"), str(repository))
    for place in (*reversed(folder.parents), folder):
        if place == repository or not place.is_relative_to(repository):
            continue
        rules = [*_read(os.path.join(place.parent, IGNORE), str(place.parent)), *rules]
        if _is_ignored(str(place), True, rules):
            return None
    return rules


def _common(place: Path) -> Path:
    """Return the folder of a repository's own files. In a worktree or a submodule `.git` is a file that names it."""
    if not place.is_file():
        return place
    folder = place.parent / place.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    shared = folder / "commondir"  # which a worktree has, and a submodule has not
    return folder / shared.read_text("utf-8", "surrogateescape").strip() if shared.is_file() else folder


def _read(path: str, folder: str) -> list[_Rules]:
    """Return the patterns of a file; none when it is no regular file."""
    if os.path.islink(path):
        return []
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    patterns = [one for one in GitIgnoreSpec.from_lines(lines).patterns if isinstance(one, GitIgnoreSpecPattern)]
    return [_Rules(len(folder.rstrip(os.sep)) + 1, [one for one in patterns if one.include is not None])]


def _is_ignored(path: str, is_folder: bool, rules: Sequence[_Rules]) -> bool:
    """Return whether a file or folder itself is ignored; the folders around it are not."""
    for one in rules:
        inside = path[one.length :].replace(os.sep, "/") + ("/" if is_folder else "")
        for pattern in reversed(one.patterns):
            if pattern.regex is not None and _fits(pattern.regex, inside):
                return pattern.include is True
    return False


def _fits(regex: re.Pattern[str], path: str) -> bool:
    """Return whether a pattern fits the path itself. pathspec's patterns fit what is in a folder as well.

    The group `ps_d` is the slash after a folder. A pattern that ends with `/**` fits no folder itself.
    """
    for found in regex.finditer(path):
        if "ps_d" in regex.groupindex:
            if found.end("ps_d") in (-1, len(path)):
                return True
        elif found.end() < len(path) or not found[0].endswith("/"):
            return True
    return False
