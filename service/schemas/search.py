"""Replies of a search: hits, with the factors of each score."""

from datetime import datetime
from typing import Annotated, Any, cast, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.decoding import convert
from muisti.core.model.hits import (
    Answer,
    Evidence,
    Fusion,
    Hit,
    Intent,
    JointAnswer,
    Mode,
    PartAnswer,
    Reason,
    Reasoned,
    Thresholds,
)
from muisti.core.model.terms import IntentKind
from muisti.service.schemas import fields
from muisti.service.schemas.instructions import Instructions, instructions_of
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


class SignalReply(Struct, frozen=True, kw_only=True):
    """A signal of a score. `contribution` is a factor of it, or with a preset a summand of `composite`."""

    score: float
    weight: float
    contribution: float


class NoveltyReply(Struct, frozen=True, kw_only=True):
    """The `value` by which a diverse hit was chosen: (1 - diversity) * relevance - diversity * nearest."""

    relevance: Annotated[float, Meta(description="Its score over that of the best.")]
    nearest: Annotated[float, Meta(description="Highest cosine to an earlier hit, at least 0.")]
    value: float


class SymbolMatchReply(Struct, frozen=True, kw_only=True):
    """The symbol that the query names and the chunk defines: its score becomes above + (1 - above) * score."""

    name: Annotated[str, Meta(description="As the query names it, with dots.", examples=["Client.send"])]
    above: Annotated[float, Meta(description="Highest score of the chunks that do not define it.")]


class QuoteMatchReply(Struct, frozen=True, kw_only=True):
    """The memory has all that the query has in quotes: its score becomes above + (1 - above) * score."""

    above: Annotated[float, Meta(description="Highest score of the memories that lack a part in quotes.")]


class ExplanationReply(Struct, frozen=True, kw_only=True):
    """Every factor of a score = fused * time * recency * importance * trust * feedback, at most 1.

    `fused` follows from `lexical` and `cosine`, and with absolute fusion from the parts of `blend`. Contributions of
    `signals` and the weight of a space are more factors. With a preset `composite`, the sum of the contributions, is in
    place of `fused`.
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
    graph: Annotated[SignalReply | UnsetType, Meta(description="With `rankings.graph`.")] = UNSET
    signals: Annotated[dict[str, SignalReply] | UnsetType, Meta(description="With `signals` or `preset`.")] = UNSET
    composite: Annotated[float | UnsetType, Meta(description="With `preset`.")] = UNSET
    space_weight: Annotated[float | UnsetType, Meta(description="With several spaces.")] = UNSET
    novelty: Annotated[NoveltyReply | UnsetType, Meta(description="With `diversity`.")] = UNSET
    symbol: Annotated[
        SymbolMatchReply | UnsetType, Meta(description="Of a chunk that defines the symbol that the query names.")
    ] = UNSET
    quoted: Annotated[
        QuoteMatchReply | UnsetType, Meta(description="Of a memory that has all parts of the query in quotes.")
    ] = UNSET
    parts: Annotated[
        dict[str, float],
        Meta(description="Summands of the score by name, in order; negative ones lower it. They add up to the score."),
    ]
    sentence: Annotated[str, Meta(description="The reasons for the rank, in words.")]


class ThresholdsReply(Struct, frozen=True, kw_only=True):
    """The values of `strength` at which `evidence` becomes weak, and strong."""

    weak: float
    strong: float

    @classmethod
    def of(cls, one: Thresholds | None) -> "ThresholdsReply | None":
        return None if one is None else cls(weak=one.weak, strong=one.strong)


Thresholded = Annotated[
    ThresholdsReply | None,
    Meta(description="Null for modes that rank no text, and for models that nobody has calibrated."),
]


class GroupReply(Struct, frozen=True, kw_only=True):
    """The group of which a hit is the best: its memories among the ranked candidates, and among `total`."""

    value: Annotated[Any, Meta(description="Of the field; null for memories without one.")]
    ranked: int
    count: int


class SurroundingsReply(Struct, frozen=True, kw_only=True):
    """Memories before and after a hit in its dialogue, oldest first, and the stretch of passages around its own."""

    before: list[MemoryReply]
    after: list[MemoryReply]
    start: int
    stop: int


class IntentReply(Struct, frozen=True, kw_only=True):
    """The reading of a query: the mode and filter that its words ask for, and the text that is left to rank by."""

    kind: IntentKind
    mode: Mode
    text: str
    filter: dict[str, Any] | None
    similar_to: str | None
    sentence: str
    applied: bool

    @classmethod
    def of(cls, intent: Intent) -> "IntentReply":
        return convert(intent, cls, from_attributes=True)


class PlaceReply(Struct, frozen=True, kw_only=True):
    """The place of a chunk in the text of its document, in characters and in lines from 1."""

    document: Annotated[str, Meta(description="Id of the document.")]
    path: Annotated[str, Meta(description="Path of the document.")]
    start: Annotated[int, Meta(description="Offset of the chunk's own text, behind its `overlap`.", ge=0)]
    stop: Annotated[int, Meta(description="Offset behind its last character.", ge=0)]
    overlap: Annotated[int, Meta(description="Characters at its start that repeat the chunk before.", ge=0)]
    first_line: Annotated[int, Meta(description="Line of `start`.", ge=1)]
    last_line: Annotated[int, Meta(description="Line of its last character.", ge=1)]
    page: Annotated[int | None, Meta(description="Page, slide or sheet, from 1.")]
    headings: Annotated[list[str], Meta(description="Titles that it stands under, outermost first.")]
    language: Annotated[str | None, Meta(description="Language of the text or of the code.")]
    symbol: Annotated[str | None, Meta(description="Definition that a chunk of code is in.")]


class HitReply(Struct, frozen=True, kw_only=True):
    """A memory that answers, with its rank in each ranking, from 1. `place` is on chunks of documents.

    All others after `passage` are sent on request.
    """

    memory: MemoryReply
    score: float
    ranks: dict[str, int]
    passage: PassageReply
    highlight: str | UnsetType = UNSET
    explain: ExplanationReply | UnsetType = UNSET
    group: GroupReply | UnsetType = UNSET
    context: SurroundingsReply | UnsetType = UNSET
    place: PlaceReply | UnsetType = UNSET

    @staticmethod
    def of(hit: Hit) -> "HitReply":
        """Return the hit itself: it has these fields, so it encodes to the same bytes."""
        return cast(HitReply, hit)


_EVIDENCE_REASON = "With `explain`: why `evidence` has its level, in words."
_BELOW = {
    "id": "0197a3c0-5f4e-7000-8000-0123456789ab",
    "reason": "limit",
    "sentence": "It ranks 14 (31 by words, 12 by meaning), and there are 10 hits at most. Its score is 0.330, that of "
    "the last hit 0.410.",
    "rank": 14,
    "score": 0.33,
    "last_score": 0.41,
    "ranks": {"lexical": 31, "dense": 12},
    "conditions": [],
    "superseded_by": None,
    "explain": None,
}


class ReasonedReply(Struct, frozen=True, kw_only=True):
    """The reason why a memory of `explain_ids` is a hit or none."""

    id: fields.MemoryId
    reason: Annotated[
        str,
        Meta(
            description="Code; `found`: it is a hit; `limit`: it ranks below the last hit.",
            extra_json_schema={"enum": list(get_args(Reason))},
        ),
    ]
    sentence: Annotated[str, Meta(description="The reason in words.")]
    rank: Annotated[
        int | None,
        Meta(description="Among the hits, else among the candidates; as if proposed with `not_proposed`; or null."),
    ]
    score: Annotated[float | None, Meta(description="Its score; null for what the search does not rank.")]
    last_score: Annotated[float | None, Meta(description="Score of the last hit; null without one.")]
    ranks: Annotated[
        dict[str, int], Meta(description="Its rank in each ranking, among all memories that the search allows.")
    ]
    conditions: Annotated[
        list[str], Meta(description="Fields of the filter that exclude it, or words and phrases that it lacks.")
    ]
    superseded_by: fields.MemoryId | None
    explain: Annotated[ExplanationReply | None, Meta(description="The factors of `score`.")]

    @classmethod
    def of(cls, one: Reasoned) -> "ReasonedReply":
        explain = None if one.explain is None else cast(ExplanationReply, one.explain)
        return cls(
            id=one.id,
            reason=one.reason,
            sentence=one.sentence,
            rank=one.rank,
            score=one.score,
            last_score=one.last_score,
            ranks=dict(one.ranks),
            conditions=list(one.conditions),
            superseded_by=one.superseded_by,
            explain=explain,
        )


class SearchReply(Struct, frozen=True, kw_only=True):
    """Hits, best first."""

    hits: list[HitReply]
    total: Annotated[int, Meta(description="Memories that could have been hits.")]
    evidence: Annotated[Evidence, Meta(description="Whether anything here is about the query; none is no fault.")]
    strength: Annotated[float, Meta(description="Number on which `evidence` is based, from 0 up.", ge=0)]
    thresholds: Thresholded
    strategy: Annotated[Mode, Meta(description="The mode that ran.")]
    degraded: Annotated[list[str], Meta(description="Parts of the request that could not be done, in words.")]
    seq: fields.SeqText
    receipt: Annotated[str, Meta(description="Id of the receipt, when one was asked for.")] | UnsetType = UNSET
    intent: IntentReply | UnsetType = UNSET
    instructions: Instructions = UNSET
    evidence_reason: Annotated[str, Meta(description=_EVIDENCE_REASON)] | UnsetType = UNSET
    explained: Annotated[
        list[ReasonedReply] | UnsetType,
        Meta(description="With `explain_ids`: one entry for each, in their order.", examples=[[_BELOW]]),
    ] = UNSET

    @classmethod
    def of(cls, answer: Answer, receipt: str | UnsetType = UNSET) -> "SearchReply":
        return cls(
            hits=[HitReply.of(hit) for hit in answer.hits],
            total=answer.total,
            evidence=answer.evidence,
            strength=answer.strength,
            thresholds=ThresholdsReply.of(answer.thresholds),
            strategy=answer.strategy,
            degraded=list(answer.degraded),
            seq=str(answer.seq),
            receipt=receipt,
            intent=UNSET if answer.intent is None else IntentReply.of(answer.intent),
            instructions=instructions_of(answer.instructions),
            evidence_reason=UNSET if answer.evidence_reason is None else answer.evidence_reason,
            explained=[ReasonedReply.of(one) for one in answer.explained] or UNSET,
        )


class PartReply(Struct, frozen=True, kw_only=True):
    """The part of one space in an answer, and the point in its history that was searched."""

    name: fields.SpaceName
    weight: float
    seq: fields.SeqText
    total: int
    evidence: Evidence
    strength: float
    thresholds: Thresholded
    strategy: Mode


class JointReply(Struct, frozen=True, kw_only=True):
    """Hits of several spaces, best first; `memory.space` names the space of each. `evidence` is the best of theirs."""

    hits: list[HitReply]
    total: Annotated[int, Meta(description="Memories that could have been hits, in all spaces.")]
    evidence: Evidence
    strength: Annotated[float, Meta(ge=0)]
    strategy: Annotated[Mode, Meta(description="The mode that ran, in any space.")]
    degraded: Annotated[list[str], Meta(description="Parts that could not be done, each with its space.")]
    spaces: list[PartReply]
    intent: IntentReply | UnsetType = UNSET
    instructions: Instructions = UNSET

    @classmethod
    def of(cls, answer: JointAnswer) -> "JointReply":
        return cls(
            hits=[HitReply.of(hit) for hit in answer.hits],
            total=answer.total,
            evidence=answer.evidence,
            strength=answer.strength,
            strategy=answer.strategy,
            degraded=list(answer.degraded),
            spaces=[_part(part) for part in answer.spaces],
            intent=UNSET if answer.intent is None else IntentReply.of(answer.intent),
            instructions=instructions_of(answer.instructions),
        )


def _part(part: PartAnswer) -> PartReply:
    return PartReply(
        name=part.name,
        weight=part.weight,
        seq=str(part.seq),
        total=part.total,
        evidence=part.evidence,
        strength=part.strength,
        thresholds=ThresholdsReply.of(part.thresholds),
        strategy=part.strategy,
    )
