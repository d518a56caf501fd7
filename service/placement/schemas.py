"""Bodies and replies about the databases that hold spaces."""

from datetime import datetime
from typing import Annotated, Literal, Self

from msgspec import Struct

from muisti.core.model.buckets import BUCKETS
from muisti.core.model.times import from_us
from muisti.core.placement.directory import MOST_BYTES, Move
from muisti.service.runtime.engines import Engines
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

UNITS_MAX = 1_000

DatabaseName = Annotated[str, doc("Name of a database.", pattern="^[a-z0-9][a-z0-9._-]{0,62}$", examples=["eu-1"])]
Unit = Annotated[str, doc("A bucket, such as `#17`, or the name of a space.", examples=["#17"])]
Units = Annotated[list[Unit], doc(f"What to move, up to {UNITS_MAX:,}.", minItems=1, maxItems=UNITS_MAX)]
Wait = Annotated[bool, doc("Do the moves before the answer. Otherwise a running server does them.")]
State = Literal["ready", "draining", "down"]


class DatabaseBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An empty database that is to hold spaces."""

    name: DatabaseName
    url: Annotated[str, doc("A file, or a server that speaks Hrana.", examples=["http://sqld-1:8080"])]
    namespace: Annotated[str, doc("Namespace of sqld.")] | None = None
    replica_url: Annotated[str, doc("Where its reads go.")] | None = None
    token_file: Annotated[str, doc("File with its token, on each machine that serves.")] | None = None
    most_bytes: Annotated[int, doc("Size up to which it is filled, by the time of a restore.", ge=1)] = MOST_BYTES


class MovesBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Buckets or spaces, and the database that is to hold them."""

    units: Units
    target: DatabaseName
    wait: Wait = False


class PlacedSpaceBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A space that is to have a database of its own choice, whatever its bucket does."""

    name: fields.SpaceName
    target: DatabaseName
    wait: Wait = False


class DrainBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A database that is to hold nothing."""

    name: DatabaseName


class PlacementMoveReply(Reply, frozen=True, kw_only=True):
    """A move of a bucket or a space."""

    id: Annotated[int, doc("Its number; later moves have larger ones.")]
    unit: Unit
    source: DatabaseName
    target: DatabaseName
    why: Annotated[str, doc("Why it moves.")]
    step: Annotated[str, doc("Where the move is; `ended` or `back` when it is over.")]
    asked_at: datetime
    ended_at: datetime | None
    rows: Annotated[int, doc("Rows copied so far.")]
    fences: Annotated[int, doc("How often writes were refused.")]
    fenced_ms: Annotated[float, doc("For how long, in all.")]
    error: Annotated[str | None, doc("Why it went back.")]

    @classmethod
    def made(cls, move: Move, engines: Engines) -> Self:
        return cls(
            id=move.id,
            unit=move.unit,
            source=engines.name(move.source),
            target=engines.name(move.target),
            why=move.why,
            step=move.step,
            asked_at=from_us(move.asked_at),
            ended_at=None if move.ended_at is None else from_us(move.ended_at),
            rows=move.copied,
            fences=move.fences,
            fenced_ms=move.fenced_us / 1_000,
            error=move.error,
        )


class DatabaseReply(Reply, frozen=True, kw_only=True):
    """A database, and what it holds."""

    name: DatabaseName
    state: State
    buckets: Annotated[int, doc(f"Of {BUCKETS}.")]
    spaces: int | None
    memories: int | None
    bytes: Annotated[int | None, doc("Of texts. Null, like the other counts, when it does not answer.")]
    most_bytes: int


class PlacementReply(Reply, frozen=True, kw_only=True):
    """The databases, and the moves under way with the last that ended."""

    epoch: Annotated[int, doc("Grows with each change of the map.")]
    databases: list[DatabaseReply]
    exceptions: Annotated[int, doc("Spaces that are not where their bucket is.")]
    moves: list[PlacementMoveReply]


class MovesReply(Reply, frozen=True, kw_only=True):
    """Moves that were asked for; what is there already does not move."""

    items: list[PlacementMoveReply]
    next_cursor: None = None


class ProposedReply(Reply, frozen=True, kw_only=True):
    """A move that would even out the databases."""

    unit: Unit
    source: DatabaseName
    target: DatabaseName
    bytes: int


class PlanReply(Reply, frozen=True, kw_only=True):
    """Moves to ask for, at most a hundred, in this order. Nothing moves by itself."""

    items: list[ProposedReply]
    next_cursor: None = None


class MisplacedReply(Reply, frozen=True, kw_only=True):
    """A space that a database holds, though the map has it in another."""

    space: fields.SpaceName
    held_by: DatabaseName
    belongs_to: DatabaseName


class PlacementCheckReply(Reply, frozen=True, kw_only=True):
    """Result of comparing the map with what each database holds."""

    ok: bool
    spaces: Annotated[int, doc("That were found.")]
    misplaced: list[MisplacedReply]
    doubled: Annotated[list[str], doc("Spaces that two databases hold.")]
    down: Annotated[list[str], doc("Databases that did not answer, and were not checked.")]
