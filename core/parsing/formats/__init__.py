"""Readers of formats that a worker process reads. `READERS` has one for each format.

A reader takes the content, the options and the facts to complete, and yields pieces. Packages load with the first file
that needs them.
"""

from collections.abc import Callable, Iterator, Mapping

from muisti.core.model.documents import Piece
from muisti.core.parsing.detect import Format
from muisti.core.parsing.options import Options
from muisti.core.parsing.parsed import About

Reader = Callable[[bytes | bytearray, Options, About], Iterator[Piece]]
READERS: Mapping[Format, Reader] = {}
