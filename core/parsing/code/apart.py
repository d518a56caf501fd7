"""Reading of source code in a process of its own, since a grammar may hold Python's lock, and memory, for long.

Each reading may use `LIMITS` of processor time, and a worker's memory. One that needs more raises `TooIntricate`.

Headers of code say what is defined in a stretch of code, as words. Questions name purposes, code names identifiers. The
words in the names of definitions say most of what code is for, so they count more when they come before it too.
`python -m loadtests.quality.code_search` measures that.
"""

import atexit
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct, structs

from muisti.core.model.decoding import decoder
from muisti.core.model.unreadable import Crashed, FileTooLarge, TimedOut
from muisti.core.parsing.code.grammars import Definition, TooIntricate, check, is_available
from muisti.core.parsing.code.modules import PROJECT
from muisti.core.parsing.code.reading import LANGUAGES
from muisti.core.parsing.code.records import Record
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.workers import Workers
from muisti.core.support.regex import regex

LIMITS = Options(patience=2, seconds=4)
PROGRAM = "muisti.core.parsing.code.worker"
MOST = 2  # processes
TEXTS = 10_000  # that a process reads: a file has a dozen chunks, and a start takes as long as two hundred of them

T = TypeVar("T")
_NAMES = decoder(list[str])
_workers = Workers(MOST, program=PROGRAM, files=TEXTS)  # of all engines; they end when idle, and with this process
atexit.register(_workers.close)


class Question(Struct, frozen=True):
    """A question about a text: for its `definitions`, its `record`, or the `names` in each part.

    Parts end at `stops`.
    """

    what: str
    language: str
    path: str = ""
    stops: tuple[int, ...] = ()


def definitions(text: str, language: str) -> list[Definition]:
    r"""Return the definitions of source code in order, each before those in it.

    Raises:
        GrammarMissing: no grammar of the language is installed.
        TooIntricate: the text needs more work than its length allows.

    >>> [(one.symbol, one.column) for one in definitions("class A:\n    def f(self): ...\n", "python")]
    [('A', 0), ('A.f', 4)]
    """
    return _answer(Question("definitions", language), text, list[Definition])


def names(texts: Sequence[str], language: str) -> list[list[str]]:
    """Return the names that each text defines, as `reading.names` does; none where that takes too much work.

    Raises:
        GrammarMissing: no grammar of the language is installed.

    >>> names(["def f(): ...", "x = 1", "class A: ..."], "python")
    [['f'], [], ['A']]
    """
    question = Question("names", language, stops=tuple(accumulate(map(len, texts))))
    try:
        return [_NAMES.decode(one.text) for one in _pieces(question, "".join(texts))]
    except TooIntricate:  # one of them ends the process, or all take too long together
        return [[]] if len(texts) == 1 else [found for one in texts for found in names([one], language)]


def read(path: str, text: str, language: str) -> Record:
    """Return the record of a source file, as `reading.read` does. Raises what `definitions` raises."""
    return structs.replace(_answer(Question("record", language, path), text, Record), path=path)


def _answer(question: Question, text: str, kind: type[T]) -> T:
    return decoder(kind).decode("".join(one.text for one in _pieces(question, text)))


def _pieces(question: Question, text: str) -> Iterator[Piece]:
    if question.language != PROJECT:
        check(question.language)
    data = text.encode("utf-8", "surrogatepass")
    form = msgspec.json.encode(question).decode()
    try:
        yield from _workers.read(form, data, io.BytesIO(), question.path, LIMITS, About())
    except (TimedOut, Crashed, FileTooLarge) as error:
        raise TooIntricate(f"{question.language}: {error}") from error


_SYMBOL = regex(r"[^\W\d][\w$]*+(?:(?:\.|::|#)[^\W\d][\w$]*+)*+(?:\(\))?")
_SHAPE = regex(r"[.:#(_]|[a-z\d][A-Z]|[A-Z]{2}[a-z]")  # what words of prose do not have


def symbol_of(text: str) -> str | None:
    """Return the symbol that a query names by its shape, None for other queries.

    >>> symbol_of("HTTPClient::send()"), symbol_of("max_size"), symbol_of("send"), symbol_of("who is Ann?")
    ('HTTPClient.send', 'max_size', None, None)
    """
    text = text.strip().strip("`")
    if not _SYMBOL.fullmatch(text) or not _SHAPE.search(text):
        return None
    return text.removesuffix("()").replace("::", ".").replace("#", ".")


TOGETHER = 256  # stretches in one question: one costs less than a message
DEFINITIONS = 6  # of a stretch whose names are taken
TIMES = 2  # that the names come before the code
LONGEST = 20_000  # characters of a stretch that is read; a chunk is far shorter

_HUMP = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PARTS = regex(r"[^\W_]+")


def is_code(language: str) -> bool:
    """Return whether a language is one whose code has headers."""
    return language in LANGUAGES and is_available(language)


class Stretch(NamedTuple):
    """A stretch of code, and the qualified name of the definition that it is in."""

    text: str
    language: str
    symbol: str | None = None


def headers(stretches: Iterable[Stretch]) -> dict[Stretch, str]:
    """Return the headers of stretches of code, empty when nothing is defined in one or that takes too much work.

    >>> [*headers([Stretch("def loadJSON(path):\\n    return decode(path)", "python", "Reader.loadJSON")]).values()]
    ['load JSON. load JSON. ']
    """
    found = dict.fromkeys(stretches, "")
    for language in {one.language for one in found}:
        asked = [one for one in found if one.language == language and len(one.text) <= LONGEST]
        for start in range(0, len(asked), TOGETHER):
            group = asked[start : start + TOGETHER]
            for one, defined in zip(group, names([one.text for one in group], language), strict=True):
                found[one] = _header(one, defined)
    return found


def _header(stretch: Stretch, defined: Sequence[str]) -> str:
    around = "" if stretch.symbol is None else stretch.symbol.rpartition(".")[2]
    named = [name for name in defined if name][:DEFINITIONS]
    words = words_of(dict.fromkeys((*([around] if around else []), *named)))
    return f"{words}. " * TIMES if words else ""


def words_of(found: Iterable[str]) -> str:
    """Return the words in names.

    >>> words_of(["getHTTPResponse", "max_size2"])
    'get HTTP Response max size 2'
    """
    return " ".join(word for name in found for part in _PARTS.findall(name) for word in _HUMP.findall(part) or [part])
