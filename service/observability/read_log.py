"""The read log: the last reads of this process, without content, and on request the questions that found nothing.

It is kept in memory alone, by each process for itself, and forgotten when the process ends. An entry says who read, in
which space, how fast and how much, never which text. Texts of questions are kept in the mode `questions` alone, only
those without evidence, and until they are cleared.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import NamedTuple
from uuid import uuid4

from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Evidence
from muisti.core.model.times import from_us, system_clock
from muisti.core.model.values import Seq
from muisti.core.query.query import Query
from muisti.core.text.terms import fold
from muisti.service.schemas.health import Operation, QuestionReply, ReadReply
from muisti.service.settings.table import ReadLogMode

QUESTION_MAX = 500  # characters of a question that are kept
ENDINGS = " ?!."


class Logged(NamedTuple):
    """A read in the log: its number in this process, from 1, and where it read."""

    number: int
    space: str
    epoch: str
    read: ReadReply


class Reading:
    """One read while it runs. As a context manager it logs what `found` has noted, unless an error ends it.

    Every path that answers a search, a context, one memory or a list is one.
    """

    __slots__ = ("_actor", "_began", "_found", "_log", "_operation", "_request_id", "receipt")

    def __init__(self, log: "ReadLog", operation: Operation, actor: str, request_id: str | None) -> None:
        self._log, self._actor, self._request_id = log, actor, request_id
        self._operation: Operation = operation
        self._found: list[tuple[str, Seq, int, Evidence | None, str | None]] = []
        self.receipt: str | None = None
        self._began = time.perf_counter()

    def __enter__(self) -> "Reading":
        return self

    def found(
        self, space: str, seq: Seq, hits: int, evidence: Evidence | None = None, question: str | None = None
    ) -> None:
        """Note the answer of a space; `question` is the text that was asked of the present, None for none."""
        self._found.append((space, seq, hits, evidence, question))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None or self._log.mode == "off":
            return
        ms = 1000 * (time.perf_counter() - self._began)
        for space, seq, hits, evidence, question in self._found:
            self._log.add(
                operation=self._operation,
                space=space,
                epoch=seq.epoch,
                actor=self._actor,
                request_id=self._request_id,
                ms=round(ms, 3),
                hits=hits,
                evidence=evidence,
                receipt=self.receipt,
            )
            if question and evidence == "none":
                self._log.ask(space, seq.epoch, question)


class ReadLog:
    """The read log of a process. It belongs to one event loop and is not thread-safe.

    `size` is how many reads are kept, and how many questions, in all spaces together.
    """

    def __init__(self, mode: ReadLogMode = "off", size: int = 1_000) -> None:
        self.mode: ReadLogMode = mode
        self.size = size
        self.process = uuid4().hex[:12]
        self.since = from_us(system_clock())
        self._entries: deque[Logged] = deque(maxlen=size)
        self._questions: OrderedDict[tuple[str, str, str], QuestionReply] = OrderedDict()
        self._last = 0

    @property
    def newest(self) -> int:
        """The number of the newest read; 0 before the first."""
        return self._last

    def add(
        self,
        *,
        operation: Operation,
        space: str,
        epoch: str,
        actor: str,
        request_id: str | None,
        ms: float,
        hits: int,
        evidence: Evidence | None,
        receipt: str | None,
    ) -> None:
        self._last += 1
        read = ReadReply(
            id=self.cursor(self._last),
            at=from_us(system_clock()),
            operation=operation,
            actor=actor,
            request_id=request_id,
            ms=ms,
            hits=hits,
            evidence=evidence,
            receipt=receipt,
        )
        self._entries.append(Logged(self._last, space, epoch, read))

    def ask(self, space: str, epoch: str, text: str) -> None:
        """Count a question without evidence, in the mode `questions`; the one not asked for longest makes room."""
        plain = normalised(text)
        if self.mode != "questions" or not plain:
            return
        now, key = from_us(system_clock()), (space, epoch, plain)
        known = self._questions.pop(key, None)
        first, count = (now, 1) if known is None else (known.first_at, known.count + 1)
        self._questions[key] = QuestionReply(text=plain, count=count, first_at=first, last_at=now)
        if len(self._questions) > self.size:
            self._questions.popitem(last=False)

    def entries(self, space: str, epoch: str, after: int = 0, before: int | None = None) -> Iterator[Logged]:
        """Yield the reads of a space between two numbers, both excluded, newest first."""
        for entry in reversed(self._entries):
            if entry.number <= after:
                return
            if entry.space == space and entry.epoch == epoch and (before is None or entry.number < before):
                yield entry

    def questions(self, space: str, epoch: str) -> list[QuestionReply]:
        """Return the questions of a space without evidence, the most frequent first, then the latest."""
        own = [one for (name, of, _), one in self._questions.items() if (name, of) == (space, epoch)]
        return sorted(own, key=lambda one: (-one.count, -one.last_at.timestamp()))

    def forget(self, space: str) -> None:
        """Forget the reads and questions of a space."""
        kept = [entry for entry in self._entries if entry.space != space]
        self._entries.clear()
        self._entries.extend(kept)
        for key in [key for key in self._questions if key[0] == space]:
            del self._questions[key]

    def number(self, name: str, cursor: str) -> int:
        """Return the number of a read in a cursor; 0 when another process has written the cursor.

        Raises:
            InvalidInput: the text is no cursor.
        """
        process, _, number = cursor.partition(":")
        if not (number.isascii() and number.isdigit() and len(number) < 16 and len(process) == len(self.process)):
            raise InvalidInput.at(f"$.{name}", f"{cursor[:80]!r} names no read")
        return int(number) if process == self.process else 0

    def cursor(self, number: int) -> str:
        """Return the cursor of a read."""
        return f"{self.process}:{number}"


def asked_now(query: Query) -> str | None:
    """Return the question of a search of the present, None for one of the past."""
    return query.text if query.as_of is None else None


def normalised(text: str) -> str:
    """Return the text of a question without case, spaces and end marks that do not count, cut to `QUESTION_MAX`.

    >>> normalised("  Where is  the KEY?! ")
    'where is the key'
    """
    return " ".join(fold(text).split()).rstrip(ENDINGS)[:QUESTION_MAX]
