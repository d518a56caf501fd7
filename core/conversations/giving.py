"""Turns that a caller gives to a topic: they are taken from topics that were found, never from given ones."""

from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from muisti.core.model.conversations import ObjectName, Span, spans_of, without
from muisti.core.model.errors import Conflict
from muisti.core.model.values import Draft, Json, Memory
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import topics, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.keeping import Plan
from muisti.core.write.prepare import draft_of


def taking(database: Database, space: SpaceRow, name: ObjectName, draft: Draft, now: int) -> Plan:
    """Return how the other topics of a conversation change when a topic has the turns of its draft.

    Raises:
        Conflict: another topic was given one of the turns.
    """
    given = cast("list[Span]", draft.structure.get("spans", []))
    of = name.category, name.conversation or ""
    (rows,) = database.read([topics.objects(space, *of, now, "topic")])
    ends: list[Memory] = []
    changes: list[tuple[Row, Draft]] = []
    for row in rows:
        other = version_rows.memory(row, space.space.name)
        before = spans_of(other)
        after = without(before, given)
        if other.topic == name.name or after == before:
            continue
        if other.structure.get("bounds") == "given":
            raise Conflict(f"topic {other.topic!r} was given some of these turns; change its spans first, or delete it")
        if after:
            changes.append((row, _with_spans(other, after)))
        else:
            ends.append(other)
    newest = max((cast(int, row[0]) for row in rows), default=0)
    return Plan(guards=[topics.refuse_others(space, *of, newest, now)], ends=ends, changes=changes)


def _with_spans(topic: Memory, spans: Sequence[Span]) -> Draft:
    stated = draft_of(topic)
    return replace(stated, structure={**stated.structure, "spans": cast(Json, [list(span) for span in spans])})
