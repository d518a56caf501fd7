"""Ids that each running session was shown, and files that it opened: in this process only, and bounded."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from muisti.core.model.values import Memory

SESSIONS = 2_000
SHOWN = 500  # memories of one session
OPENED = 50  # files of one session
PATH = 1_000  # characters of a path
STARTS = 2_000  # projects whose last session is known

Key = tuple[str, ...]


class Sessions:
    """Remembers what sessions were shown, and when the last session of a project began. The oldest are forgotten."""

    def __init__(self) -> None:
        self._shown: OrderedDict[Key, OrderedDict[str, None]] = OrderedDict()
        self._begun: OrderedDict[Key, int] = OrderedDict()
        self._opened: OrderedDict[Key, OrderedDict[str, None]] = OrderedDict()

    def unseen(self, session: Key, memories: Iterable[Memory]) -> Sequence[Memory]:
        """Return the memories whose version the session was not shown, each once."""
        shown = self._shown.get(session, {})
        return list({name: one for one in memories if (name := _name(one)) not in shown}.values())

    def show(self, session: Key, memories: Iterable[Memory]) -> None:
        """Note what a session is shown."""
        shown = self._shown.setdefault(session, OrderedDict())
        self._shown.move_to_end(session)
        shown.update(dict.fromkeys(map(_name, memories)))
        _cut(shown, SHOWN)
        _cut(self._shown, SESSIONS)

    def open(self, session: Key, path: str) -> None:
        """Note that a session reads or edits a file."""
        opened = self._opened.setdefault(session, OrderedDict())
        self._opened.move_to_end(session)
        opened.pop(path, None)
        opened[path[:PATH]] = None
        _cut(opened, OPENED)
        _cut(self._opened, SESSIONS)

    def opened(self, session: Key) -> Sequence[str]:
        """Return the last files that a session has opened, the last one first."""
        return [*reversed(self._opened.get(session, {}))]

    def forget(self, session: Key) -> None:
        """Forget what a session was shown."""
        self._shown.pop(session, None)

    def begin(self, project: Key, now: int) -> int | None:
        """Note that a session begins; return when the one before it did, None when that is not known."""
        before = self._begun.pop(project, None)
        self._begun[project] = now
        _cut(self._begun, STARTS)
        return before


def _name(memory: Memory) -> str:
    return f"{memory.id}.{memory.version}"


def _cut(
    held: "OrderedDict[str, None] | OrderedDict[Key, int] | OrderedDict[Key, OrderedDict[str, None]]", most: int
) -> None:
    while len(held) > most:
        held.popitem(last=False)
