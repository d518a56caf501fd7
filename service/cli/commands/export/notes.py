"""A space as a folder of notes in Markdown: written under a temporary name, and renamed when complete."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from muisti.service.cli.base import Failure
from muisti.service.cli.output import check_folder
from muisti.service.formats.lines import Lines
from muisti.service.formats.markdown import note_of, path_of

_DECODER = msgspec.json.Decoder(dict[str, Any])


def write_notes(pieces: Iterable[bytes], folder: Path, *, force: bool) -> int:
    """Write a note for each current memory of an export, and return their number.

    Raises:
        Failure: the folder has files already and `force` is not given, or it cannot be written.
    """
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    check_folder(folder)
    try:
        is_free = not folder.exists() or folder.is_dir() and not any(folder.iterdir())
        if not (is_free or force):
            raise Failure(f"{folder} contains files; --force overwrites those of the same names")
        part.mkdir()
        count = 0
        for memory in _current(pieces):
            _write(part, memory)
            count += 1
        if is_free:
            part.replace(folder)
        else:
            _move(part, folder)
    except OSError as error:
        raise Failure(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return count


def _current(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    waiting: list[bytes] = []
    lines = Lines(waiting.extend)
    for piece in pieces:
        lines.feed(piece)
        found, waiting[:] = list(waiting), []
        for line in found:
            record = _DECODER.decode(line)
            if record["type"] == "version" and record["died"] is None and record["memory"]["status"] != "superseded":
                yield record["memory"]


def _write(root: Path, memory: dict[str, Any]) -> None:
    """Write a note under a unique name: its key, or its first words and the end of its id."""
    folder, name = path_of(memory)
    place = root / folder if folder else root
    place.mkdir(exist_ok=True)
    ends = (f" ({memory['id'][-8:]})", f" ({memory['id']})")
    for end in ("", *ends) if memory.get("key") else ends:
        try:
            with (place / f"{name}{end}.md").open("x", encoding="utf-8", newline="") as file:
                file.write(note_of(memory))
        except FileExistsError:
            continue
        return
    raise Failure(f"there is a note of the memory {memory['id']} already")


def _move(part: Path, folder: Path) -> None:
    for note in sorted(part.rglob("*.md")):
        place = folder / note.relative_to(part)
        place.parent.mkdir(exist_ok=True)
        note.replace(place)
