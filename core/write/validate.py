"""Validate what is stored and asked. Every problem names the limit and the value."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import get_args

import msgspec

from muisti.core.model.anchors import problems_of
from muisti.core.model.choices import (
    HALF_LIFE_MIN,
    INSTRUCTIONS_MAX,
    SIMILARITY_MIN,
    SPACES_MAX,
    Echoes,
    GraphSwitch,
    Screening,
)
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.fields import FIELDS, STATED_TIMES, TEXTS
from muisti.core.model.hits import Recency
from muisti.core.model.ids import id_bytes
from muisti.core.model.places import GRAPHIC, TURN_MAX, name_of
from muisti.core.model.spaces import QUOTA_MAX, SPACE_NAME, Field, PolicyValue, SpaceSettings
from muisti.core.model.times import from_us
from muisti.core.model.values import (
    LIMIT_MAX,
    METADATA_MAX,
    NAME_MAX,
    QUERY_MAX,
    SOURCES_MAX,
    STRUCTURAL,
    TAGS_MAX,
    Draft,
    Json,
    is_blank,
)
from muisti.core.query import query as options
from muisti.core.query.query import TRUST_WEIGHT_MAX, Query
from muisti.core.store.sql.inserting import flatten
from muisti.core.text.terms import outgrows
from muisti.core.text.when.zones import zone_named

GROWN = 2  # times the limit of a field, the most that its NFKC form may have
DAYS_MAX = 36_500  # that something is kept
PATH_MAX = 200  # characters of a metadata path
DEPTH_MAX = 10  # levels of nested metadata
INTEGER_MAX = 2**63 - 1
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
CHOICES: Mapping[str, tuple[str, ...]] = {field.name: field.choices for field in FIELDS if field.choices}
POLICIES: Mapping[str, tuple[str, ...]] = {
    "secrets": get_args(Screening),
    "personal_data": get_args(Screening),
    "echoes": get_args(Echoes),
    "graph": get_args(GraphSwitch),
}
BOUNDS: Mapping[str, tuple[float, float]] = {  # of numbers in a policy; all others are days from 0
    "archived_us": (0, INTEGER_MAX),
    "similarity_limit": (SIMILARITY_MIN, 1),
    "review_limit": (SIMILARITY_MIN, 1),
    "recency_weight": (0, 1),
    "recency_half_life_days": (HALF_LIFE_MIN, DAYS_MAX),
}


# Fields that most drafts leave out, and their values then.
_OPTIONAL = (*STATED_TIMES, "session", "conversation", "topic", "document", "turn", "position", "parent_id")
_RARE = attrgetter(*_OPTIONAL, "structure", "derived_from", "anchors")
_NONE: tuple[object, ...] = (*(None,) * len(_OPTIONAL), {}, (), ())


def check_draft(draft: Draft, now: int, path: str = "$") -> None:
    """Raise `InvalidInput` with every problem of a draft. `path` locates the draft in the request."""
    problems = list(_draft_problems(draft, now, path))
    if problems:
        raise InvalidInput(problems)


def check_alone(draft: Draft, path: str = "$") -> None:
    """Raise `InvalidInput` when a draft is part of the hierarchy of conversations, which has calls of its own."""
    if draft.kind in STRUCTURAL:
        raise InvalidInput.at(f"{path}.kind", f"a {draft.kind} is made by the calls of {_calls(draft)}")
    for name in ("session", "conversation", "topic", "turn", "structure"):
        if getattr(draft, name):
            raise InvalidInput.at(f"{path}.{name}", "is set by the calls of conversations")
    for name in ("document", "position"):
        if getattr(draft, name) is not None:
            raise InvalidInput.at(f"{path}.{name}", "is set by the calls of documents")


def check_stays(draft: Draft, before: Draft) -> None:
    """Raise `InvalidInput` when a change would take a memory out of a conversation or document, or put it there."""
    if before.kind in STRUCTURAL or before.conversation is not None or before.document is not None:
        whole = "graph" if before.kind in GRAPHIC else "conversation" if before.document is None else "document"
        for name in ("kind", "category"):
            if getattr(draft, name) != getattr(before, name):
                raise InvalidInput.at(
                    f"$.{name}", f"does not change: this is a part of {whole} {before.document or name_of(before)!r}"
                )
    elif draft.kind in STRUCTURAL:
        raise InvalidInput.at("$.kind", f"a {draft.kind} is made by the calls of {_calls(draft)}")


def _calls(draft: Draft) -> str:
    return "documents" if draft.kind == "document" else "the graph" if draft.kind in GRAPHIC else "conversations"


def check_query(query: Query) -> None:
    """Raise `InvalidInput` with every problem of a query."""
    problems = list(_query_problems(query))
    if problems:
        raise InvalidInput(problems)


def check_settings(settings: SpaceSettings) -> None:
    """Raise `InvalidInput` unless the settings name known fields with weights from 0 to 10."""
    fields = get_args(Field)
    problems = [
        Problem(f"$.settings.lexical_weights.{field}", f"unknown field; known are {', '.join(fields)}")
        for field in settings.lexical_weights
        if field not in fields
    ]
    problems += [
        Problem(f"$.settings.lexical_weights.{field}", f"{weight} is not between 0 and 10")
        for field, weight in settings.lexical_weights.items()
        if not 0 <= weight <= 10
    ]
    if "content" not in settings.embedded_fields:
        problems.append(Problem("$.settings.embedded_fields", "must name content"))
    if problems:
        raise InvalidInput(problems)


def check_quota(changes: Mapping[str, int | None]) -> None:
    """Raise `InvalidInput` unless the numbers are in range."""
    problems = [
        Problem(f"$.{name}", f"{most} is not between 0 and {QUOTA_MAX:,}")
        for name, most in changes.items()
        if most is not None and not 0 <= most <= QUOTA_MAX
    ]
    if problems:
        raise InvalidInput(problems)


def check_policy(changes: Mapping[str, PolicyValue | None]) -> None:
    """Raise `InvalidInput` unless each value is one that a policy may have."""
    problems = [
        problem for name, value in changes.items() if value is not None for problem in _policy_problems(name, value)
    ]
    if problems:
        raise InvalidInput(problems)


def _policy_problems(name: str, value: PolicyValue) -> Iterator[Problem]:
    if isinstance(value, tuple):
        yield from _chain(f"$.{name}", value)
    elif isinstance(value, str):
        if name in POLICIES and value not in POLICIES[name]:
            yield Problem(f"$.{name}", f"{value[:40]!r} is none of {', '.join(POLICIES[name])}")
        elif name == "time_zone":
            yield from _zone(value)
    elif not (bounds := BOUNDS.get(name, (0, DAYS_MAX)))[0] <= value <= bounds[1]:
        yield Problem(f"$.{name}", f"{value:g} is not between {bounds[0]:g} and {bounds[1]:,}")
    elif name == "purge_after_days" and not value:
        yield Problem("$.purge_after_days", "0 would keep nothing; null purges nothing")


def _zone(name: str) -> Iterator[Problem]:
    try:
        zone_named(name)
    except InvalidInput as unknown:
        yield from unknown.problems


def _chain(path: str, spaces: tuple[str, ...]) -> Iterator[Problem]:
    if len(spaces) >= SPACES_MAX:
        yield Problem(path, f"names {len(spaces)} spaces; at most {SPACES_MAX - 1} are allowed")
    if len(set(spaces)) < len(spaces):
        yield Problem(path, "names a space twice")
    for number, space in enumerate(spaces):
        if not SPACE_NAME.fullmatch(space):
            yield Problem(f"{path}[{number}]", f"{space[:80]!r} is no name of a space")


def _draft_problems(draft: Draft, now: int, path: str) -> Iterator[Problem]:
    for name, most in TEXTS.items():
        value: str | None = getattr(draft, name)
        if value is not None:
            is_part = name == "content" and draft.kind == "chunk" and draft.document is not None
            yield from _text(f"{path}.{name}", value, most, may_be_blank=is_part)
    for name, allowed in CHOICES.items():
        if getattr(draft, name) not in allowed:
            yield Problem(f"{path}.{name}", f"{getattr(draft, name)!r} is none of {', '.join(allowed)}")
    if draft.status == "superseded":
        yield Problem(f"{path}.status", "superseded cannot be set; supersede the memory instead")
    if draft.key is not None and draft.category is None:
        yield Problem(f"{path}.key", "a key needs a category")
    if draft.tags:
        yield from _tags(f"{path}.tags", draft.tags)
    if draft.metadata:
        yield from _metadata(f"{path}.metadata", draft.metadata)
    if _RARE(draft) != _NONE:
        yield from _times(draft, now, path)
        yield from _place(draft, path)
        yield from _sources(f"{path}.derived_from", draft.derived_from)
        yield from (Problem(f"{path}.anchors{where}", message) for where, message in problems_of(draft.anchors))


def _place(draft: Draft, path: str) -> Iterator[Problem]:
    """Yield the problems of the place of a draft: its parent, and where it is in a conversation or document."""
    if draft.parent_id is not None and id_bytes(draft.parent_id) is None:
        yield Problem(f"{path}.parent_id", f"{draft.parent_id[:80]!r} is no memory id")
    for name in ("session", "conversation", "topic", "document"):
        value: str | None = getattr(draft, name)
        if value is not None and _CONTROL.search(value):
            yield Problem(f"{path}.{name}", "must not hold control characters")
    if draft.turn is not None and not 0 <= draft.turn <= TURN_MAX:
        yield Problem(f"{path}.turn", f"{draft.turn} is not between 0 and {TURN_MAX:,}")
    if draft.position is not None and not 0 <= draft.position <= TURN_MAX:
        yield Problem(f"{path}.position", f"{draft.position} is not between 0 and {TURN_MAX:,}")
    if draft.structure:
        yield from _metadata(f"{path}.structure", draft.structure)


def _text(path: str, text: str, limit: int, *, may_be_blank: bool = False) -> Iterator[Problem]:
    """Yield the problems of a text. Chunks of a document may be blank, because their texts join to that of the file."""
    is_plain = text.isascii()
    if not text or not may_be_blank and is_blank(text):
        yield Problem(path, "must not be empty or blank")
    if len(text) > limit:
        yield Problem(path, f"has {len(text):,} characters; at most {limit:,} are allowed")
    elif not is_plain and outgrows(text, GROWN * limit):
        yield Problem(path, _grown(limit))
    if "\0" in text:
        yield Problem(path, f"has a NUL character at position {text.index(chr(0))}")
    if not is_plain and not _is_utf8(text):
        yield Problem(path, "is no valid UTF-8 (it holds a lone surrogate)")


def _grown(limit: int) -> str:
    """Return the advice for a text within its limit whose normalised form is too long."""
    return f"grows to more than {GROWN * limit:,} characters when normalised (Unicode NFKC); write it in plain letters"


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tags(path: str, tags: tuple[str, ...]) -> Iterator[Problem]:
    if len(tags) > TAGS_MAX:
        yield Problem(path, f"has {len(tags)} tags; at most {TAGS_MAX} are allowed")
        return
    for position, tag in enumerate(tags):
        yield from _text(f"{path}[{position}]", tag, NAME_MAX)


def _sources(path: str, ids: tuple[str, ...]) -> Iterator[Problem]:
    if len(ids) > SOURCES_MAX:
        yield Problem(path, f"has {len(ids)} ids; at most {SOURCES_MAX} are allowed")
        return
    for position, one in enumerate(ids):
        if id_bytes(one) is None:
            yield Problem(f"{path}[{position}]", f"{one[:80]!r} is no memory id")


def _metadata(path: str, metadata: Mapping[str, Json]) -> Iterator[Problem]:
    if len(metadata) > METADATA_MAX // len('"a":1,'):
        yield Problem(path, f"has {len(metadata):,} names; at most {METADATA_MAX:,} bytes of JSON are allowed")
        return
    if _depth(metadata) > DEPTH_MAX:
        yield Problem(path, f"is nested deeper than {DEPTH_MAX} levels")
        return
    size = _size(metadata)
    if size > METADATA_MAX:
        yield Problem(path, f"takes {size:,} bytes as JSON; at most {METADATA_MAX:,} are allowed")
        return
    for name in _names(metadata):
        if not name or len(name) > PATH_MAX or "\0" in name or not _is_utf8(name):
            yield Problem(path, f"the name {name[:40]!r} must have 1 to {PATH_MAX} characters, none of them NUL")
    for where, _, type_, value in flatten(metadata):
        if type_ == "text" and ("\0" in str(value) or not _is_utf8(str(value))):
            yield Problem(f"{path}.{where}", "holds a NUL character or a lone surrogate")
        if isinstance(value, int) and not -INTEGER_MAX - 1 <= value <= INTEGER_MAX:
            yield Problem(f"{path}.{where}", f"{value} does not fit in 64 bits; send it as a string")
        if isinstance(value, float) and not math.isfinite(value):
            yield Problem(f"{path}.{where}", "must be a finite number")


def _size(metadata: Mapping[str, Json]) -> int:
    """Return the bytes of metadata as JSON; of what is far too large only those without spaces, which is quick."""
    try:
        if (size := len(msgspec.json.encode(metadata))) > METADATA_MAX:
            return size
    except UnicodeEncodeError:  # a lone surrogate, which another check names
        pass
    return len(json.dumps(metadata, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _depth(value: Json | Mapping[str, Json]) -> int:
    """Return the levels of nesting, counted only until there are too many."""
    level: list[Json | Mapping[str, Json]] = [value]
    depth = 0
    while level and depth <= DEPTH_MAX:
        level = [inner for outer in level for inner in _inner(outer)]
        depth += 1
    return depth


def _inner(value: Json | Mapping[str, Json]) -> list[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _names(value: Json | Mapping[str, Json]) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
    for inner in _inner(value):
        yield from _names(inner)


def _times(draft: Draft, now: int, path: str) -> Iterator[Problem]:
    for name in STATED_TIMES:
        at: datetime | timedelta | None = getattr(draft, name)
        if isinstance(at, datetime) and at.tzinfo is None:
            yield Problem(f"{path}.{name}", "needs a time zone, as in 2026-05-01T12:00:00Z")
    end = draft.expires_at
    if isinstance(end, datetime) and end.tzinfo is not None and end <= from_us(now):
        yield Problem(f"{path}.expires_at", f"{end.isoformat()} is in the past")
    start, end = draft.valid_from, draft.valid_to
    if start is not None and end is not None and start.tzinfo and end.tzinfo and end <= start:
        yield Problem(f"{path}.valid_to", f"{end.isoformat()} is not later than valid_from, {start.isoformat()}")


def _query_problems(query: Query) -> Iterator[Problem]:
    if not 1 <= query.limit <= LIMIT_MAX:
        yield Problem("$.limit", f"{query.limit} is not between 1 and {LIMIT_MAX}")
    if len(query.text) > QUERY_MAX:
        yield Problem("$.query", f"has {len(query.text):,} characters; at most {QUERY_MAX:,} are allowed")
    elif not query.text.isascii() and outgrows(query.text, GROWN * QUERY_MAX):
        yield Problem("$.query", _grown(QUERY_MAX))
    likened = query.options is not None and query.options.similar_to is not None
    if is_blank(query.text) and not likened and query.mode not in ("metadata", "recent"):
        yield Problem("$.query", f"must not be empty in mode {query.mode}; metadata and recent need none")
    if "\0" in query.text or not (query.text.isascii() or _is_utf8(query.text)):
        yield Problem("$.query", "holds a NUL character or a lone surrogate")
    numbers = (
        ("trust_weight", query.trust_weight, TRUST_WEIGHT_MAX),
        ("alpha", query.alpha, 1),
        ("applies", query.applies, 1),
        ("instructions", query.instructions, INSTRUCTIONS_MAX),
    )
    for name, value, most in numbers:
        if value is not None and not 0 <= value <= most:
            yield Problem(f"$.{name}", f"{value} is not between 0 and {most}")
    if query.recency is not None:
        yield from _recency_problems(query.recency)
    if query.options is not None:
        yield from options.problems(query.options, query.mode, query.match, query.text)


def _recency_problems(recency: Recency) -> Iterator[Problem]:
    if not 0 <= recency.weight <= 1:
        yield Problem("$.recency.weight", f"{recency.weight} is not between 0 and 1")
    given = (
        ("half_life_days", recency.half_life_days, HALF_LIFE_MIN),
        ("lambda", recency.rate, 1e-9),  # callers know it by this name
        ("grace_days", recency.grace_days, 0.0),
    )
    for name, value, lowest in given:
        if not (math.isfinite(value) and lowest <= value <= 1e6):
            yield Problem(f"$.recency.{name}", f"{value} is not between {lowest:g} and 1,000,000")
