"""Texts that are derived from turns, written again from what is left when turns change, end or are erased.

These are the titles of conversations and topics. An erasure also writes the users of a conversation again. It does so
in all versions, in place: no point of the past has the erased text either.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import cast

from msgspec import Struct, structs

from muisti.core.identity.caller import Caller
from muisti.core.model.ids import id_text
from muisti.core.model.places import TURN_MAX, Span, spans_of
from muisti.core.model.times import from_us
from muisti.core.model.values import Json, Memory
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.sql import changes, derived, hierarchy, inserting, spaces, version_rows
from muisti.core.store.sql.derived import Kept
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.discourse import summarise
from muisti.core.text.discourse.summarise import title_by
from muisti.core.text.terms import count_tokens, fold, same_text_hash
from muisti.core.write.calls import Call, Part

# The title of a topic, made from its turns as they are stored

READ = 200  # turns of a topic that its title is made from
AROUND = 50  # turns before and after a topic that its title sets it apart from


def topic_title(
    database: Database,
    space: SpaceRow,
    of: tuple[str | None, str],
    spans: Sequence[Span],
    now: int,
    changed: Mapping[str, Memory | None] = MappingProxyType({}),
) -> tuple[str, list[Memory]]:
    """Return a title that sets a topic apart from the turns around it, and the turns that it is made from.

    `of` are the category and the name of the conversation. `changed` has turns by id as they are to be, None for those
    that do not count any more.
    """
    first, last = spans[0][0], spans[-1][1]
    ranges = (first, last), (max(0, first - AROUND), first - 1), (last + 1, TURN_MAX)
    most = READ, AROUND, AROUND
    asked = [
        hierarchy.exchanges(space, *of, turns, now, limit + len(changed))
        for turns, limit in zip(ranges, most, strict=True)
    ]
    new = coming(changed, *of)

    def among(rows: Rows, start: int, stop: int, limit: int) -> list[Memory]:
        found = [version_rows.memory(row, space.space.name) for row in rows]
        found = [one for one in found if one.id not in changed]
        found += [one for one in new if start <= (one.turn or 0) <= stop]
        return sorted(found, key=lambda one: one.turn or 0)[:limit]

    inside, before, after = (
        among(rows, *turns, limit) for rows, turns, limit in zip(database.read(asked), ranges, most, strict=True)
    )
    rest = [one.content for one in (*before, *after)]
    return summarise.title([one.content for one in inside], rest) or untitled(first, last), inside


def coming(changed: Mapping[str, Memory | None], category: str | None, conversation: str) -> list[Memory]:
    """Return the changed turns that are turns of a conversation afterwards."""
    own = fold(category or "")
    return [
        one
        for one in changed.values()
        if one is not None
        and (one.kind, one.conversation, one.superseded_by) == ("exchange", conversation, None)
        and fold(one.category or "") == own
    ]


def untitled(first: int, last: int) -> str:
    """Return the title of a topic whose turns tell nothing."""
    return f"Turns {first} to {last}"


FOLLOWER = "muisti"  # the actor of changes that follow from a request, such as topics and summaries
_SAID = ("content", "metadata", "turn", "conversation", "category")  # fields of a turn that titles are made from
Turned = tuple[Memory | None, Memory | None]  # a turn before and after a change; None where it does not count


class Rewritten(Struct, frozen=True):
    """An object whose derived texts change: its versions as they were, and the rows and texts to write."""

    kind: str
    before: Sequence[Kept]
    after: Sequence[Kept]

    @property
    def current(self) -> Memory | None:
        """The version that has not ended, if there is one: it is followed by a new one."""
        return next((one.memory for one in self.before if one.current), None)


def retitled(
    database: Database, space: SpaceRow, turned: Iterable[Turned], call: Call, after: int, kept: Collection[str] = ()
) -> list[Part]:
    """Return the parts of a batch that write titles again, to come before those of the turns that change.

    `after` is how many changes of the batch come after these. Objects in `kept` are left as they are.
    """
    differing = [pair for pair in turned if _differ(*pair)]
    if not differing:
        return []
    changed = {one.id: now for before, now in differing if (one := before or now) is not None}
    ids = [version_rows.raw(one) for one in changed]
    ((number,),), rows, said = database.primary.read([
        spaces.number(space), derived.objects(space, ids), derived.said(space, ids)
    ])  # fmt: skip
    titles = {title_by(version_rows.memory(row, space.space.name)) for row in said}
    found: list[tuple[Memory, str]] = []
    for _, group in groupby((derived.kept(row, space) for row in rows), key=lambda one: one.memory.id):
        versions = list(group)
        last = versions[-1].memory
        if not versions[-1].current or last.id in kept or last.structure.get("title") == "given":
            continue
        if last.kind == "topic":
            title = _topic_title(database.primary, space, last, changed, call.now)
        else:
            before = {one.memory.content for one in versions}
            title = _conversation_title(database.primary, space, last, changed, titles, named=not titles & before)
        if title != last.content:
            found.append((last, title))
    offset = after + len(found)
    return [_retitled(space, *one, cast(int, number), call, offset - place) for place, one in enumerate(found, start=1)]


def _differ(before: Memory | None, after: Memory | None) -> bool:
    if not any(one is not None and one.kind == "exchange" for one in (before, after)):
        return False
    return before is None or after is None or any(getattr(before, name) != getattr(after, name) for name in _SAID)


def _retitled(space: SpaceRow, before: Memory, title: str, number: int, call: Call, offset: int) -> Part:
    new = structs.replace(
        before,
        content=title,
        tokens=count_tokens(title),
        version=before.version + 1,
        updated_at=max(from_us(call.now), before.updated_at),
    )
    follower = structs.replace(call.caller, actor=FOLLOWER)
    statements = [
        inserting.refuse_stale(before),
        derived.refuse_turned(space, before, number),
        inserting.end(space, before, offset),
        *inserting.insert(space, NewVersion(new, same_text_hash(title), []), offset),
        changes.record(space, "updated", follower, new, offset),
    ]
    return Part(new, statements, told=False)


def _conversation_title(
    database: Database,
    space: SpaceRow,
    conversation: Memory,
    changed: Mapping[str, Memory | None],
    titles: Collection[str],
    *,
    named: bool,
) -> str:
    """Return the title of a conversation after turns have changed, which may have had one of these `titles`.

    `named`: its name was never replaced by the title of one of them.
    """
    name = conversation.conversation or ""
    firsts, *_ = database.read(derived.turns(space, conversation, [version_rows.raw(one) for one in changed]))
    others = [version_rows.memory(row, space.space.name) for row in firsts]
    if conversation.content not in {*titles, *map(title_by, others), *(() if named else (name,))}:
        return conversation.content
    here = coming(changed, conversation.category, name)
    first = min((*others[:1], *here), key=lambda one: one.turn or 0, default=None)
    return name if first is None else title_by(first)


def _topic_title(
    database: Database, space: SpaceRow, topic: Memory, changed: Mapping[str, Memory | None], now: int
) -> str:
    spans = spans_of(topic)
    if not spans or topic.content == topic.topic:
        return topic.content
    content, _ = topic_title(database, space, (topic.category, topic.conversation or ""), spans, now, changed)
    return content


def rewritten(database: Database, space: SpaceRow, erased: Sequence[bytes], now: int) -> list[Rewritten]:
    """Return the objects with texts that are derived from turns among `erased`, as they are without these."""
    (rows,) = database.read([derived.objects(space, erased)])
    found: list[Rewritten] = []
    for _, group in groupby((derived.kept(row, space) for row in rows), key=lambda one: one.memory.id):
        before = list(group)
        change = _conversation if before[-1].memory.kind == "conversation" else _topic
        after = change(database, space, before, erased, now)
        if [one.memory for one in after] != [one.memory for one in before]:
            found.append(Rewritten(before[-1].memory.kind, before, after))
    return found


def statements(
    space: SpaceRow, changed: Sequence[Rewritten], caller: Caller, now: int, offset: int, *, overwritten: bool
) -> Iterable[Statement]:
    """Yield what stores the texts. Each object that has not ended gets a version, a change of its own.

    `offset` is how many changes of the batch come after these.
    """
    offset += sum(one.current is not None for one in changed)
    for one in changed:
        if (current := one.current) is not None:
            offset -= 1
            last = one.after[-1].memory
            new = structs.replace(
                last, version=last.version + 1, updated_at=max(from_us(now), last.updated_at)
            )  # fmt: skip
            yield inserting.refuse_stale(current)
            yield inserting.end(space, current, offset)
            yield from inserting.insert(space, NewVersion(new, same_text_hash(new.content), []), offset)
            yield changes.record(space, "updated", caller, new, offset)
        for kept in one.after:
            yield from derived.rewrite(kept.row, kept.memory, overwritten=overwritten)


def _conversation(
    database: Database, space: SpaceRow, before: Sequence[Kept], erased: Sequence[bytes], now: int
) -> list[Kept]:
    firsts, left, gone = database.read(derived.turns(space, before[-1].memory, erased))
    turns = [version_rows.memory(row, space.space.name) for row in firsts]
    titles = {title_by(turn) for turn in turns}
    silent = {str(name) for (name,) in gone if name is not None} - {str(name) for (name,) in left}

    def again(memory: Memory) -> Memory:
        content, structure, author = memory.content, dict(memory.structure), memory.author
        name = memory.conversation or ""
        if structure.get("title") != "given" and content not in titles | {name}:
            content = title_by(turns[0]) if turns else name
        users = structure.get("users")
        if isinstance(users, list):
            structure["users"] = [user for user in cast("list[Json]", users) if fold(str(user)) not in silent]
            if author is not None and fold(author) in silent:
                author = str(structure["users"][0]) if structure["users"] else None
        return structs.replace(
            memory, content=content, tokens=count_tokens(content), structure=structure, author=author
        )  # fmt: skip

    return [one._replace(memory=again(one.memory)) for one in before]


def _topic(
    database: Database, space: SpaceRow, before: Sequence[Kept], erased: Sequence[bytes], now: int
) -> list[Kept]:
    without = dict.fromkeys(id_text(one) for one in erased)

    def again(memory: Memory) -> Memory:
        if memory.structure.get("title") == "given":
            return memory
        content = _topic_title(database, space, memory, without, now)
        return structs.replace(memory, content=content, tokens=count_tokens(content))

    return [one._replace(memory=again(one.memory)) for one in before]
