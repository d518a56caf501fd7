"""The program of a worker process that reads source code; `core.parsing.code.apart` asks it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

import msgspec

from muisti.core.model.decoding import decoder
from muisti.core.model.unreadable import TimedOut
from muisti.core.parsing.code import reading
from muisti.core.parsing.code.apart import Question
from muisti.core.parsing.code.grammars import TooIntricate, definitions
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.worker import Reader, main


def _names(text: str, asked: Question) -> Iterator[object]:
    """Yield the names in each part of a text; none in one that takes too much work."""
    for start, stop in pairwise((0, *asked.stops)):
        try:
            yield reading.names(text[start:stop], asked.language)
        except TooIntricate:
            yield []


_READERS: Mapping[str, Callable[[str, Question], Iterable[object]]] = {
    "definitions": lambda text, asked: [definitions(text, asked.language)],
    "names": _names,
    "record": lambda text, asked: [reading.read(asked.path, text, asked.language)],
}


def reader(form: str) -> Reader:
    """Return what answers a question."""
    asked = decoder(Question).decode(form)

    def read(data: bytes | bytearray, _options: Options, _about: About) -> Iterator[Piece]:
        try:
            for found in _READERS[asked.what](data.decode("utf-8", "surrogatepass"), asked):
                yield Piece(text=msgspec.json.encode(found).decode())
        except TooIntricate as error:
            raise TimedOut("The text needs more work than its length allows.") from error

    return read


if __name__ == "__main__":
    main(reader)
