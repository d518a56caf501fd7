"""Checks of a stored memory before it is changed: its version, and that it has no calls of its own."""

from muisti.core.model.conversations import GRAPHIC, is_structural, name_of
from muisti.core.model.errors import Conflict, Stale
from muisti.core.model.values import IfMatch, Memory


def check_version(memory: Memory, if_match: IfMatch) -> None:
    """Raise `Stale` unless the version of a memory is one that the caller names."""
    if if_match is None:
        return
    is_named = memory.version == if_match if isinstance(if_match, int) else memory.etag in if_match
    if not is_named:
        raise Stale(memory.id, memory.version)


def check_ordinary(memory: Memory) -> None:
    """Raise `Conflict` for a part of a document and for an object of conversations, which have calls of their own."""
    if memory.document is not None:
        raise Conflict(f"this is a part of document {memory.document!r}; the calls of documents change and delete it")
    if is_structural(memory):
        whole = "the graph" if memory.kind in GRAPHIC else "conversations"
        raise Conflict(f"this is {memory.kind} {name_of(memory)!r}; the calls of {whole} change and delete it")
