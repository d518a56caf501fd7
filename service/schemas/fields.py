"""The fields that requests and replies share, each with its description for the OpenAPI document.

Limits are here for the reader only; `core.write.validate` enforces them, with messages that say limit and value.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.anchors import ANCHORS_MAX, State
from muisti.core.model.choices import (
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
from muisti.core.model.choices import Verdict as VerdictTerm
from muisti.core.model.hits import Decay, Fusion, Match, Mode
from muisti.core.model.values import (
    DOCUMENT_MAX,
    KEY_MAX,
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
from muisti.core.query.query import TRUST_WEIGHT_MAX, WINDOW_MAX


def doc(description: str, **constraints: Any) -> Meta:
    """Describe a type. Constraints of `Meta` are checked; others, in the words of JSON Schema, are for the reader."""
    checked = {name: constraints.pop(name) for name in _CHECKED & set(constraints)}
    return Meta(description=description, extra_json_schema=constraints or None, **checked)


_CHECKED = {"ge", "le", "gt", "lt", "pattern", "min_length", "max_length", "tz", "examples"}
_NAME = {"minLength": 1, "maxLength": NAME_MAX}


def _enum(names: tuple[str, ...]) -> dict[str, object]:
    return {"enum": list(names)}


def _words(choices: Any) -> dict[str, object]:
    """Return the schema of a `Literal` of strings, in its own order; msgspec refuses any other value."""
    return {"type": "string", "enum": list(get_args(choices))}


SpaceDescription = Annotated[
    str, doc("What the space is for.", min_length=1, max_length=2_000, examples=["Notes of the shop"])
]
Content = Annotated[
    str,
    doc(
        "The text to remember: not blank, no NUL.",
        minLength=1,
        maxLength=CONTENT_MAX,
        examples=["We deploy on Fridays; ticket QX-991"],
    ),
]
KindName = Annotated[str, doc("What it is a piece of.", **_enum(get_args(StatedKind)))]
AnyKind = Annotated[
    str,
    doc(
        "What it is a piece of; `session`, `conversation`, `topic`, `summary` and `document` order other memories.",
        **_enum(get_args(Kind)),
    ),
]
Category = Annotated[
    str,
    doc(
        "A group of memories; compares without case. With `key` it is an address, unique in the space.",
        **_NAME,
        examples=["rules"],
    ),
]
Key = Annotated[str, doc("A name within the category, or a path.", minLength=1, maxLength=KEY_MAX, examples=["deploy"])]
TypeName = Annotated[str, doc("What sort of thing it says.", **_enum(get_args(Type)))]
StatusName = Annotated[
    str, doc("Only active memories are listed and searched unless a filter names `status`.", **_enum(get_args(Status)))
]
ImportanceName = Annotated[str, doc("A more important memory ranks higher.", **_enum(get_args(Importance)))]
Author = Annotated[str, doc("Who said it; compares without case.", **_NAME)]
Reason = Annotated[str, doc("Why it is worth remembering.", minLength=1, maxLength=REASON_MAX)]
Source = Annotated[str, doc("Where it comes from, such as a URL.", **_NAME)]
SourceClassName = Annotated[
    str,
    doc(
        "What said it, for its trust: `user` 100, `tool` 80, `model` 60, `unknown` 50, `web` 20.",
        **_enum(get_args(SourceClass)),
    ),
]
Trust = Annotated[
    int,
    doc(
        "Percent: that of its source class, or the lowest of the memories that it is derived from.",
        minimum=0,
        maximum=100,
    ),
]
DerivedFrom = Annotated[
    list[MemoryId],
    doc("Ids of the memories that it was made from; it is trusted no more than any of them.", maxItems=SOURCES_MAX),
]


class AnchorBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A place in source code. Reads add `state`, as the caller sees the documents of the space; writes ignore it."""

    path: Annotated[str, doc("Of a document, or of the file in its repository.", minLength=1, maxLength=DOCUMENT_MAX)]
    symbol: Annotated[str, doc("Qualified name of a definition, or the end of it.")] | UnsetType = UNSET
    blob: Annotated[str, doc("SHA-256 of the file, or git's hash; the document's when left out.")] | UnsetType = UNSET
    commit: Annotated[str, doc("The commit that was checked out.")] | UnsetType = UNSET
    text: Annotated[str, doc("Hash of the definition; computed.")] | UnsetType = UNSET
    state: (
        Annotated[
            State,
            doc("`unknown`: nothing to compare with is here; absent in answers of writes and about the past."),
        ]
        | UnsetType
    ) = UNSET
    now: Annotated[str, doc("Its new place, as path or path:symbol.")] | UnsetType = UNSET


_ANCHORS = doc("Source code that it is about; filters compare the paths.", maxItems=ANCHORS_MAX)
Anchors = Annotated[list[AnchorBody], _ANCHORS]
StatedAnchors = Annotated[list[AnchorBody | Annotated[str, doc("path or path:symbol")]], _ANCHORS]
InstructionsMost = Annotated[
    int,
    doc(
        "At most so many standing instructions that apply to the question, beside the hits; 0 for none.",
        minimum=0,
        maximum=INSTRUCTIONS_MAX,
    ),
]
TrustWeight = Annotated[
    float,
    doc(
        "Share of its score that a memory loses that is not trusted at all; the score is multiplied by 1 - "
        "trust_weight * (1 - trust / 100).",
        minimum=0,
        maximum=TRUST_WEIGHT_MAX,
    ),
]
Tags = Annotated[
    list[Annotated[str, Meta(extra_json_schema=_NAME)]],
    doc("Labels; compare without case.", maxItems=TAGS_MAX, examples=[["release", "team"]]),
]
Metadata = Annotated[
    dict[str, Any],
    doc(
        "Any JSON, filtered as `metadata.<path>`: at most 16,384 bytes, 10 levels.",
        examples=[{"session": "s1", "turn": 3}],
    ),
]
Time = Annotated[datetime, doc("RFC 3339, with time zone.", tz=True)]
TimeZone = Annotated[
    str,
    doc(
        "Zone of words like today: an IANA name or offset. Default: that of `reference_time`, else UTC.",
        maxLength=64,
        examples=["Europe/Helsinki", "+09:00"],
    ),
]
AsOf = Annotated[str | int, doc("Show an earlier state: a time, or a point in history, whole or its number.")]
EventAt = Annotated[datetime, doc("When it happened or was true; RFC 3339, with time zone.", tz=True)]
ValidFrom = Annotated[datetime, doc("When the text becomes true; RFC 3339, with time zone.", tz=True)]
ValidTo = Annotated[datetime, doc("When the text stops being true; later than `valid_from`.", tz=True)]
ExpiresAt = Annotated[datetime, doc("When searches stop finding it; in the future.", tz=True)]
Ttl = Annotated[int, doc("In place of `expires_at`: seconds from now.", ge=1, le=3_153_600_000)]
ParentId = Annotated[str, doc("Id of the memory that this is a part of.", format="uuid")]

SessionName = Annotated[str, doc("A session, by the name that you gave it.", **_NAME, examples=["s-2026-11"])]
ConversationName = Annotated[str, doc("A conversation, by the name that you gave it.", **_NAME, examples=["c-42"])]
TopicName = Annotated[str, doc("A topic, by its name in the conversation.", **_NAME, examples=["t1"])]
TurnNumber = Annotated[int, doc("Place of an exchange in its conversation.", minimum=0, examples=[17])]
DocumentPath = Annotated[
    str,
    doc(
        "The path or name of a document, on it and on its chunks.",
        minLength=1,
        maxLength=DOCUMENT_MAX,
        examples=["docs/deploy.md"],
    ),
]
Position = Annotated[int, doc("Place of a chunk in its document, with gaps.", minimum=0)]
Structure = Annotated[
    dict[str, Any],
    doc(
        "What the service writes about an exchange, a document, a chunk, or an object of conversations; "
        "see conversations.md and documents.md."
    ),
]

Conflict = Annotated[
    OnConflict,
    doc(
        "`reject` refuses a text that a current memory repeats or contradicts; `keep` stores it "
        "anyway; `review` stores it and opens a review; `supersede`, for a single memory, supersedes the closest of "
        "those memories.",
        **_words(OnConflict),
    ),
]

QueryText = Annotated[
    str,
    doc(
        'Text to search for; "quotes" make a phrase. May be empty in the modes metadata and recent.',
        maxLength=QUERY_MAX,
        examples=["when do we deploy?"],
    ),
]
Limit = Annotated[int, doc("Largest number of hits.", minimum=1, maximum=LIMIT_MAX)]
ModeName = Annotated[
    Mode | Literal["auto"],
    doc(
        "By meaning and words, meaning, words; metadata (importance, then newest) and recent rank no text; "
        "auto reads mode and filter from the query, and tells them in `intent`.",
        enum=[*get_args(Mode), "auto"],
    ),
]
MatchName = Annotated[Match, doc("How many words of the query a hit needs.", **_words(Match))]
MinEvidence = Annotated[
    Literal["weak", "strong"],
    doc(
        "No hits when there is less evidence; an uncalibrated answer is not held back.",
        **_words(Literal["weak", "strong"]),
    ),
]
FusionName = Annotated[Fusion, doc("How the rankings by meaning and by words are combined.", **_words(Fusion))]
SecondQueryName = Annotated[
    SecondQuery,
    doc(
        "Way to ask the second model of a space: by the vector of the first, mapped; by the second model "
        "itself; or not. Null is that of the server.",
        **_words(SecondQuery),
    ),
]
Alpha = Annotated[
    float, doc("Weight of the ranking by meaning; null is the default of the fusion.", minimum=0, maximum=1)
]
FilterJson = Annotated[
    dict[str, Any],
    doc(
        'A filter, such as {"tags": ["a", "b"], "created_at": {"gte": "2026-01-01"}}; see docs/reference/http.md.',
        examples=[{"category": "rules", "not": {"importance": "low"}}],
    ),
]
Verdict = Annotated[VerdictTerm, doc("What one found of a memory.", **_words(VerdictTerm))]
DecayName = Annotated[Decay, doc("The form of the decay.", **_words(Decay))]
SimilarTo = Annotated[
    str,
    doc(
        "Id of a memory to search by, in place of `query`: its words and its vector. It is no hit itself.",
        format="uuid",
    ),
]
GroupBy = Annotated[
    str, doc("Best hit of each value of a field, such as category, author or metadata.session.", examples=["category"])
]
Diversity = Annotated[
    float, doc("Weight of novelty against relevance in choosing the hits, by their vectors.", minimum=0, maximum=1)
]
ContextWindow = Annotated[
    int,
    doc(
        "Turns of the dialogue, and passages of the text, to show before and after each hit.",
        minimum=0,
        maximum=WINDOW_MAX,
    ),
]
Applies = Annotated[
    bool | float,
    doc(
        "Leave out hits that probably do not answer: true is 0.5. With a number all hits are left out unless the best "
        "reaches it, and those with a smaller share of the best.",
        examples=[True, 0.8],
    ),
]
MinScore = Annotated[float, doc("Lowest score of a hit.", minimum=0, maximum=1)]
PresetName = Annotated[
    Preset, doc("In place of `signals`: a score that adds up similarity, tags, age and position.", **_words(Preset))
]
BoostTags = Annotated[dict[str, float], doc("Scores of tags, 0 to 1, for the tag signal.", examples=[{"release": 1.0}])]
TagRuleName = Annotated[TagRule, doc("How the scores of a memory's tags become one.", **_words(TagRule))]


# A bad field, as refusals and reports name it


class FieldProblem(Struct, frozen=True):
    """A bad field or parameter: a JSON path such as `$.memories[3].key`, and what to do."""

    path: str
    message: str
