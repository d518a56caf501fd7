"""Bodies and replies of contexts: what goes into a prompt, and what that rests on."""

from typing import Annotated, Any, Literal, Self, cast

from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.choices import CONTEXT_MAX, CONTEXT_MIN, SPACES_MAX
from muisti.core.model.context import (
    TEMPLATE_MAX,
    TURNS_MAX,
    Citation,
    Compress,
    Context,
    LeftOut,
    Section,
    SectionName,
    SpaceRead,
    Wanted,
)
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Evidence, Mode
from muisti.core.model.times import to_us
from muisti.core.query import filters, points
from muisti.core.query.query import Part
from muisti.core.text.when.zones import zone_of
from muisti.core.views.read import ENCODINGS, USUAL, Request
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, copied
from muisti.service.schemas.fields import doc
from muisti.service.schemas.search_requests import PartBody, RecencyBody

Ranked = Literal["hybrid", "semantic", "keyword"]


class SectionBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section of a context. Room that it does not use goes to the sections after it, and to `memories` last."""

    max_tokens: Annotated[
        int | None, doc("Tokens at most, the title included; null: all that is left.", minimum=1, maximum=CONTEXT_MAX)
    ] = None
    turns: Annotated[int, doc("Memories of the section `recent` at most.", minimum=1, maximum=TURNS_MAX)] = 4


class HandoffBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The work that the next agent takes over."""

    about: Annotated[str, doc("Its task; without one the newest comes first.", examples=["cache"])] = ""
    token_budget: Annotated[int, doc("Tokens of the whole text at most.", minimum=CONTEXT_MIN, maximum=CONTEXT_MAX)] = (
        1_500
    )
    encoding: Annotated[str, doc("The encoding that tokens are counted in, exactly.", enum=list(ENCODINGS))] = USUAL


class ContextBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A context to be made."""

    query: Annotated[
        str, doc("What the context is for. Quotation marks demand nothing.", examples=["where do we meet?"])
    ]
    token_budget: Annotated[int, doc("Tokens of the whole text at most.", minimum=CONTEXT_MIN, maximum=CONTEXT_MAX)] = (
        1_000
    )
    encoding: Annotated[
        str,
        doc(
            "The encoding that tokens are counted in, exactly. Others are refused: no estimates.", enum=list(ENCODINGS)
        ),
    ] = USUAL
    conversation: Annotated[str | None, doc("Name of the conversation that the agent is in.")] = None
    spaces: Annotated[
        list[PartBody],
        doc(
            "Spaces to search beside this one, whose weight is 1 unless it is named here. The key "
            "must open each. Turns and summaries are of this space alone.",
            maxItems=SPACES_MAX,
            examples=[[{"name": "global", "weight": 0.8}]],
        ),
    ] = []
    sections: Annotated[
        dict[str, SectionBody] | None,
        doc(
            "Sections by name, in the order in which they are shown: profile, instructions, recent, "
            "summaries, about, facts, documents, decided, tried, failed, rejected, open, memories. `about` has facts "
            "of the graph about what the query names. "
            "By default memories, behind recent turns when a conversation is named.",
            examples=[{"profile": {"max_tokens": 256}, "memories": {}}],
        ),
    ] = None
    compress: Annotated[
        Compress, doc("`long`: long memories may be shown in pieces; `never`: all are shown whole.")
    ] = "long"
    template: Annotated[
        str | None,
        doc(
            "A text with $context, or $notice, $query and $profile … $memories, in place of our layout.",
            maxLength=TEMPLATE_MAX,
            examples=["<memory>\n$context</memory>"],
        ),
    ] = None
    mode: Annotated[Ranked, doc("How the memories are ranked.")] = "hybrid"
    filter: fields.FilterJson | None = None
    recency: RecencyBody | None = None
    as_of: fields.AsOf | None = None
    reference_time: fields.Time | None = None
    time_zone: fields.TimeZone | None = None
    min_evidence: Annotated[
        Literal["none", "weak", "strong"],
        doc("The section memories is empty when there is less evidence. With `none` a line says so."),
    ] = "none"
    fill: Annotated[bool, doc("Fill the budget, also with memories that say little beside the best.")] = False
    receipt: Annotated[bool, doc("Keep what was asked and answered; `receipt` in the answer.")] = False
    no_touch: Annotated[bool, doc("Do not count the memories as retrieved.")] = False
    instructions: Annotated[
        bool | None,
        doc(
            "Show standing instructions that apply, in a section before the others, if there are any. By "
            "default when `sections` is left out."
        ),
    ] = None

    def to_request(self) -> Request:
        """Return the request for the core.

        Raises:
            InvalidInput: a receipt of several spaces is asked for, or a filter or a point cannot be read.
        """
        if self.receipt and self.spaces:
            raise InvalidInput.at("$.receipt", "a receipt is of one space; leave out spaces or receipt")
        sections = None if self.sections is None else {name: copied(Wanted, one) for name, one in self.sections.items()}
        return copied(
            Request,
            self,
            spaces=[Part(part.name, part.weight) for part in self.spaces],
            sections=cast("dict[SectionName, Wanted] | None", sections),
            filter=None if self.filter is None else filters.parse(self.filter),
            recency=None if self.recency is None else self.recency.recency(),
            as_of=points.parse(self.as_of),
            reference_time=None if self.reference_time is None else to_us(self.reference_time),
            time_zone=zone_of(self.time_zone, self.reference_time),
        )


class ContextReply(Reply, frozen=True, kw_only=True):
    """A text for a prompt, its exact size, and what it rests on."""

    text: str
    tokens: Annotated[int, doc("Tokens of `text`, counted exactly; never more than the budget.")]
    token_budget: int
    encoding: str
    evidence: Annotated[Evidence, doc("Whether anything here is about the query; none is no fault.")]
    strength: Annotated[float, doc("Number on which `evidence` is based, from 0 up.", ge=0)]
    strategy: Annotated[Mode, doc("The mode that ran.")]
    sections: tuple[Section, ...]
    citations: tuple[Citation, ...]
    left_out: Annotated[tuple[LeftOut, ...], doc("The best of what was found and left out.")]
    left_out_total: int
    next_budget: Annotated[int | None, doc("The budget with which the best of these would fit.")]
    degraded: Annotated[tuple[str, ...], doc("Parts of the request that could not be done, in words.")]
    spaces: Annotated[tuple[SpaceRead, ...], doc("The spaces that were read.")]
    seq: fields.SeqText
    receipt: Annotated[str, doc("Id of the receipt, when one was asked for.")] | UnsetType = UNSET

    @classmethod
    def of(cls, value: Context, receipt: str | UnsetType = UNSET, /, **more: Any) -> Self:
        return super().of(value, receipt=receipt, **more)
