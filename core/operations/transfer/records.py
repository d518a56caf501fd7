"""Records of an export, format 2: their fields, and how lines are read. docs/how-to/export.md describes them.

A file is a `Header`, then `ChangeLine`s, `VersionLine`s and `MemoryLine`s, `TelemetryLine`s, then an `End`. Format 1
differs only in having no telemetry.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, structs

from muisti.core.model.errors import InvalidInput, placed
from muisti.core.model.fields import FIELDS, LINKS
from muisti.core.model.ids import id_bytes
from muisti.core.model.spaces import DESCRIPTION_MAX, LABELS_MAX, TITLE_MAX, Field, SpaceSettings
from muisti.core.model.values import TRUST, Memory

FORMAT = 2
READABLE = (1, FORMAT)
Count = Annotated[int, Meta(ge=0, le=2**53)]
Reason = Annotated[str, Meta(max_length=200)]


class SettingsRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settings of a space."""

    lexical_weights: dict[Field, float]
    embedded_fields: list[Field]
    description: Annotated[str, Meta(max_length=DESCRIPTION_MAX)] | None = None
    title: Annotated[str, Meta(max_length=TITLE_MAX)] | None = None
    labels: Annotated[dict[str, str], Meta(max_length=LABELS_MAX)] = {}
    changed_us: int | None = None

    def settings(self) -> SpaceSettings:
        return SpaceSettings(
            lexical_weights=self.lexical_weights,
            embedded_fields=tuple(self.embedded_fields),
            description=self.description,
            title=self.title,
            labels=self.labels,
            changed_us=self.changed_us,
        )


class SpaceRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The exported space and the point of history. `generation` is the hash of its model.

    `kept_from` is the oldest change as of which the space can be read.
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
    """Counts of the file: memories that are not deleted, all versions, all changes."""

    memories: Count
    versions: Count
    changes: Count


class Header(Struct, frozen=True, forbid_unknown_fields=True, tag="muisti", tag_field="type", kw_only=True):
    """The first line. Exports have `space`, `counts` and `generations`; `source` names another system.

    `left_out` counts by reason the records of the other system that are no lines.
    """

    format: int
    muisti: str = ""
    exported_at: datetime | None = None
    source: Annotated[str, Meta(max_length=200)] | None = None
    space: SpaceRecord | None = None
    generations: dict[str, GenerationRecord] = {}
    counts: CountsRecord | None = None
    left_out: Annotated[dict[Reason, Count], Meta(max_length=100)] | UnsetType = UNSET


class ChangeLine(Struct, frozen=True, forbid_unknown_fields=True, tag="change", tag_field="type", kw_only=True):
    """A change of the space: who made it, when, and in which request. `undone` is the change that undid it."""

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
    """A version of a memory. It was current from change `born` until change `died`."""

    born: Annotated[int, Meta(ge=1, le=2**53)]
    died: int | None
    memory: Raw
    passages: list[PassageRecord] | None = None


class MemoryLine(Struct, frozen=True, forbid_unknown_fields=True, tag="memory", tag_field="type", kw_only=True):
    """A memory without a history. Only `id` and `content` are required. `place` locates it in its original source.

    With `gives_way`, an object whose place in a conversation is taken is skipped as one that exists. An exchange is
    imported without its turn, which its metadata keep. Without it, the line is refused.
    """

    memory: Raw
    place: Annotated[str, Meta(max_length=1_000)] | None = None
    gives_way: bool = False


class TelemetryLine(Struct, frozen=True, forbid_unknown_fields=True, tag="telemetry", tag_field="type", kw_only=True):
    """Number of retrievals of a memory of an earlier line, and the time of the last."""

    id: str
    retrieval_count: Annotated[int, Meta(ge=1, le=2**53)]
    last_retrieved_at: datetime


class BadLine(Struct, frozen=True, forbid_unknown_fields=True, tag="bad", tag_field="type", kw_only=True):
    """An unreadable part of a file of another system. It counts as a line that cannot be imported."""

    message: Annotated[str, Meta(max_length=1_000)]
    place: Annotated[str, Meta(max_length=1_000)] | None = None


class End(Struct, frozen=True, forbid_unknown_fields=True, tag="end", tag_field="type"):
    """The last line. `lines` counts the lines before it, including the header."""

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


def _record_fields() -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
    """Yield the fields of a memory. Only its id and content are required."""
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


_FIELDS: Any = msgspec.defstruct(
    "MemoryFields", list(_record_fields()), kw_only=True, frozen=True, forbid_unknown_fields=True
)
_MEMORY: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_FIELDS)
_MEMBERS = msgspec.json.Decoder(dict[str, Any])

T = TypeVar("T")


def read_record(line: bytes) -> Record:
    """Return the record in a line.

    Raises:
        InvalidInput: the line is no valid record; the paths locate the faults.
    """
    return _checked(lambda: _DECODER.decode(line))


def read_memory(raw: Raw, space: str, default_time: datetime) -> Memory:
    """Return the memory in a record, in `space`. Missing fields get defaults; missing times are `default_time`.

    Raises:
        InvalidInput: the record is invalid or has unknown fields.
    """
    fields: dict[str, Any] = structs.asdict(_checked(lambda: _MEMORY.decode(raw)))
    fields["space"] = space
    fields["created_at"] = fields["created_at"] or default_time
    fields["updated_at"] = fields["updated_at"] or fields["created_at"]
    fields["trust"] = max(0, min(fields["trust"], TRUST[fields["source_class"]]))
    memory = Memory(**fields)
    for name in ("id", *LINKS):
        value = getattr(memory, name)
        if value is not None and id_bytes(value) is None:
            raise InvalidInput.at(f"$.{name}", f"{value[:80]!r} is no memory id")
    for name in ("created_at", "updated_at"):
        if getattr(memory, name).tzinfo is None:
            raise InvalidInput.at(f"$.{name}", "needs a time zone, as in 2026-05-01T12:00:00Z")
    return memory


def id_of(raw: Raw) -> list[str]:
    """Return a list with the id of the memory in a record, empty when it cannot be read."""
    try:
        found = _checked(lambda: _MEMBERS.decode(raw)).get("id")
    except InvalidInput:
        return []
    return [found] if isinstance(found, str) and id_bytes(found) is not None else []


def read_vector(text: str, dimensions: int) -> bytes:
    """Return a stored vector (core/embedding/vectors.py) from its base64.

    Raises:
        InvalidInput: the length is wrong.
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
    """Return the base64 of a stored vector."""
    return base64.b64encode(blob).decode("ascii")


def memory_record(memory: Memory) -> Raw:
    """Return the record of a memory, without empty fields and without the space, which the header names."""
    record = {
        name: value
        for name, value in structs.asdict(memory).items()
        if name in _EXPORTED and value is not None and value != _EMPTY.get(name)
    }
    return Raw(msgspec.json.encode(record))


_EMPTY: Mapping[str, Any] = {"tags": (), "metadata": {}, "structure": {}, "anchors": ()}


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
