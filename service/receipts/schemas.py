"""Replies about receipts and their replay."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.context import Context
from muisti.core.model.hits import Answer, Evidence, Mode
from muisti.core.model.quality import Moved, Receipt, Why
from muisti.service.schemas import fields
from muisti.service.schemas.context import ContextReply
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc
from muisti.service.schemas.replies import Cursor
from muisti.service.schemas.search import SearchReply

ReceiptId = Annotated[
    str, doc("Id of a receipt, a UUIDv7.", format="uuid", examples=["0197a3c0-5f4e-7000-8000-0123456789af"])
]


class ReceiptHitReply(Reply, frozen=True, kw_only=True):
    """A hit of the recorded search, in its version then. `rank` counts from 1; `ranks` has its rank in each ranking."""

    named = {"id": "memory_id"}

    rank: int
    id: fields.MemoryId
    version: int
    score: float
    ranks: dict[str, int]


class ReceiptReply(Reply, frozen=True, kw_only=True):
    """A recorded search: its request, the state of the space, and its hits."""

    within = ("told",)
    named = {"seq": "at"}

    id: ReceiptId
    space: fields.SpaceName
    made_at: fields.Time
    actor: str
    parameters: Annotated[dict[str, Any], doc("The request, with the defaults of what it left out.")]
    reference_time: fields.Time
    generation: Annotated[str | None, doc("The model that had embedded the space.")]
    seq: fields.SeqText
    total: int
    evidence: Evidence
    strategy: Mode
    degraded: list[str]
    hits: list[ReceiptHitReply]

    @classmethod
    def of(cls, value: Receipt, /, **more: Any) -> Self:
        return super().of(value, parameters=msgspec.json.decode(value.parameters), **more)


class ListedReceiptReply(Reply, frozen=True, kw_only=True):
    """A receipt in a list, without its memories: `hits` is their number."""

    named = {"seq": "at"}

    id: ReceiptId
    made_at: fields.Time
    actor: Annotated[str, doc("Who asked, as in the audit log.")]
    kind: Literal["search", "context"]
    query: str
    evidence: Evidence
    strategy: Mode
    total: Annotated[int, doc("Memories that could have been hits.", ge=0)]
    hits: Annotated[int, doc("Memories in the answer.", ge=0)]
    seq: fields.SeqText


class ReceiptsReply(Reply, frozen=True, kw_only=True):
    """Receipts, newest first."""

    items: list[ListedReceiptReply]
    next_cursor: Cursor


class MovedReply(Reply, frozen=True, kw_only=True):
    """A memory whose rank changed; null where it is not in the answer."""

    named = {"id": "memory_id"}

    id: fields.MemoryId
    before: int | None
    after: int | None
    why: Annotated[
        str,
        doc(
            "Reason; `status`: it is not active any more; `model`: the space was embedded again; "
            "`others`: only the ranks of other memories changed.",
            enum=list(get_args(Why)),
        ),
    ]
    superseded_by: fields.MemoryId | UnsetType = UNSET


class ReplayReply(Struct, frozen=True, kw_only=True):
    """The search or context made again, and its differences from the receipt: first memories of the receipt."""

    same: Annotated[bool, doc("Whether the same memories have the same ranks.")]
    differences: list[MovedReply]
    answer: Annotated[SearchReply, doc("Of a search.")] | UnsetType = UNSET
    context: Annotated[ContextReply, doc("Of a context.")] | UnsetType = UNSET
    at: datetime

    @classmethod
    def of(cls, moved: tuple[Moved, ...], answer: Answer | Context, at: datetime) -> "ReplayReply":
        is_context = isinstance(answer, Context)
        return cls(
            same=not moved,
            differences=[MovedReply.of(one) for one in moved],
            answer=UNSET if is_context else SearchReply.of(answer),
            context=ContextReply.of(answer) if is_context else UNSET,
            at=at,
        )
