"""Requests and replies about probes and their runs."""

from typing import Annotated, Any, Self

from msgspec import Struct

from muisti.core.model.quality import Expectation, K, Run
from muisti.core.model.values import LIMIT_MAX
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, copied
from muisti.service.schemas.fields import doc

ProbeId = Annotated[
    str, doc("Id of a probe, a UUIDv7.", format="uuid", examples=["0197a3c0-5f4e-7000-8000-0123456789b0"])
]
Place = Annotated[int, doc("The expected memory should be among the first k hits.", minimum=1, maximum=LIMIT_MAX)]


class ProbeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, and the memory that it should find: by its id, or any memory at an address."""

    query: fields.QueryText
    memory_id: fields.MemoryId | None = None
    category: fields.Category | None = None
    key: fields.Key | None = None
    k: Place = K

    def expectation(self) -> Expectation:
        return copied(Expectation, self)


class ProbeReply(Reply, frozen=True, kw_only=True):
    """A stored question, with the memory that it should find."""

    within = ("expects",)

    id: ProbeId
    query: fields.QueryText
    memory_id: fields.MemoryId | None
    category: fields.Category | None
    key: fields.Key | None
    k: Place
    made_at: fields.Time
    actor: str


class ProbesReply(Reply, frozen=True, kw_only=True):
    """Probes, oldest first."""

    items: list[ProbeReply]
    next_cursor: None = None


class RankReply(Reply, frozen=True, kw_only=True):
    """Rank of the memory that a probe expects."""

    id: ProbeId
    rank: Annotated[int | None, doc(f"From 1; null when it is not among the first {LIMIT_MAX}.")]


class RunReply(Reply, frozen=True, kw_only=True):
    """Result of a run of all probes of a space."""

    at: fields.Time
    seq: fields.SeqText
    generation: Annotated[str | None, doc("The model that had embedded the space.")]
    recall: Annotated[float, doc("Share of the probes that found theirs among the first k; 1 without any.")]
    ranks: list[RankReply]

    @classmethod
    def of(cls, value: Run, /, **more: Any) -> Self:
        return super().of(value, ranks=[RankReply(id=id_, rank=rank) for id_, rank in value.ranks.items()], **more)


class RunsReply(Reply, frozen=True, kw_only=True):
    """The last runs, newest first."""

    items: list[RunReply]
    next_cursor: None = None
