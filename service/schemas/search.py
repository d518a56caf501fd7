"""Replies of a search: hits, with the factors of each score."""

from datetime import datetime
from typing import Annotated, cast

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.hits import Answer, Evidence, Fusion, Hit, Mode
from muisti.service.schemas import fields
from muisti.service.schemas.replies import MemoryReply


class PassageReply(Struct, frozen=True, kw_only=True):
    """The passage of the content that answers best: its number, and its start and stop in characters."""

    number: int
    start: int
    stop: int


class NamedTimeReply(Struct, frozen=True, kw_only=True):
    """The time that a query names which is nearest to the memory; null where it is open."""

    words: str
    start: datetime | None
    stop: datetime | None
    factor: float


class ExplanationReply(Struct, frozen=True, kw_only=True):
    """Every factor of a score = fused * time * recency * importance * trust * feedback, at most 1.

    `fused` follows from `lexical` and `cosine`, and with absolute fusion from the parts of `blend`.
    """

    fusion: Fusion | None
    alpha: float | None
    lexical: float | None
    bm25: float | None
    cosine: float | None
    blend: Annotated[dict[str, float] | None, Meta(description="The parts of absolute fusion; null for others.")]
    fused: float
    time: NamedTimeReply | None
    recency: float
    decay: Annotated[
        dict[str, float | str] | UnsetType,
        Meta(description="The recency in effect, as in a request; only where age costs something."),
    ] = UNSET
    importance: float
    trust: float
    feedback: Annotated[float, Meta(description="Factor of the callers' feedback, 0.9 to 1.1; 1 without any.")]
    age_days: float | None
    refreshed_days: Annotated[float, Meta(description="Days of the age that do not count, up to the last retrieval.")]
    terms: Annotated[dict[str, float], Meta(description="Share of each word of the query in `lexical`.")]


class HitReply(Struct, frozen=True, kw_only=True):
    """A memory that answers, with its rank in each ranking, from 1. `highlight` and `explain` are sent on request."""

    memory: MemoryReply
    score: float
    ranks: dict[str, int]
    passage: PassageReply
    highlight: str | UnsetType = UNSET
    explain: ExplanationReply | UnsetType = UNSET

    @staticmethod
    def of(hit: Hit) -> "HitReply":
        """Return the hit itself: it has these fields, so it encodes to the same bytes."""
        return cast(HitReply, hit)


class SearchReply(Struct, frozen=True, kw_only=True):
    """Hits, best first."""

    hits: list[HitReply]
    total: Annotated[int, Meta(description="Memories that could have been hits.")]
    evidence: Annotated[Evidence, Meta(description="Whether anything here is about the query; none is no fault.")]
    strength: Annotated[float, Meta(description="Number on which `evidence` is based, from 0 up.", ge=0)]
    strategy: Annotated[Mode, Meta(description="The mode that ran.")]
    degraded: Annotated[list[str], Meta(description="Parts of the request that could not be done, in words.")]
    seq: fields.SeqText
    receipt: Annotated[str, Meta(description="Id of the receipt, when one was asked for.")] | UnsetType = UNSET

    @classmethod
    def of(cls, answer: Answer, receipt: str | UnsetType = UNSET) -> "SearchReply":
        return cls(
            hits=[HitReply.of(hit) for hit in answer.hits],
            total=answer.total,
            evidence=answer.evidence,
            strength=answer.strength,
            strategy=answer.strategy,
            degraded=list(answer.degraded),
            seq=str(answer.seq),
            receipt=receipt,
        )
