"""Converts JSON and other values to structs, safely from many threads.

In msgspec 0.22 the first use of a type fills a description of it in place. A second thread that reads the description
meanwhile can crash the process. Here each type is described under a lock, before its first use.
"""

import re
from functools import cache
from threading import Lock
from typing import Any, Protocol, TypeVar

import msgspec

T = TypeVar("T")
_describing = Lock()


def convert(given: object, kind: type[T], from_attributes: bool = False, *, strict: bool = True) -> T:
    """Return a value of `kind` from built-in values, or from the attributes of an object.

    Unless `strict`, texts are read as the numbers and other values that they write.

    Raises:
        msgspec.ValidationError: the values do not fit the type.
    """
    decoder(kind)
    return msgspec.convert(given, kind, from_attributes=from_attributes, strict=strict)


@cache
def _decoder(kind: type[Any]) -> msgspec.json.Decoder[Any]:
    with _describing:
        return msgspec.json.Decoder(kind)


class Decoders(Protocol):
    """Returns the decoder of JSON for a type."""

    def __call__(self, kind: type[T], /) -> msgspec.json.Decoder[T]: ...


decoder: Decoders = _decoder  # a module whose items are read by many threads calls it early


# Repairs JSON that programs write by mistake, and that can be read in only one way. Nothing valid is changed

_BOM = b"\xef\xbb\xbf"
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def repaired(body: bytes) -> bytes:
    r"""Return JSON without a byte order mark, and with U+FFFD in place of each half of a surrogate pair.

    >>> repaired(b'\xef\xbb\xbf"cut \\ud83d, whole \\ud83d\\ude00, quoted \\\\ud83d"')
    b'"cut \\ufffd, whole \\ud83d\\ude00, quoted \\\\ud83d"'
    """
    body = body.removeprefix(_BOM)
    if b"\\ud" not in body and b"\\uD" not in body:
        return body
    return _ESCAPE.sub(lambda found: found[0] if found["half"] is None else rb"\ufffd", body)
