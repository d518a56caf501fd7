"""Spaces with their settings and policies. Frozen and without I/O, as all of `core.model`."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from muisti.core.model.choices import OFF, Echoes, GraphSwitch, Screening
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Seq

Field = Literal["content", "key", "tags", "category", "author", "reason"]
QUOTA_MAX = 2**53  # the largest integer that every JSON reader represents exactly
DEFAULT = "default"  # the space that always exists
SPACE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


def check_name(name: str) -> None:
    """Raise `InvalidInput` unless `name` may name a space."""
    if not SPACE_NAME.fullmatch(name):
        raise InvalidInput.at(
            "$.name",
            f"{name[:80]!r} is no name for a space: 1 to 63 of a-z, 0-9, '.', '_', '-', the first a letter or digit",
        )


DESCRIPTION_MAX = 2_000  # characters
TITLE_MAX = 255
LABELS_MAX = 16
LABEL_NAME_MAX, LABEL_MAX = 64, 512  # characters


class SpaceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a space. Those of its index are fixed when it is created.

    `lexical_weights` has the weight of each field in the keyword index; a missing field is not indexed.
    `embedded_fields` are the fields whose text is joined and embedded. `description` says what the space is for.
    `title` and `labels` are a memory store's name and metadata, `changed_us` the time when a store was last described.
    """

    lexical_weights: Mapping[Field, float] = msgspec.field(
        default_factory=lambda: {"content": 1.0, "key": 0.5, "tags": 0.5, "category": 0.3, "author": 0.3, "reason": 0.3}
    )
    embedded_fields: tuple[Field, ...] = ("key", "content", "tags", "reason")
    description: str | None = None
    title: str | None = None
    labels: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    changed_us: int | None = None


CONTENT_ONLY = SpaceSettings(lexical_weights={"content": 1.0}, embedded_fields=("content",))


PolicyValue = str | float | tuple[str, ...]


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a space: what it stores, how long it keeps it, and its default recency. None: the server's default.

    From a cosine of `similarity_limit` on, a new memory is refused as similar to a current one. This holds whatever the
    rules for duplicates and contradictions say; with None those rules decide alone. Below a cosine of `review_limit`,
    what may contradict a memory opens no review. `history_days` is how long ended
    versions are kept, 0 for ever. Memories are purged `purge_after_days` after they were created, never where that is
    None for the server too. `recency_weight` and `recency_half_life_days` are for searches that name no recency; weight
    0 is none. `inherits` names the spaces that searches may add to this one, the nearest first. With `graph` off
    no memory is read into the knowledge graph. `second_model` names the second model, "off" for none.
    `time_zone` is that of words such as "today" in searches that name none; None is UTC.
    From `archived_us` on, the space takes no text; what is there can be read and deleted.
    """

    secrets: Screening | None = None
    personal_data: Screening | None = None
    echoes: Echoes | None = None
    history_days: float | None = None
    purge_after_days: float | None = None
    similarity_limit: float | None = None
    review_limit: float | None = None
    recency_weight: float | None = None
    recency_half_life_days: float | None = None
    inherits: tuple[str, ...] | None = None
    graph: GraphSwitch | None = None
    second_model: str | None = None
    time_zone: str | None = None
    archived_us: int | None = None

    def over(self, default: "Policy") -> "Policy":
        """Return this policy, with the rules of `default` where this one has None.

        >>> policy = Policy(secrets="allow", history_days=0).over(Policy(secrets="refuse", history_days=365))
        >>> policy.secrets, policy.history_days
        ('allow', 0)
        """
        return Policy(
            secrets=self.secrets or default.secrets,
            personal_data=self.personal_data or default.personal_data,
            echoes=self.echoes or default.echoes,
            history_days=default.history_days if self.history_days is None else self.history_days,
            purge_after_days=self.purge_after_days or default.purge_after_days,
            similarity_limit=self.similarity_limit or default.similarity_limit,
            review_limit=self.review_limit or default.review_limit,
            recency_weight=default.recency_weight if self.recency_weight is None else self.recency_weight,
            recency_half_life_days=self.recency_half_life_days or default.recency_half_life_days,
            inherits=self.inherits or default.inherits,
            graph=self.graph or default.graph,
            second_model=self.second_model or default.second_model,
            time_zone=self.time_zone or default.time_zone,
            archived_us=self.archived_us,
        )


USUAL_POLICY = Policy(
    secrets="refuse", personal_data="allow", echoes="flag", history_days=0.0, graph="on", second_model=OFF
)


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """An isolated store. `generation` is the hash of the model that embedded it, None before the first vector.

    `shadow` is the hash of a second model that embeds new text too. It is one that is being built or compared, or the
    one that embedded the space before (`shadow_served`).

    `second` is the hash of a further model whose vectors searches use beside those of `generation`; its vectors come in
    the background.

    `policy` has the rules that were set for this space, without the server's defaults.
    """

    name: str
    epoch: str
    seq: int
    created_at: datetime
    settings: SpaceSettings
    generation: str | None
    policy: Policy = Policy()
    shadow: str | None = None
    shadow_served: bool = False
    second: str | None = None

    @property
    def at(self) -> Seq:
        return Seq(self.epoch, self.seq)


def check_open(space: Space) -> None:
    """Raise `InvalidInput` when a space is archived, so that it takes no text."""
    if space.policy.archived_us is not None:
        raise InvalidInput.at("$", f"the space {space.name!r} is archived: it can be read and deleted, not written")
