"""A purge as a task: a group of memories at a time, and the report at the end, whoever has erased them.

The record of the task outlives the erasure, so it never has the names by which the memories were chosen.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, cast

import msgspec

from muisti.core.model.operations import Erasure
from muisti.core.model.tasks import ItemOutcome, NewItem
from muisti.core.model.times import Clock
from muisti.core.model.values import Json
from muisti.core.operations.erasure.eraser import AT_ONCE, Eraser
from muisti.core.operations.erasure.progress import Work
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.store.sql import erasure, erasure_selection
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.tasks.claim import Claim, FencedCommit

KIND = "purge"
_RELATED = 500  # memories in one question for relatives


class State(msgspec.Struct, frozen=True):
    """Begin of a purge, in microseconds and as a change of the space, and the rows erased until now, by table."""

    began: int
    since: int
    erased: Mapping[str, int] = {}


# Built at import: msgspec (0.22) analyses a type on first use, and crashes when several threads do that together.
_STATES = msgspec.json.Decoder(State)


class Told(Protocol):
    """Turns the report of an erasure into the result of the task."""

    def __call__(self, report: Erasure, /) -> object: ...


def items_of(memories: Sequence[bytes]) -> Iterator[NewItem]:
    """Yield the items of a purge, each a group of memories, named by their places among all."""
    for start in range(0, len(memories), AT_ONCE):
        group = memories[start : start + AT_ONCE]
        yield NewItem(f"memories {start + 1}-{start + len(group)}", [one.hex() for one in group])


def sealed(what: Mapping[str, Json]) -> dict[str, Json]:
    """Return the conditions of a purge with numbers as they are, and a digest in place of a text.

    A digest is `sha256:SALT:HEX`, of the salt and the text; that of a filter is of its JSON. Who knows the value can
    verify that a report is about it.
    """
    return {name: value if isinstance(value, int | float) else _sealed(value) for name, value in what.items()}


def _sealed(value: Json) -> Json:
    if not isinstance(value, str):
        return {"sealed": _digest(json.dumps(value, ensure_ascii=False, sort_keys=True))}
    return _digest(value)


def _digest(text: str) -> str:
    salt = secrets.token_hex(8)
    return f"sha256:{salt}:{hashlib.sha256((salt + text).encode()).hexdigest()}"


class PurgeWork:
    """The kind of task that erases the memories of its items. `asked` has the subject, sealed."""

    name = KIND
    crashed = None  # an erasure goes on until it is done

    def __init__(self, database: Database, eraser: Eraser, clock: Clock, told: Told) -> None:
        self._database, self._eraser, self._clock, self._told = database.primary, eraser, clock, told

    def run(self, claim: Claim) -> object:
        """Erase what is left, look for remains in every place, and return the report."""
        found = find_space(self._database, claim.task.space)
        text = claim.task.position
        state = _STATES.decode(text) if text else State(self._clock(), found.seq.number)
        work = Work(erased=dict(state.erased))
        while group := claim.items(1):
            (item,) = group
            memories = [bytes.fromhex(one) for one in cast(Sequence[str], item.argument)]
            self._eraser.erase(found, memories, claim.caller, work, _fenced(claim, state, work, item.number))
        if text:
            self._complete(found, state, work)
        what = cast(Mapping[str, Json], claim.task.asked)
        report = self._eraser.finished(found, what, claim.caller, state.began, work)
        return self._told(report)

    def _complete(self, space: SpaceRow, state: State, work: Work) -> None:
        """Add what other processes have erased for this task, and what others have erased meanwhile."""
        memories, versions = self._database.read(erasure.since(space, state.since))
        work.memories = [cast(bytes, row[0]) for row in memories]
        work.versions = [cast(int, row[0]) for row in versions]
        work.number = max((cast(int, row[1]) for row in memories), default=work.number)
        for start in range(0, len(work.memories), _RELATED):
            (rows,) = self._database.read([erasure_selection.relatives(space, work.memories[start : start + _RELATED])])
            work.relatives |= {cast(bytes, row[0]) for row in rows}
        work.traces.everything()  # the texts that other processes have erased are not known


def _fenced(claim: Claim, state: State, work: Work, item: int) -> Callable[[Mapping[str, int]], FencedCommit]:
    def fenced(counts: Mapping[str, int]) -> FencedCommit:
        erased = dict(work.erased)
        for name, more in counts.items():
            erased[name] = erased.get(name, 0) + more
        now = msgspec.structs.replace(state, erased=erased)
        return claim.fenced([ItemOutcome(item)], position=msgspec.json.encode(now).decode())

    return fenced
