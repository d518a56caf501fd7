"""Texts that are derived from turns, written again from what is left when turns are erased.

These are the title and the users of a conversation, and the title of a topic. Earlier versions of the object are
written again in place, so that no point of the past has the erased text either.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import cast

from msgspec import Struct, structs

from muisti.core.discourse.titles import title_by
from muisti.core.identity.caller import Caller
from muisti.core.model.conversations import spans_of
from muisti.core.model.ids import id_text
from muisti.core.model.times import from_us
from muisti.core.model.values import Json, Memory
from muisti.core.read.topic_titles import topic_title
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import changes, derived, guards, inserting, version_rows
from muisti.core.store.sql.derived import Kept
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import count_tokens, fold, same_text_hash


class Rewritten(Struct, frozen=True):
    """An object whose derived texts change: its versions as they were, and the rows and texts to write."""

    kind: str
    before: Sequence[Kept]
    after: Sequence[Kept]

    @property
    def current(self) -> Memory | None:
        """The version that has not ended, if there is one: it is followed by a new one."""
        return next((one.memory for one in self.before if one.current), None)


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
            yield guards.refuse_stale(current)
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
    without = {id_text(one) for one in erased}

    def again(memory: Memory) -> Memory:
        spans = spans_of(memory)
        if memory.structure.get("title") == "given" or not spans:
            return memory
        of = memory.category, memory.conversation or ""
        content, _ = topic_title(database, space, of, spans, now, without)
        return structs.replace(memory, content=content, tokens=count_tokens(content))

    return [one._replace(memory=again(one.memory)) for one in before]
