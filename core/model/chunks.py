"""Places of chunks in the texts of their documents."""

from collections.abc import Sequence
from typing import Annotated, TypedDict, cast

import msgspec
from msgspec import Meta

from muisti.core.model.values import Memory


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk at its place in the text of its document.

    `start` and `stop` are offsets in characters; the first `overlap` characters of the chunk repeat the text before
    `start`. Lines count from 1.
    """

    memory: Memory
    start: int
    stop: int
    first_line: int
    last_line: int

    @property
    def overlap(self) -> int:
        return overlap_of(self.memory)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a chunk in the text of its document, in characters and in lines from 1."""

    document: Annotated[str, Meta(description="Id of the document.")]
    path: Annotated[str, Meta(description="Path of the document.")]
    start: Annotated[int, Meta(description="Offset of the chunk's own text, behind its `overlap`.", ge=0)]
    stop: Annotated[int, Meta(description="Offset behind its last character.", ge=0)]
    overlap: Annotated[int, Meta(description="Characters at its start that repeat the chunk before.", ge=0)]
    first_line: Annotated[int, Meta(description="Line of `start`.", ge=1)]
    last_line: Annotated[int, Meta(description="Line of its last character.", ge=1)]
    page: Annotated[int | None, Meta(description="Page, slide or sheet, from 1.")]
    headings: Annotated[tuple[str, ...], Meta(description="Titles that it stands under, outermost first.")]
    language: Annotated[str | None, Meta(description="Language of the text or of the code.")]
    symbol: Annotated[str | None, Meta(description="Definition that a chunk of code is in.")]


class _Said(TypedDict, total=False):
    """Fields of a chunk's `structure` that tell its place."""

    page: int
    headings: Sequence[str]
    language: str
    symbol: str


def located(memory: Memory, characters: int, lines: int) -> Chunk:
    """Return a chunk before which a text has so many characters and line breaks."""
    own = memory.content[overlap_of(memory) :]
    breaks = own.count("\n")
    ends_line = own.endswith("\n")
    return Chunk(
        memory=memory,
        start=characters,
        stop=characters + len(own),
        first_line=lines + 1,
        last_line=lines + 1 + breaks - (ends_line and breaks > 0),
    )


def place_of(chunk: Chunk) -> Place:
    """Return the place of a chunk, with what its `structure` says of its cut."""
    memory = chunk.memory
    said = cast(_Said, memory.structure)
    return Place(
        document=memory.parent_id or "",
        path=memory.document or "",
        start=chunk.start,
        stop=chunk.stop,
        overlap=chunk.overlap,
        first_line=chunk.first_line,
        last_line=chunk.last_line,
        page=said.get("page"),
        headings=tuple(said.get("headings", ())),
        language=said.get("language"),
        symbol=said.get("symbol"),
    )


def overlap_of(memory: Memory) -> int:
    """Return how many characters of a chunk repeat the end of the one before."""
    overlap = memory.structure.get("overlap")
    return overlap if isinstance(overlap, int) else 0
