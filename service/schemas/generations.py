"""Requests and replies about the models of a space."""

from collections.abc import Iterable
from typing import Annotated, Any, Self, get_args

from msgspec import Struct

from muisti.core.model.generations import (
    K_MAX,
    QUERIES_MAX,
    Generation,
    Judged,
    Role,
    without_place,
)
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

Identity = Annotated[str, doc("Hash of the model.", examples=["5f0d2a9c41b7e8835f0d2a9c41b7e883"])]
ModelName = Annotated[
    str,
    doc(
        "A model of the server: its name, its hash, or the first 12 or more characters of the hash.",
        minLength=1,
        examples=["muisti-static-256"],
    ),
]
RoleName = Annotated[
    str,
    doc(
        "`current` answers searches. `shadow` embeds new text too. `left` has vectors that nothing uses.",
        enum=list(get_args(Role)),
    ),
]


class BuildBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that is to embed the space."""

    model: ModelName


class SwitchBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions of exchanging the model of a space."""

    force: Annotated[bool, doc("Also when vectors are missing, which rank by keyword, or the probes find less.")] = (
        False
    )


class CompareBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Questions to ask both models, beside the probes of the space."""

    k: Annotated[int, doc("Number of memories to compare.", minimum=1, maximum=K_MAX)] = 10
    queries: Annotated[list[str], doc("Questions without known answers.", maxItems=QUERIES_MAX)] = []
    qrels: Annotated[
        dict[str, dict[str, float]],
        doc(
            "Grades above 0 of memories by id, for each question.",
            examples=[{"when do we deploy?": {"0197a3c0-5f4e-7000-8000-0123456789ab": 1}}],
        ),
    ] = {}

    def judged(self) -> Judged:
        return Judged(k=self.k, queries=tuple(self.queries), qrels=self.qrels)


class GenerationReply(Reply, frozen=True, kw_only=True):
    """A model that has embedded memories of the space."""

    generation: Identity
    model: Annotated[str, doc("Name of the model.")]
    dimensions: int
    created_at: fields.Time
    role: RoleName
    passages: Annotated[int, doc("Passages of current memories.")]
    embedded: Annotated[int, doc("Those of them that have a vector of the model.")]
    missing: Annotated[int, doc("Those of them that have none.")]
    available: Annotated[bool, doc("Whether the server has the model.")]
    served: Annotated[bool, doc("Whether a roll-back leads to it.")]

    @classmethod
    def of(cls, value: Generation, /, *, places: bool = True, **more: Any) -> Self:
        """Make the reply; without `places`, names lack folders and hosts."""
        model = value.model if places else without_place(value.model)
        return super().of(value, generation=value.identity, model=model, **more)


class GenerationsReply(Struct, frozen=True, kw_only=True):
    """The models of a space, and the names of the models that the server has."""

    items: list[GenerationReply]
    models: Annotated[
        list[str], doc("Models of the server, the default first. Keys without `admin` see no folders and hosts.")
    ]
    next_cursor: None = None

    @classmethod
    def of(cls, found: Iterable[Generation], models: Iterable[str], *, places: bool = True) -> "GenerationsReply":
        """Make the reply; without `places`, names lack folders and hosts."""
        names = [name if places else without_place(name) for name in models]
        return cls(items=[GenerationReply.of(one, places=places) for one in found], models=names)


class MeasuredReply(Reply, frozen=True, kw_only=True):
    """Answers of one model."""

    named = {"generation": "identity"}

    generation: Identity
    recall: Annotated[float | None, doc("Share of the probes that found theirs; null without any.")]
    ndcg: Annotated[float | None, doc("nDCG at k of the judged questions; null without any.")]
    ms: Annotated[float, doc("Median milliseconds of a search.")]


class ComparedReply(Reply, frozen=True, kw_only=True):
    """The model of a space and its shadow, asked the same questions."""

    k: int
    questions: Annotated[int, doc("Number of different questions, those of the probes included.")]
    probes: int
    judged: int
    overlap: Annotated[float | None, doc("Mean share of the first k memories that both find; null without a question.")]
    current: MeasuredReply
    shadow: MeasuredReply
    missing: Annotated[int, doc("Passages without a vector of the shadow, which rank by keyword only.")]


class DroppedReply(Reply, frozen=True, kw_only=True):
    """A model whose vectors were deleted."""

    generation: Identity
    dropped: Annotated[int, doc("Vectors deleted.")]
