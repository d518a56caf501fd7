"""Paths and texts of the file tool: what a path names, and how files and folders are shown to a model."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

ROOT = "memories"
DEPTH = 2  # levels of a folder that a listing shows
_WIDTH = 6  # of line numbers
_UNITS = "BKMG"


class FileError(Exception):
    """A file operation that cannot be done, with a message for the model that asked for it."""


def parts_of(path: str) -> tuple[str, ...]:
    """Return the names in a path, the first of them `memories`.

    >>> parts_of("/memories/notes/./deploy.md")
    ('memories', 'notes', 'deploy.md')

    Raises: FileError for a path that is not below `/memories`, also by way of `..`.
    """
    if not path.startswith(f"/{ROOT}"):
        raise FileError(f"Path must start with /{ROOT}, got: {path}")
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
        if "\0" in name or (name == ".." and not names):
            raise FileError(f"Path {path} would escape /{ROOT} directory")
    if names[:1] != [ROOT]:
        raise FileError(f"Path {path} would escape /{ROOT} directory")
    return tuple(names)


def numbered(lines: Sequence[str], first: int) -> str:
    """Return lines with their numbers.

    >>> numbered(["a"], 7)
    '     7\\ta'
    """
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def listing(path: str, files: Iterable[tuple[tuple[str, ...], int]]) -> str:
    """Return the listing of a folder, from the path within it and the size in bytes of each file below."""
    sizes: defaultdict[tuple[str, ...], int] = defaultdict(int)
    folders = {()}
    for names, size in files:
        if not any(name.startswith(".") for name in names):
            folders |= {names[:depth] for depth in range(len(names))}
            for depth in range(len(names) + 1):
                sizes[names[:depth]] += size
    rows = [f"{_size(sizes[()])}\t{path}"]
    for names in sorted(sizes):
        if 0 < len(names) <= DEPTH:
            rows.append(f"{_size(sizes[names])}\t{path}/{'/'.join(names)}{'/' if names in folders else ''}")
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join([head, *rows])


def places(text: str, part: str) -> list[int]:
    """Return where a part begins in a text, overlapping places too.

    >>> places("aaa", "aa")
    [0, 1]
    """
    found, at = [], text.find(part)
    while at >= 0 and part:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _size(count: int) -> str:
    """Return a number of bytes as `du -h` writes it.

    >>> _size(0), _size(1024), _size(1536)
    ('0B', '1K', '1.5K')
    """
    place = min(max(0, count.bit_length() - 1) // 10, len(_UNITS) - 1)
    return f"{round(count / 1024**place, 1):g}{_UNITS[place]}"
