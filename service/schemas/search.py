"""Replies of a search: hits, with the factors of each score."""

from collections.abc import Iterable
from typing import Annotated, Any, Self, cast, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.choices import IntentKind
from muisti.core.model.chunks import Place
from muisti.core.model.hits import (
    Answer,
    Answered,
    Evidence,
    Explanation,
    Group,
    Instruction,
    InstructionReason,
    JointAnswer,
    Mode,
    Reason,
    Thresholds,
)
from muisti.core.model.values import Passage
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, Same
from muisti.service.schemas.fields import doc
from muisti.service.schemas.replies import MemoryReply, Scope

# Standing instructions beside the hits of a search


class InstructionReply(Same, frozen=True, kw_only=True):
    """A standing instruction that applies to the question, judged by its scope clause or its sentence."""

    memory: MemoryReply
    reason: Annotated[InstructionReason, doc("type: it is a guard; rule: its text reads like an instruction.")]
    scope: Scope
    score: Annotated[float, doc("Cosine of the question with the clause or the sentence.")]


Instructions = (
    Annotated[
        list[InstructionReply],
        doc("Standing instructions that apply, best first, whatever the evidence; absent for none."),
    ]
    | UnsetType
)


def instructions_of(found: Iterable[Instruction]) -> Instructions:
    """Return the instructions themselves: they have these fields, so they encode to the same bytes."""
    return cast(list[InstructionReply], list(found)) or UNSET


Thresholded = Annotated[
    Thresholds | None, doc("Null for modes that rank no text, and for models that nobody has calibrated.")
]


class SurroundingsReply(Same, frozen=True, kw_only=True):
    """Memories before and after a hit in its dialogue, oldest first, and the stretch of passages around its own."""

    before: list[MemoryReply]
    after: list[MemoryReply]
    start: int
    stop: int


class IntentReply(Same, frozen=True, kw_only=True):
    """The reading of a query: the mode and filter that its words ask for, and the text that is left to rank by."""

    kind: IntentKind
    mode: Mode
    text: str
    filter: dict[str, Any] | None
    similar_to: str | None
    sentence: str
    applied: bool


Applies = Annotated[float, doc("Probability that it answers; absent where nothing is asked.", ge=0, le=1)] | UnsetType
Sure = Annotated[float | None, doc("Probability that any memory answers; null where nothing is asked.")]
LeftOut = Annotated[int, doc("Hits that a cut by `applies` has left out.", ge=0)]


class HitReply(Same, frozen=True, kw_only=True):
    """A memory that answers, with its rank in each ranking, from 1. `place` is on chunks of documents.

    All others after `passage` are sent on request.
    """

    memory: MemoryReply
    score: float
    ranks: dict[str, int]
    passage: Passage
    applies: Applies = UNSET
    highlight: str | UnsetType = UNSET
    explain: Explanation | UnsetType = UNSET
    group: Group | UnsetType = UNSET
    context: SurroundingsReply | UnsetType = UNSET
    place: Place | UnsetType = UNSET
    facts: Annotated[list[str], doc("Facts that it states and that answer, with `facts`.")] | UnsetType = UNSET
    speaker: Annotated[str, doc("Who says the beginning of the passage of a turn.")] | UnsetType = UNSET


Nearest = Annotated[HitReply, doc("The best of the hits left out, when no other is left.")] | UnsetType


def nearest_of(answer: Answered) -> Nearest:
    """Return the best hit that a cut left out, when it left out all."""
    return UNSET if answer.nearest is None else cast(HitReply, answer.nearest)


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


class ReasonedReply(Same, frozen=True, kw_only=True):
    """The reason why a memory of `explain_ids` is a hit or none."""

    id: fields.MemoryId
    reason: Annotated[
        str, doc("Code; `found`: it is a hit; `limit`: it ranks below the last hit.", enum=list(get_args(Reason)))
    ]
    sentence: Annotated[str, doc("The reason in words.")]
    rank: Annotated[
        int | None, doc("Among the hits, else among the candidates; as if proposed with `not_proposed`; or null.")
    ]
    score: Annotated[float | None, doc("Its score; null for what the search does not rank.")]
    last_score: Annotated[float | None, doc("Score of the last hit; null without one.")]
    ranks: Annotated[dict[str, int], doc("Its rank in each ranking, among all memories that the search allows.")]
    conditions: Annotated[list[str], doc("Fields of the filter that exclude it, or words and phrases that it lacks.")]
    superseded_by: fields.MemoryId | None
    explain: Annotated[Explanation | None, doc("The factors of `score`.")]


class SearchReply(Struct, frozen=True, kw_only=True):
    """Hits, best first."""

    hits: list[HitReply]
    total: Annotated[int, doc("Memories that could have been hits.")]
    evidence: Annotated[Evidence, doc("Whether anything here is about the query; none is no fault.")]
    strength: Annotated[float, doc("Number on which `evidence` is based, from 0 up.", ge=0)]
    thresholds: Thresholded
    strategy: Annotated[Mode, doc("The mode that ran.")]
    degraded: Annotated[list[str], doc("Parts of the request that could not be done, in words.")]
    seq: fields.SeqText
    receipt: Annotated[str, doc("Id of the receipt, when one was asked for.")] | UnsetType = UNSET
    intent: IntentReply | UnsetType = UNSET
    instructions: Instructions = UNSET
    applies: Sure
    left_out: LeftOut
    nearest: Nearest = UNSET
    evidence_reason: Annotated[str, doc(_EVIDENCE_REASON)] | UnsetType = UNSET
    explained: Annotated[
        list[ReasonedReply] | UnsetType,
        doc("With `explain_ids`: one entry for each, in their order.", examples=[[_BELOW]]),
    ] = UNSET

    @classmethod
    def of(cls, answer: Answer, receipt: str | UnsetType = UNSET) -> "SearchReply":
        return cls(
            hits=cast(list[HitReply], list(answer.hits)),
            total=answer.total,
            evidence=answer.evidence,
            strength=answer.strength,
            thresholds=answer.thresholds,
            strategy=answer.strategy,
            degraded=list(answer.degraded),
            seq=str(answer.seq),
            receipt=receipt,
            intent=UNSET if answer.intent is None else cast(IntentReply, answer.intent),
            instructions=instructions_of(answer.instructions),
            applies=answer.applies,
            left_out=answer.left_out,
            nearest=nearest_of(answer),
            evidence_reason=UNSET if answer.evidence_reason is None else answer.evidence_reason,
            explained=cast(list[ReasonedReply], list(answer.explained)) or UNSET,
        )


class PartReply(Reply, frozen=True, kw_only=True):
    """The part of one space in an answer, and the point in its history that was searched."""

    name: fields.SpaceName
    weight: float
    seq: fields.SeqText
    total: int
    evidence: Evidence
    strength: float
    thresholds: Thresholded
    strategy: Mode


class JointReply(Reply, frozen=True, kw_only=True):
    """Hits of several spaces, best first; `memory.space` names the space of each. `evidence` is the best of theirs."""

    hits: list[HitReply]
    total: Annotated[int, doc("Memories that could have been hits, in all spaces.")]
    evidence: Evidence
    strength: Annotated[float, Meta(ge=0)]
    strategy: Annotated[Mode, doc("The mode that ran, in any space.")]
    degraded: Annotated[list[str], doc("Parts that could not be done, each with its space.")]
    spaces: list[PartReply]
    intent: IntentReply | UnsetType = UNSET
    instructions: Instructions = UNSET
    applies: Sure
    left_out: LeftOut
    nearest: Nearest = UNSET

    @classmethod
    def of(cls, value: JointAnswer, /, **more: Any) -> Self:
        return super().of(value, instructions=instructions_of(value.instructions), nearest=nearest_of(value), **more)
