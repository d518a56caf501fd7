"""The fields that requests and replies share, each with its description for the OpenAPI document.

Limits are here for the reader only; `core.write.validate` enforces them, with messages that say limit and value.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

from muisti.core.model.hits import Decay, Fusion, Match, Mode
from muisti.core.model.terms import (
    CONTENT_MAX,
    INSTRUCTIONS_MAX,
    Importance,
    OnConflict,
    Preset,
    SecondQuery,
    SourceClass,
    Status,
    TagRule,
    Type,
)
from muisti.core.model.terms import Verdict as VerdictTerm
from muisti.core.model.values import (
    DOCUMENT_MAX,
    LIMIT_MAX,
    NAME_MAX,
    QUERY_MAX,
    REASON_MAX,
    SOURCES_MAX,
    TAGS_MAX,
    Kind,
    StatedKind,
)
from muisti.core.model.values import MemoryId as MemoryId
from muisti.core.model.values import SeqText as SeqText
from muisti.core.model.values import SpaceName as SpaceName
from muisti.core.query.options import WINDOW_MAX
from muisti.core.query.query import TRUST_WEIGHT_MAX

_NAME = {"minLength": 1, "maxLength": NAME_MAX}


def _enum(names: tuple[str, ...]) -> dict[str, object]:
    return {"enum": list(names)}


def _words(choices: Any) -> dict[str, object]:
    """Return the schema of a `Literal` of strings, in its own order; msgspec refuses any other value."""
    return {"type": "string", "enum": list(get_args(choices))}


SpaceDescription = Annotated[
    str, Meta(description="What the space is for.", min_length=1, max_length=2_000, examples=["Notes of the shop"])
]
Content = Annotated[
    str,
    Meta(
        description="The text to remember: not blank, no NUL.",
        extra_json_schema={"minLength": 1, "maxLength": CONTENT_MAX},
        examples=["We deploy on Fridays; ticket QX-991"],
    ),
]
KindName = Annotated[str, Meta(description="What it is a piece of.", extra_json_schema=_enum(get_args(StatedKind)))]
AnyKind = Annotated[
    str,
    Meta(
        description="What it is a piece of; `session`, `conversation`, `topic`, `summary` and `document` order other "
        "memories.",
        extra_json_schema=_enum(get_args(Kind)),
    ),
]
Category = Annotated[
    str,
    Meta(
        description="A group of memories; compares without case. With `key` it is an address, unique in the space.",
        extra_json_schema=_NAME,
        examples=["rules"],
    ),
]
Key = Annotated[str, Meta(description="A name within the category.", extra_json_schema=_NAME, examples=["deploy"])]
TypeName = Annotated[str, Meta(description="What sort of thing it says.", extra_json_schema=_enum(get_args(Type)))]
StatusName = Annotated[
    str,
    Meta(
        description="Only active memories are listed and searched unless a filter names `status`.",
        extra_json_schema=_enum(get_args(Status)),
    ),
]
ImportanceName = Annotated[
    str, Meta(description="A more important memory ranks higher.", extra_json_schema=_enum(get_args(Importance)))
]
Author = Annotated[str, Meta(description="Who said it; compares without case.", extra_json_schema=_NAME)]
Reason = Annotated[
    str,
    Meta(description="Why it is worth remembering.", extra_json_schema={"minLength": 1, "maxLength": REASON_MAX}),
]
Source = Annotated[str, Meta(description="Where it comes from, such as a URL.", extra_json_schema=_NAME)]
SourceClassName = Annotated[
    str,
    Meta(
        description="What said it, for its trust: `user` 100, `tool` 80, `model` 60, `unknown` 50, `web` 20.",
        extra_json_schema=_enum(get_args(SourceClass)),
    ),
]
Trust = Annotated[
    int,
    Meta(
        description="Percent: that of its source class, or the lowest of the memories that it is derived from.",
        extra_json_schema={"minimum": 0, "maximum": 100},
    ),
]
DerivedFrom = Annotated[
    list[MemoryId],
    Meta(
        description="Ids of the memories that it was made from; it is trusted no more than any of them.",
        extra_json_schema={"maxItems": SOURCES_MAX},
    ),
]
InstructionsMost = Annotated[
    int,
    Meta(
        description="At most so many standing instructions that apply to the question, beside the hits; 0 for none.",
        extra_json_schema={"minimum": 0, "maximum": INSTRUCTIONS_MAX},
    ),
]
TrustWeight = Annotated[
    float,
    Meta(
        description="Share of its score that a memory loses that is not trusted at all; the score is multiplied by 1 - "
        "trust_weight * (1 - trust / 100).",
        extra_json_schema={"minimum": 0, "maximum": TRUST_WEIGHT_MAX},
    ),
]
Tags = Annotated[
    list[Annotated[str, Meta(extra_json_schema=_NAME)]],
    Meta(
        description="Labels; compare without case.",
        extra_json_schema={"maxItems": TAGS_MAX},
        examples=[["release", "team"]],
    ),
]
Metadata = Annotated[
    dict[str, Any],
    Meta(
        description="Any JSON, filtered as `metadata.<path>`: at most 16,384 bytes, 10 levels.",
        examples=[{"session": "s1", "turn": 3}],
    ),
]
Time = Annotated[datetime, Meta(description="RFC 3339, with time zone.", tz=True)]
AsOf = Annotated[
    str | int,
    Meta(description="Show an earlier state: a time, or a point in history, whole or its number."),
]
EventAt = Annotated[datetime, Meta(description="When it happened or was true; RFC 3339, with time zone.", tz=True)]
ValidFrom = Annotated[datetime, Meta(description="When the text becomes true; RFC 3339, with time zone.", tz=True)]
ValidTo = Annotated[datetime, Meta(description="When the text stops being true; later than `valid_from`.", tz=True)]
ExpiresAt = Annotated[datetime, Meta(description="When searches stop finding it; in the future.", tz=True)]
Ttl = Annotated[int, Meta(description="In place of `expires_at`: seconds from now.", ge=1, le=3_153_600_000)]
ParentId = Annotated[
    str, Meta(description="Id of the memory that this is a part of.", extra_json_schema={"format": "uuid"})
]

SessionName = Annotated[
    str,
    Meta(description="A session, by the name that you gave it.", extra_json_schema=_NAME, examples=["s-2026-11"]),
]
ConversationName = Annotated[
    str,
    Meta(description="A conversation, by the name that you gave it.", extra_json_schema=_NAME, examples=["c-42"]),
]
TopicName = Annotated[
    str,
    Meta(description="A topic, by its name in the conversation.", extra_json_schema=_NAME, examples=["t1"]),
]
TurnNumber = Annotated[
    int,
    Meta(description="Place of an exchange in its conversation.", extra_json_schema={"minimum": 0}, examples=[17]),
]
DocumentPath = Annotated[
    str,
    Meta(
        description="The path or name of a document, on it and on its chunks.",
        extra_json_schema={"minLength": 1, "maxLength": DOCUMENT_MAX},
        examples=["docs/deploy.md"],
    ),
]
Position = Annotated[
    int, Meta(description="Place of a chunk in its document, with gaps.", extra_json_schema={"minimum": 0})
]
Structure = Annotated[
    dict[str, Any],
    Meta(
        description="What the service writes about an exchange, a document, a chunk, or an object of conversations; "
        "see conversations.md and documents.md."
    ),
]

Conflict = Annotated[
    OnConflict,
    Meta(
        description="`reject` refuses a text that a current memory repeats or contradicts; `keep` stores it "
        "anyway; `review` stores it and opens a review; `supersede`, for a single memory, supersedes the closest of "
        "those memories.",
        extra_json_schema=_words(OnConflict),
    ),
]

QueryText = Annotated[
    str,
    Meta(
        description='Text to search for; "quotes" make a phrase. May be empty in the modes metadata and recent.',
        extra_json_schema={"maxLength": QUERY_MAX},
        examples=["when do we deploy?"],
    ),
]
Limit = Annotated[
    int, Meta(description="Largest number of hits.", extra_json_schema={"minimum": 1, "maximum": LIMIT_MAX})
]
ModeName = Annotated[
    Mode | Literal["auto"],
    Meta(
        description="By meaning and words, meaning, words; metadata (importance, then newest) and recent rank no text; "
        "auto reads mode and filter from the query, and tells them in `intent`.",
        extra_json_schema={"enum": [*get_args(Mode), "auto"]},
    ),
]
MatchName = Annotated[
    Match,
    Meta(description="How many words of the query a hit needs.", extra_json_schema=_words(Match)),
]
MinEvidence = Annotated[
    Literal["weak", "strong"],
    Meta(
        description="No hits when there is less evidence; an uncalibrated answer is not held back.",
        extra_json_schema=_words(Literal["weak", "strong"]),
    ),
]
FusionName = Annotated[
    Fusion,
    Meta(description="How the rankings by meaning and by words are combined.", extra_json_schema=_words(Fusion)),
]
SecondQueryName = Annotated[
    SecondQuery,
    Meta(
        description="Way to ask the second model of a space: by the vector of the first, mapped; by the second model "
        "itself; or not. Null is that of the server.",
        extra_json_schema=_words(SecondQuery),
    ),
]
Alpha = Annotated[
    float,
    Meta(
        description="Weight of the ranking by meaning; null is the default of the fusion.",
        extra_json_schema={"minimum": 0, "maximum": 1},
    ),
]
FilterJson = Annotated[
    dict[str, Any],
    Meta(
        description='A filter, such as {"tags": ["a", "b"], "created_at": {"gte": "2026-01-01"}}; '
        "see docs/reference/http.md.",
        examples=[{"category": "rules", "not": {"importance": "low"}}],
    ),
]
Verdict = Annotated[VerdictTerm, Meta(description="What one found of a memory.", extra_json_schema=_words(VerdictTerm))]
DecayName = Annotated[Decay, Meta(description="The form of the decay.", extra_json_schema=_words(Decay))]
SimilarTo = Annotated[
    str,
    Meta(
        description="Id of a memory to search by, in place of `query`: its words and its vector. It is no hit itself.",
        extra_json_schema={"format": "uuid"},
    ),
]
GroupBy = Annotated[
    str,
    Meta(
        description="Best hit of each value of a field, such as category, author or metadata.session.",
        examples=["category"],
    ),
]
Diversity = Annotated[
    float,
    Meta(
        description="Weight of novelty against relevance in choosing the hits, by their vectors.",
        extra_json_schema={"minimum": 0, "maximum": 1},
    ),
]
ContextWindow = Annotated[
    int,
    Meta(
        description="Turns of the dialogue, and passages of the text, to show before and after each hit.",
        extra_json_schema={"minimum": 0, "maximum": WINDOW_MAX},
    ),
]
MinScore = Annotated[float, Meta(description="Lowest score of a hit.", extra_json_schema={"minimum": 0, "maximum": 1})]
PresetName = Annotated[
    Preset,
    Meta(
        description="In place of `signals`: a score that adds up similarity, tags, age and position.",
        extra_json_schema=_words(Preset),
    ),
]
BoostTags = Annotated[
    dict[str, float],
    Meta(description="Scores of tags, 0 to 1, for the tag signal.", examples=[{"release": 1.0}]),
]
TagRuleName = Annotated[
    TagRule,
    Meta(description="How the scores of a memory's tags become one.", extra_json_schema=_words(TagRule)),
]


# A bad field, as refusals and reports name it


class FieldProblem(Struct, frozen=True):
    """A bad field or parameter: a JSON path such as `$.memories[3].key`, and what to do."""

    path: str
    message: str
