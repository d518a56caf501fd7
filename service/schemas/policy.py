"""Policies, quotas and spaces: requests and replies."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self, cast, get_args

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from muisti.core.model.choices import (
    HALF_LIFE_DAYS,
    HALF_LIFE_MIN,
    OFF,
    SIMILARITY_MIN,
    SPACES_MAX,
    Echoes,
    GraphSwitch,
    Screening,
)
from muisti.core.model.outcomes import Flag, FlagCode, SpaceUse, Usage
from muisti.core.model.spaces import Field, Policy, PolicyValue, Space, SpaceSettings
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, Same
from muisti.service.schemas.fields import doc

_SCREENING = {"enum": list(get_args(Screening))}

Secrets = Annotated[
    str,
    doc(
        "What looks like a password, key or token: `refuse` it, `redact` it (a word replaces it) or `allow` it.",
        **_SCREENING,
    ),
]
PersonalData = Annotated[
    str, doc("E-mail addresses, telephone numbers, credit cards and bank accounts: the same.", **_SCREENING)
]


EchoPolicy = Annotated[
    str,
    doc(
        "A new memory that only repeats what its author has just found: `refuse` it, `flag` it (it counts "
        "as derived from that) or `allow` it.",
        enum=list(get_args(Echoes)),
    ),
]


HistoryDays = Annotated[
    float, doc("Days to keep versions that were changed, superseded or deleted; 0: for ever.", ge=0, le=36_500)
]
PurgeAfterDays = Annotated[
    float, doc("Days after which a memory is purged, from its creation on; null: never.", gt=0, le=36_500)
]
SimilarityLimit = Annotated[
    float,
    doc(
        "Cosine from which a new memory is refused as a duplicate or contradiction of a current one, "
        "whatever the rules say; null: the rules alone.",
        ge=SIMILARITY_MIN,
        le=1,
    ),
]
ReviewLimit = Annotated[
    float,
    doc(
        "Least cosine at which a new memory that may contradict a current one opens a conflict; null: the rules alone.",
        ge=SIMILARITY_MIN,
        le=1,
    ),
]


RecencyWeight = Annotated[
    float, doc("Weight of the recency of searches that name none; 0: age costs nothing.", ge=0, le=1)
]
RecencyHalfLifeDays = Annotated[float, doc("Half-life of that recency, in days.", ge=HALF_LIFE_MIN, le=36_500)]


Inherits = Annotated[
    list[fields.SpaceName],
    doc("Spaces that a search with `inherit_from` adds to this one, the nearest first.", maxItems=SPACES_MAX - 1),
]


Graph = Annotated[
    str,
    doc(
        "Whether the names and facts of memories are read into the knowledge graph: `on` or `off`.",
        enum=list(get_args(GraphSwitch)),
    ),
]


SecondModel = Annotated[
    str,
    doc(
        "Second embedder, whose vectors searches use beside those of the space's model: `off`, `minilm` or "
        "another model of the server. Its vectors come in the background.",
        min_length=1,
        max_length=200,
        examples=["minilm"],
    ),
]


DefaultZone = Annotated[
    str,
    doc(
        "Zone of words like today in searches, contexts and recalls that name none: an IANA name or offset.",
        maxLength=64,
        examples=["Europe/Helsinki"],
    ),
]


class PolicyBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to the policy. A field that is left out stays as it is; null is the default of the server."""

    secrets: Secrets | UnsetType | None = UNSET
    personal_data: PersonalData | UnsetType | None = UNSET
    echoes: EchoPolicy | UnsetType | None = UNSET
    history_days: HistoryDays | UnsetType | None = UNSET
    purge_after_days: PurgeAfterDays | UnsetType | None = UNSET
    similarity_limit: SimilarityLimit | UnsetType | None = UNSET
    review_limit: ReviewLimit | UnsetType | None = UNSET
    recency_weight: RecencyWeight | UnsetType | None = UNSET
    recency_half_life_days: RecencyHalfLifeDays | UnsetType | None = UNSET
    inherits: Inherits | UnsetType | None = UNSET
    graph: Graph | UnsetType | None = UNSET
    second_model: SecondModel | UnsetType | None = UNSET
    time_zone: DefaultZone | UnsetType | None = UNSET

    def changes(self) -> dict[str, PolicyValue | None]:
        given = {name: value for name, value in asdict(self).items() if not isinstance(value, UnsetType)}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


_USUAL: Mapping[str, Any] = {
    **dict.fromkeys(("secrets", "personal_data", "echoes"), "allow"),
    **dict.fromkeys(("history_days", "recency_weight"), 0.0),
    **{"recency_half_life_days": HALF_LIFE_DAYS, "inherits": [], "graph": "on", "second_model": OFF},
    "time_zone": "UTC",
}


class PolicyReply(Reply, frozen=True, kw_only=True):
    """Policy of a space, with the defaults of the server. Its rules on new texts apply to later writes only."""

    secrets: Secrets
    personal_data: PersonalData
    echoes: EchoPolicy
    history_days: HistoryDays
    purge_after_days: PurgeAfterDays | None
    similarity_limit: SimilarityLimit | None
    review_limit: ReviewLimit | None
    recency_weight: RecencyWeight
    recency_half_life_days: RecencyHalfLifeDays
    inherits: Inherits
    graph: Graph
    second_model: SecondModel
    time_zone: DefaultZone

    @classmethod
    def of(cls, value: Policy, /, **more: Any) -> Self:
        unset = {name: usual for name, usual in _USUAL.items() if not getattr(value, name)}
        return super().of(value, **unset, **more)


class FlagReply(Same, frozen=True, kw_only=True):
    """A difference between a write and its request.

    `redacted`: something was taken out at `path`, of which `kind` says what it looked like. `suspected`: something
    there may be a secret (`kind`), too unsure to refuse or to take out, and is stored. `trust_lowered`: it is
    trusted less than its source class (`kind`), for it is derived from `ids`. `echo`: it only repeats `ids`,
    which its author has just found, and counts as derived from them.
    """

    code: FlagCode
    path: Annotated[
        str, doc("Where in the request; `$.memories[ID]…` where that names no memory.", examples=["$.content"])
    ]
    kind: Annotated[str | None, doc("Such as `aws-access-key` or `email`.")]
    ids: Annotated[list[fields.MemoryId], doc("The memories that are the reason.")]


def flagged(flags: Iterable[Flag]) -> list[FlagReply]:
    return cast(list[FlagReply], list(flags))


# Requests and replies about the quota of a space


class AmountReply(Reply, frozen=True, kw_only=True):
    """Use and limit of one amount; a null limit means none."""

    used: int
    limit: int | None


class QuotaReply(Reply, frozen=True, kw_only=True):
    """Use and quota of a space.

    Counted are memories that are not deleted, also those that have expired or are superseded. Sessions, conversations,
    topics and statements of the graph count as memories. Bytes are those of texts, tags and metadata.
    """

    memories: AmountReply
    bytes: AmountReply

    @classmethod
    def of(cls, value: Usage, /, **more: Any) -> Self:
        memories = AmountReply(used=value.memories, limit=value.quota.memories)
        return cls(memories=memories, bytes=AmountReply(used=value.bytes, limit=value.quota.bytes))


# Requests and replies about spaces


class SpaceSettingsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that are fixed at creation: the weight of each field in the keyword index, and the embedded fields."""

    lexical_weights: dict[str, float] | UnsetType = UNSET
    embedded_fields: list[Literal["content", "key", "tags", "category", "author", "reason"]] | UnsetType = UNSET

    def settings(self, description: str | None = None) -> SpaceSettings:
        plain = SpaceSettings()
        weights = plain.lexical_weights if self.lexical_weights is UNSET else self.lexical_weights
        embedded = plain.embedded_fields if self.embedded_fields is UNSET else tuple(self.embedded_fields)
        weighted = cast(Mapping[Field, float], weights)
        return SpaceSettings(lexical_weights=weighted, embedded_fields=embedded, description=description)


class SpaceBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A space to create. Its description is fixed, as its settings are."""

    name: fields.SpaceName
    description: fields.SpaceDescription | None = None
    settings: SpaceSettingsBody = SpaceSettingsBody()


class SpaceSettingsReply(Reply, frozen=True, kw_only=True):
    """Settings that were fixed when the space was created."""

    lexical_weights: dict[str, float]
    embedded_fields: list[str]


class SpaceReply(Reply, frozen=True, kw_only=True):
    """A space. `generation` is the model that embedded it, null before the first vector."""

    within = ("settings",)
    named = {"seq": "at"}

    name: fields.SpaceName
    epoch: Annotated[str, doc("Changes when the space is created again.")]
    seq: fields.SeqText
    created_at: datetime
    settings: SpaceSettingsReply
    policy: PolicyReply
    generation: str | None
    description: fields.SpaceDescription | None


class SpaceUseReply(Same, frozen=True, kw_only=True):
    """The size of a space, as its quota counts it."""

    memories: Annotated[int, doc("Memories and objects that are not deleted.", ge=0)]
    bytes: Annotated[int, doc("Bytes of what callers stated.", ge=0)]
    last_change_at: Annotated[datetime | None, doc("Null before the first change.")]


class ListedSpaceReply(SpaceReply, frozen=True, kw_only=True):
    """A space in a list, with its size."""

    use: Annotated[SpaceUseReply | None, doc("Null for a key that does not see the whole space.")]


class SpacesReply(Struct, frozen=True, kw_only=True):
    """All spaces, by name."""

    items: list[ListedSpaceReply]
    next_cursor: None = None

    @classmethod
    def of(cls, spaces: Iterable[Space], uses: Mapping[str, SpaceUse]) -> "SpacesReply":
        """Return spaces with what `uses` has of them, by epoch."""
        return cls(items=[ListedSpaceReply.of(space, use=uses.get(space.epoch)) for space in spaces])
