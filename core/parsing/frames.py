"""Messages between this process and a worker: a kind, a length, and a body in MessagePack."""

import struct
from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct

from muisti.core.parsing.parsed import Options

HEADER = struct.Struct(">cI")
LONGEST = 8 << 20  # bytes of a message at most


class Kind(Enum):
    """Kinds of messages. A job and its blocks go to the worker; the others come back."""

    JOB = b"J"
    BLOCK = b"B"  # bytes of the file; an empty block ends them
    READY = b"R"  # the worker has started, or takes the job
    WAIT = b"W"  # the next piece may take so many seconds of processor time
    PIECES = b"P"
    FACTS = b"F"
    REFUSAL = b"X"
    END = b"E"


class Started(Struct, frozen=True):
    """State of a worker that has started: whether the system shuts it off from the network."""

    confined: bool


class Job(Struct, frozen=True):
    """A file that a worker is to read."""

    form: str
    name: str
    options: Options


class Facts(Struct, frozen=True):
    """Facts about a document, sent after its last piece."""

    title: str | None
    pages: int | None
    language: str | None
    notes: list[str]


class Refusal(Struct, frozen=True):
    """An error that keeps a file from being read: the code of a subclass of `Unreadable`.

    `last` tells that the worker ends with it, as the file has used up its memory.
    """

    code: str
    message: str
    last: bool = False


_encoder = msgspec.msgpack.Encoder()
decode = msgspec.msgpack.decode


def message(kind: Kind, body: Any = None) -> bytes:
    """Return a message; without a body it has none."""
    data = b"" if body is None else _encoder.encode(body)
    return HEADER.pack(kind.value, len(data)) + data


def block(data: bytes) -> bytes:
    """Return a message with bytes of a file."""
    return HEADER.pack(Kind.BLOCK.value, len(data)) + data
