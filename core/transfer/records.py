"""The lines of an export, format 2: what stands in each, and how it is read. docs/export.md describes them.

A file is a `Header`, then `ChangeLine`s, `VersionLine`s and `MemoryLine`s, `TelemetryLine`s, then an `End`. Format 1 is
the same without telemetry.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

import msgspec
from msgspec import Meta, Raw, Struct, structs

from muisti.core.model.errors import InvalidInput, placed
from muisti.core.model.fields import FIELDS, LINKS
from muisti.core.model.ids import id_bytes
from muisti.core.model.spaces import Field, SpaceSettings
from muisti.core.model.values import TRUST, Memory

FORMAT = 2
READABLE = (1, FORMAT)
Count = Annotated[int, Meta(ge=0, le=2**53)]


class SettingsRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a space."""

    lexical_weights: dict[Field, float]
    embedded_fields: list[Field]

    def settings(self) -> SpaceSettings:
        return SpaceSettings(lexical_weights=self.lexical_weights, embedded_fields=tuple(self.embedded_fields))


class SpaceRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the file comes from, and the point of history that it shows. `generation` is its model's hash.

    `kept_from` is the oldest change after which that space can be shown.
    """

    name: str
    epoch: str
    seq: Count
    created_at: datetime
    settings: SettingsRecord
    generation: str | None
    kept_from: Count = 0


class GenerationRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """An embedding model."""

    hash: Annotated[str, Meta(min_length=1, max_length=200)]
    model: Annotated[str, Meta(max_length=200)]
    dimensions: Annotated[int, Meta(ge=1, le=65_536)]


class CountsRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file has: memories that are not deleted, all versions, all changes."""

    memories: Count
    versions: Count
    changes: Count


class Header(Struct, frozen=True, forbid_unknown_fields=True, tag="muisti", tag_field="type", kw_only=True):
    """The first line. `space`, `counts` and `generations` are what an export tells; `source` names another system."""

    format: int
    muisti: str = ""
    exported_at: datetime | None = None
    source: Annotated[str, Meta(max_length=200)] | None = None
    space: SpaceRecord | None = None
    generations: dict[str, GenerationRecord] = {}
    counts: CountsRecord | None = None


class ChangeLine(Struct, frozen=True, forbid_unknown_fields=True, tag="change", tag_field="type", kw_only=True):
    """A change of the space: who made it, when, with which request; `undone` is the change that took it back."""

    seq: Annotated[int, Meta(ge=1, le=2**53)]
    kind: Annotated[str, Meta(max_length=40)]
    id: str | None = None
    version: int | None = None
    at: datetime
    actor: Annotated[str, Meta(max_length=200)] | None = None
    request: Annotated[str, Meta(max_length=200)] | None = None
    undone: int | None = None


class PassageRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A passage: character offsets within the content, and its vectors in base64 by the name of their generation."""

    start: Count
    stop: Count
    vectors: dict[str, str] = {}


class VersionLine(Struct, frozen=True, forbid_unknown_fields=True, tag="version", tag_field="type", kw_only=True):
    """A version of a memory, which lived from change `born` until change `died`."""

    born: Annotated[int, Meta(ge=1, le=2**53)]
    died: int | None
    memory: Raw
    passages: list[PassageRecord] | None = None


class MemoryLine(Struct, frozen=True, forbid_unknown_fields=True, tag="memory", tag_field="type", kw_only=True):
    """A memory without a history: only `id` and `content` must be told. `place` is where it stood before."""

    memory: Raw
    place: Annotated[str, Meta(max_length=1_000)] | None = None


class TelemetryLine(Struct, frozen=True, forbid_unknown_fields=True, tag="telemetry", tag_field="type", kw_only=True):
    """How often a memory of an earlier line was retrieved, and when last."""

    id: str
    retrieval_count: Annotated[int, Meta(ge=1, le=2**53)]
    last_retrieved_at: datetime


class BadLine(Struct, frozen=True, forbid_unknown_fields=True, tag="bad", tag_field="type", kw_only=True):
    """What could not be read in the file of another system: it counts as a line that cannot come in."""

    message: Annotated[str, Meta(max_length=1_000)]
    place: Annotated[str, Meta(max_length=1_000)] | None = None


class End(Struct, frozen=True, forbid_unknown_fields=True, tag="end", tag_field="type"):
    """The last line; `lines` counts those before it, the header too."""

    lines: Count


Record = Header | ChangeLine | VersionLine | MemoryLine | TelemetryLine | BadLine | End

_DECODER = msgspec.json.Decoder(Record)
_DEFAULTS: Mapping[str, Any] = {
    **{field.name: field.usual for field in FIELDS if field.usual is not None},
    "metadata": msgspec.field(default_factory=dict),
    "structure": msgspec.field(default_factory=dict),
    "version": 1,
    "created_at": None,
    "updated_at": None,
    "trust": 100,
    "tokens": 0,
}
_EXPORTED = frozenset(field.name for field in FIELDS if field.exported)
_TYPES: Mapping[str, Any] = {
    "metadata": dict[str, Any],
    "structure": dict[str, Any],
    "created_at": datetime | None,
    "updated_at": datetime | None,
}


def _told_fields() -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
    """The fields of a memory, of which only its id and content must be told."""
    for one in structs.fields(Memory):
        kind = _TYPES.get(one.name, one.type)
        if one.name in _DEFAULTS:
            yield one.name, kind, _DEFAULTS[one.name]
        elif not one.required:
            yield one.name, kind, one.default
        elif NoneType in get_args(kind):
            yield one.name, kind, None
        elif one.name in _EXPORTED:
            yield one.name, kind


_TOLD: Any = msgspec.defstruct("Told", list(_told_fields()), kw_only=True, frozen=True, forbid_unknown_fields=True)
_MEMORY: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_TOLD)
_MEMBERS = msgspec.json.Decoder(dict[str, Any])

T = TypeVar("T")


def read_record(line: bytes) -> Record:
    """The record in a line.

    Raises:
        InvalidInput: it is none; the paths say where.
    """
    return _checked(lambda: _DECODER.decode(line))


def read_memory(raw: Raw, space: str, default_time: datetime) -> Memory:
    """The memory in a record, in `space`; what is not told has its default, and `default_time` for times.

    Raises:
        InvalidInput: it is none, or has fields that are unknown.
    """
    told: dict[str, Any] = structs.asdict(_checked(lambda: _MEMORY.decode(raw)))
    told["space"] = space
    told["created_at"] = told["created_at"] or default_time
    told["updated_at"] = told["updated_at"] or told["created_at"]
    told["trust"] = max(0, min(told["trust"], TRUST[told["source_class"]]))
    memory = Memory(**told)
    for name in ("id", *LINKS):
        value = getattr(memory, name)
        if value is not None and id_bytes(value) is None:
            raise InvalidInput.at(f"$.{name}", f"{value[:80]!r} is no memory id")
    for name in ("created_at", "updated_at"):
        if getattr(memory, name).tzinfo is None:
            raise InvalidInput.at(f"$.{name}", "needs a time zone, as in 2026-05-01T12:00:00Z")
    return memory


def id_of(raw: Raw) -> list[str]:
    """The id of the memory in a record, none when it cannot be read."""
    try:
        told = _checked(lambda: _MEMBERS.decode(raw)).get("id")
    except InvalidInput:
        return []
    return [told] if isinstance(told, str) and id_bytes(told) is not None else []


def read_vector(text: str, dimensions: int) -> bytes:
    """A stored vector (core/embedding/vectors.py) from its base64.

    Raises:
        InvalidInput: it has not the length of such a vector.
    """
    try:
        blob = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput.at("$.passages", "a vector is no base64") from None
    if len(blob) != 8 + 2 * dimensions:
        raise InvalidInput.at(
            "$.passages", f"a vector has {len(blob):,} bytes; one of {dimensions} dimensions has {8 + 2 * dimensions:,}"
        )
    return blob


def vector_text(blob: bytes) -> str:
    """The base64 of a stored vector."""
    return base64.b64encode(blob).decode("ascii")


def memory_record(memory: Memory) -> Raw:
    """A memory as a record has it: without the space, which the header names, and what is empty."""
    told = {
        name: value
        for name, value in structs.asdict(memory).items()
        if name in _EXPORTED and value is not None and value != _EMPTY.get(name)
    }
    return Raw(msgspec.json.encode(told))


_EMPTY: Mapping[str, Any] = {"tags": (), "metadata": {}, "structure": {}}


def _checked(read: Callable[[], T]) -> T:
    try:
        return read()
    except msgspec.ValidationError as error:
        fault, path = placed(str(error))
        raise InvalidInput.at(path, fault) from None
    except msgspec.DecodeError as error:
        raise InvalidInput.at("$", f"is no JSON: {error}") from None
    except UnicodeDecodeError:
        raise InvalidInput.at("$", "is no valid UTF-8") from None
    except RecursionError:
        raise InvalidInput.at("$", "is nested too deeply") from None
