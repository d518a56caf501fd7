"""The program of a worker process that reads source code; `core.parsing.code.apart` asks it."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from muisti.core.model.decoding import decoder
from muisti.core.model.unreadable import TimedOut
from muisti.core.parsing.code import reading
from muisti.core.parsing.code.apart import Question
from muisti.core.parsing.code.grammars import TooIntricate, definitions
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.worker import Reader, main

_READERS: Mapping[str, Callable[[str, Question], object]] = {
    "definitions": lambda text, asked: definitions(text, asked.language),
    "names": lambda text, asked: reading.names(text, asked.language),
    "record": lambda text, asked: reading.read(asked.path, text, asked.language),
}


def reader(form: str) -> Reader:
    """Return what answers a question."""
    asked = decoder(Question).decode(form)

    def read(data: bytes | bytearray, _options: Options, _about: About) -> Iterator[Piece]:
        try:
            found = _READERS[asked.what](data.decode("utf-8", "surrogatepass"), asked)
        except TooIntricate as error:
            raise TimedOut("The text needs more work than its length allows.") from error
        yield Piece(text=msgspec.json.encode(found).decode())

    return read


if __name__ == "__main__":
    main(reader)
