"""Converts JSON and other values to structs, safely from many threads.

In msgspec 0.22 the first use of a type fills a description of it in place. A second thread that reads the description
meanwhile can crash the process. Here each type is described under a lock, before its first use.
"""

from functools import cache
from threading import Lock
from typing import Any, Protocol, TypeVar

import msgspec

T = TypeVar("T")
_describing = Lock()


def convert(given: object, kind: type[T], from_attributes: bool = False) -> T:
    """Return a value of `kind` from built-in values, or from the attributes of an object.

    Raises:
        msgspec.ValidationError: the values do not fit the type.
    """
    decoder(kind)
    return msgspec.convert(given, kind, from_attributes=from_attributes)


@cache
def _decoder(kind: type[Any]) -> msgspec.json.Decoder[Any]:
    with _describing:
        return msgspec.json.Decoder(kind)


class Decoders(Protocol):
    """Returns the decoder of JSON for a type."""

    def __call__(self, kind: type[T], /) -> msgspec.json.Decoder[T]: ...


decoder: Decoders = _decoder  # a module whose items are read by many threads calls it early
