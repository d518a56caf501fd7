"""Text files kept as memories: a folder is a category, a file name is a key, and every edit is a version."""

from collections.abc import Callable, Sequence
from typing import Any

from muisti.integrations.calls import Handle, Operation
from muisti.integrations.entries import category, drop, find, listed, names, pack_text, under, unpack_text
from muisti.integrations.file_texts import ROOT, FileError, listing, numbered, parts_of, places

LINES_MAX = 999_999
_Parts = tuple[str, ...]


class Files:
    """Text files below `/memories` in a space.

    Each method returns an operation whose answer is a text for the model. All raise FileError. A folder exists while
    a file is in it. A file has at most 102,400 characters.
    """

    def __init__(self, memory: Handle, author: str | None) -> None:
        self._memory, self._author = memory, author

    def view(self, path: str, lines: Sequence[int] | None) -> Operation[str]:
        """Show a file with line numbers, from one line to another (-1 is the last), or list a folder."""
        parts = parts_of(path)
        if (memory := (yield from self._find(parts))) is None:
            return (yield from self._list(parts, path))
        shown = unpack_text(memory).split("\n")
        first, last = (max(1, lines[0]), lines[1]) if lines and len(lines) == 2 else (1, -1)
        chosen = shown[first - 1 :] if last == -1 else shown[first - 1 : last]
        return f"Here's the content of {path} with line numbers:\n{numbered(chosen, first)}"

    def create(self, path: str, text: str) -> Operation[str]:
        """Make a file."""
        parts = parts_of(path)
        if (yield from self._taken(parts)):
            raise FileError(f"File {path} already exists")
        yield from self._need_folders(parts)
        fields = {"author": self._author, "category": category(parts[:-1]), "key": parts[-1], **pack_text(text)}
        yield self._memory.remember(on_conflict="keep", **fields)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> Operation[str]:
        """Replace a text that occurs once in a file."""
        memory = yield from self._file(path)
        text = unpack_text(memory)
        found = places(text, old)
        if not found:
            raise FileError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        lines = [text.count("\n", 0, at) for at in found]
        if text.count(old) > 1:
            numbers = ", ".join(str(line + 1) for line in lines)
            raise FileError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
                "Please ensure it is unique"
            )
        edited = text.replace(old, new)
        yield from self._edit(memory, edited)
        first = max(0, lines[0] - 2)
        snippet = numbered(edited.split("\n")[first : lines[0] + 3], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, path: str, line: int, text: str) -> Operation[str]:
        """Insert a text after a line of a file; 0 is its beginning."""
        memory = yield from self._file(path)
        lines = unpack_text(memory).removesuffix("\n").split("\n") if unpack_text(memory) else []
        if not 0 <= line <= len(lines):
            raise FileError(
                f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.rstrip("\n"))
        edited = "\n".join(lines)
        yield from self._edit(memory, edited if edited.endswith("\n") else f"{edited}\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> Operation[str]:
        """Delete a file, or a folder with all that is in it."""
        parts = parts_of(path)
        if parts == (ROOT,):
            raise FileError("Cannot delete the /memories directory itself")
        if not (yield from self._each(parts, lambda memory, _: self._memory.forget(memory.id))):
            raise FileError(f"The path {path} does not exist")
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> Operation[str]:
        """Give a file or a folder another path; the history of each file stays with it."""
        before, after = parts_of(old), parts_of(new)
        if before == (ROOT,):
            raise FileError("Cannot rename the /memories directory itself")
        if (yield from self._taken(after)):
            raise FileError(f"The destination {new} already exists")
        if after[: len(before)] == before:
            raise FileError(f"Cannot move {old} into itself")
        yield from self._need_folders(after)

        def move(memory: Any, rest: _Parts) -> Any:
            to = (*after, *rest)
            return self._memory.update(memory.id, category=category(to[:-1]), key=to[-1], version=memory.version)

        if not (yield from self._each(before, move)):
            raise FileError(f"The path {old} does not exist")
        return f"Successfully renamed {old} to {new}"

    def clear(self) -> Operation[str]:
        """Delete all files."""
        for memory, _ in (yield from self._below((ROOT,))):
            yield from drop(self._memory, memory.id)
        return "All memory cleared"

    def _list(self, parts: _Parts, path: str) -> Operation[str]:
        below = yield from self._below(parts)
        if not below and parts != (ROOT,):
            raise FileError(f"The path {path} does not exist. Please provide a valid path.")
        return listing(path, [(rest, len(unpack_text(one).encode("utf-8", "surrogatepass"))) for one, rest in below])

    def _find(self, parts: _Parts) -> Operation[Any]:
        return None if len(parts) < 2 else (yield from find(self._memory, category(parts[:-1]), parts[-1]))

    def _file(self, path: str) -> Operation[Any]:
        parts = parts_of(path)
        if (memory := (yield from self._find(parts))) is not None:
            return memory
        if (yield from self._taken(parts)):
            raise FileError(f"The path {path} is not a file.")
        raise FileError(f"The path {path} does not exist. Please provide a valid path.")

    def _edit(self, memory: Any, text: str) -> Operation[None]:
        """Make a version; muisti.StaleVersion if somebody else did since the file was read."""
        if len(text.split("\n")) > LINES_MAX:
            raise FileError(f"A file has at most {LINES_MAX:,} lines.")
        yield self._memory.update(memory.id, version=memory.version, **pack_text(text))

    def _taken(self, parts: _Parts) -> Operation[bool]:
        if parts == (ROOT,) or (yield from self._find(parts)) is not None:
            return True
        return bool((yield from self._below(parts, 1)))

    def _need_folders(self, parts: _Parts) -> Operation[None]:
        """Raise FileError where a file is in the place of a folder."""
        for depth in range(2, len(parts)):
            if (yield from self._find(parts[:depth])) is not None:
                raise FileError(f"The path /{'/'.join(parts[:depth])} is a file, not a directory")

    def _below(self, parts: _Parts, limit: int | None = None) -> Operation[list[tuple[Any, _Parts]]]:
        """Return the files of a folder, each with its path in there."""
        found = yield from listed(self._memory, filter=under(category(parts)), limit=limit)
        return [(memory, (*names(memory.category)[len(parts) :], memory.key)) for memory in found if memory.key]

    def _each(self, parts: _Parts, call: Callable[[Any, _Parts], Any]) -> Operation[int]:
        """Make a call for a file, or for each file of a folder. Return how many there were."""
        memory = yield from self._find(parts)
        files = [(memory, ())] if memory is not None else (yield from self._below(parts))
        for one, rest in files:
            yield call(one, rest)
        return len(files)
