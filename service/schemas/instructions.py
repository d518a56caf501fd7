"""Standing instructions beside the hits of a search."""

from collections.abc import Iterable
from typing import Annotated, cast

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.hits import Instruction, InstructionReason
from muisti.service.schemas.replies import MemoryReply
from muisti.service.schemas.suggestions import Scope


class InstructionReply(Struct, frozen=True, kw_only=True):
    """A standing instruction that applies to the question, judged by its scope clause or its sentence."""

    memory: MemoryReply
    reason: Annotated[
        InstructionReason, Meta(description="type: it is a guard; rule: its text reads like an instruction.")
    ]
    scope: Scope
    score: Annotated[float, Meta(description="Cosine of the question with the clause or the sentence.")]


Instructions = (
    Annotated[
        list[InstructionReply],
        Meta(description="Standing instructions that apply, best first, whatever the evidence; absent for none."),
    ]
    | UnsetType
)


def instructions_of(found: Iterable[Instruction]) -> Instructions:
    """Return the instructions themselves: they have these fields, so they encode to the same bytes."""
    return cast(list[InstructionReply], list(found)) or UNSET
