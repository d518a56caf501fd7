"""Members of archives as items of a task: listed first, then read one after the other."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

import msgspec

from muisti.core.documents.files import Held
from muisti.core.model.unreadable import Missing, Unreadable
from muisti.core.parsing.archives import Member, is_archive, members
from muisti.core.parsing.options import ArchiveOptions

_BLOCK = 1 << 20
_LIMITS = ArchiveOptions()


class Listing(msgspec.Struct, frozen=True):
    """Paths of the members of an archive, and why the rest cannot be read; None when all can."""

    paths: list[str]
    refusal: Unreadable | None


def holds_documents(held: Held) -> bool:
    """Return whether a file is an archive, whose members are documents."""
    return is_archive(held.stream)


def listed(held: Held, name: str, alive: Callable[[], None]) -> Listing:
    """List an archive. `alive` is called between members, and may raise."""
    paths: list[str] = []
    try:
        for member in members(held.stream, name, _LIMITS):
            alive()
            paths.append(member.path)
    except Unreadable as refusal:
        return Listing(paths, refusal)
    return Listing(paths, None)


class Unpacking:
    """An archive that is open at a member. A context, which closes it.

    Members are read in order. One that lies before the open place begins the archive again.
    """

    def __init__(self) -> None:
        self._source: str | None = None
        self._held: Held | None = None
        self._members: Iterator[Member] = iter(())
        self._next = 0

    def member(self, source: str, name: str, index: int, bytes_of: Callable[[], Held]) -> Held:
        """Return the bytes of a member of the archive `source`, which `bytes_of` brings when it is not open.

        Raises:
            Unreadable: the member is refused, or the archive ends before it.
        """
        if source != self._source or index < self._next or self._held is None:
            self.close()
            self._held = bytes_of()
            self._source, self._members, self._next = source, members(self._held.stream, name, _LIMITS), 0
        for member in self._members:
            self._next += 1
            if self._next <= index:
                continue
            if member.refusal is not None:
                raise member.refusal
            return Held(_blocks(member))
        raise Missing("The archive has no such member.")

    def close(self) -> None:
        """Free the archive. Harmless when none is open."""
        close = getattr(self._members, "close", None)
        if close is not None:
            with suppress(Unreadable):
                close()
        if self._held is not None:
            self._held.close()
        self._source, self._held, self._members = None, None, iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _blocks(member: Member) -> Iterator[bytes]:
    while member.content is not None and (block := member.content.read(_BLOCK)):
        yield block
