"""Reading of source code in a process of its own, since a grammar may hold Python's lock, and memory, for long.

Each reading may use `LIMITS` of processor time, and a worker's memory. One that needs more raises `TooIntricate`.
"""

import atexit
import io
from typing import TypeVar

import msgspec
from msgspec import Struct, structs

from muisti.core.model.decoding import decoder
from muisti.core.model.unreadable import Crashed, FileTooLarge, TimedOut
from muisti.core.parsing.code import projects
from muisti.core.parsing.code.definitions import Definition
from muisti.core.parsing.code.grammars import TooIntricate, check
from muisti.core.parsing.code.records import Record
from muisti.core.parsing.options import Options
from muisti.core.parsing.parsed import About
from muisti.core.parsing.workers import Workers

LIMITS = Options(patience=2, seconds=4)
PROGRAM = "muisti.core.parsing.code.worker"
MOST = 2  # processes

T = TypeVar("T")
_workers = Workers(MOST, program=PROGRAM)  # of all engines; they end when idle, and with this process
atexit.register(_workers.close)


class Question(Struct, frozen=True):
    """A question about a text: for its `definitions`, its `names` or its `record`."""

    what: str
    language: str
    path: str = ""


def definitions(text: str, language: str) -> list[Definition]:
    r"""Return the definitions of source code in order, each before those in it.

    Raises:
        GrammarMissing: no grammar of the language is installed.
        TooIntricate: the text needs more work than its length allows.

    >>> [(one.symbol, one.column) for one in definitions("class A:\n    def f(self): ...\n", "python")]
    [('A', 0), ('A.f', 4)]
    """
    return _answer(Question("definitions", language), text, list[Definition])


def names(text: str, language: str) -> list[str]:
    """Return the names that a text defines, as `reading.names` does. Raises what `definitions` raises."""
    return _answer(Question("names", language), text, list[str])


def read(path: str, text: str, language: str) -> Record:
    """Return the record of a source file, as `reading.read` does. Raises what `definitions` raises."""
    return structs.replace(_answer(Question("record", language, path), text, Record), path=path)


def _answer(question: Question, text: str, kind: type[T]) -> T:
    if question.language != projects.LANGUAGE:
        check(question.language)
    data = text.encode("utf-8", "surrogatepass")
    form = msgspec.json.encode(question).decode()
    try:
        pieces = _workers.read(form, data, io.BytesIO(), question.path, LIMITS, About())
        return decoder(kind).decode("".join(one.text for one in pieces))
    except (TimedOut, Crashed, FileTooLarge) as error:
        raise TooIntricate(f"{question.language}: {error}") from error
