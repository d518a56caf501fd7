"""Memories whose metadata names a session and a turn become exchanges of conversations. Their texts stay as they are.

Each gets a next version with its place, which is not embedded again. Some hundreds change in one step. What was adopted
is left alone by a repetition.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.conversations.model import DEFAULT_SESSION, NewObject
from muisti.core.conversations.objects import object_draft, users_of
from muisti.core.conversations.sql import conversations
from muisti.core.embedding.models import Models
from muisti.core.model.choices import BATCH_MAX
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Plan, Written
from muisti.core.model.places import ObjectName, place_of
from muisti.core.model.values import NAME_MAX, Draft, Memory, Seq
from muisti.core.read.reading import find_space
from muisti.core.store.database import Row
from muisti.core.store.sql import hierarchy, inserting, memories, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.discourse.summarise import title_by
from muisti.core.write.calls import Call, Part
from muisti.core.write.intake import Intake
from muisti.core.write.prepare import carried, draft_of, ready
from muisti.core.write.transactions import Transactions

STEP = 500  # memories in one transaction
SHOWN = 100  # memories that a report names


class Left(msgspec.Struct, frozen=True):
    """A memory that was not adopted, and why."""

    id: str
    why: str


class Adopted(msgspec.Struct, frozen=True, kw_only=True):
    """Report of what was adopted, or would be: exchanges, and the conversations and sessions that were made for them.

    `left` counts memories that stay as they are; `items` names the first of them. `plan` is that of a dry run.
    """

    exchanges: int
    conversations: int
    sessions: int
    left: int
    items: tuple[Left, ...]
    seq: Seq
    plan: Plan | None = None


class _Chosen(msgspec.Struct, frozen=True):
    """A memory by its row, and the place that it gets."""

    row: int
    conversation: str
    session: str
    turn: int


class Adopter(msgspec.Struct, frozen=True):
    """Thread-safe."""

    store: Transactions
    intake: Intake

    def adopt(self, space: str, call: Call) -> Adopted:
        """Adopt all memories that name a session and a turn in their metadata. A dry run counts them.

        Raises:
            NotFound: there is no such space.
        """
        found = find_space(self.store.database, space)
        (rows,) = self.store.database.read([conversations.adoptable(found, call.caller.category, call.now)])
        steps: list[_Step] = []
        for category, group in groupby(rows, key=lambda row: row[1]):
            own = None if category is None else str(category)
            passed, pretended = _Step(), set[str]()  # places of objects that a dry run would have made before
            chosen = [*_chosen([*group], passed)]
            steps.append(passed)
            for start in range(0, len(chosen), STEP):
                steps.append(self._step(space, own, chosen[start : start + STEP], pretended, call))
        return self._told(space, steps, dry_run=call.dry_run)

    def _told(self, space: str, steps: Sequence["_Step"], *, dry_run: bool) -> Adopted:
        left = [one for step in steps for one in step.left]
        (rows,) = self.store.database.read([memories.by_rows([row for row, _ in left[:SHOWN]])]) if left else ([],)
        named = {cast(int, row[0]): version_rows.memory(row, space).id for row in rows}
        return Adopted(
            exchanges=sum(step.exchanges for step in steps),
            conversations=sum(step.conversations for step in steps),
            sessions=sum(step.sessions for step in steps),
            left=len(left),
            items=tuple(Left(named[row], why) for row, why in left[:SHOWN] if row in named),
            seq=find_space(self.store.database, space).seq,
            plan=_sum([step.plan for step in steps if step.plan is not None]) if dry_run else None,
        )

    def _step(
        self, name: str, category: str | None, chosen: Sequence[_Chosen], pretended: set[str], call: Call
    ) -> "_Step":
        done = [_Step()]

        def attempt(space: SpaceRow) -> Written:
            done[0] = _Step()
            parts = self._parts(space, category, chosen, pretended, done[0], call)
            if not parts:
                return self.store.nothing(space, call)
            begun = self.store.begin(space, parts, call, created=False, embedded=False)
            return self.store.commit(begun)

        written = self.store.run(name, structs.replace(call, request=None), attempt)
        done[0].plan = written.plan
        return done[0]

    def _parts(
        self,
        space: SpaceRow,
        category: str | None,
        chosen: Sequence[_Chosen],
        pretended: set[str],
        step: "_Step",
        call: Call,
    ) -> list[Part]:
        names = sorted({one.conversation for one in chosen})
        places = [f"exchange/{one.conversation}\x1f{one.turn}" for one in chosen]
        parents = [ObjectName(level="conversation", name=name, category=category) for name in names]
        # The session of a conversation is that of its first turn.
        homes = {one.conversation: one.session for one in reversed(chosen)}
        sessions = [ObjectName(level="session", name=name, category=category) for name in sorted({*homes.values()})]
        above = [one.place for one in (*parents, *sessions)]
        (rows, there) = self.store.database.read([
            memories.by_rows([one.row for one in chosen]),
            hierarchy.at_places(space, category, [*places, *above]),
        ])  # fmt: skip
        known = pretended | {place_of(version_rows.memory(row, space.space.name)) or "" for row in there}
        living = {cast(int, row[0]): version_rows.memory(row, space.space.name) for row in rows}
        adopted: list[tuple[int, Memory, Memory]] = []
        for one, place in zip(chosen, places, strict=True):
            before = living.get(one.row)
            if before is None:
                continue
            if place in known:
                step.leave(one.row, f"turn {one.turn} of conversation {one.conversation!r} is there already")
                continue
            draft = structs.replace(draft_of(before), kind="exchange", conversation=one.conversation, turn=one.turn)
            accepted = self.intake.changed(space, draft, before, call)
            adopted.append((one.row, before, accepted.next(before, call.now)))
        turns = [after for *_, after in adopted]
        made = self._made(space, homes, parents, known, turns, step, call)
        if call.dry_run:
            pretended |= {place_of(one) or "" for one in made}
        step.exchanges += len(adopted)
        total = len(made) + len(adopted)
        parts: list[Part] = []
        for number, new in enumerate(ready(made, space, Models())):
            offset = total - 1 - number
            born = self.store.guarded_insertion(space, new, "created", call.caller, offset)
            parts.append(Part(new.memory, born, told=False))
        for number, (row, before, after) in enumerate(adopted, start=len(made)):
            offset = total - 1 - number
            own = self.store.guarded_insertion(space, carried(after, row), "updated", call.caller, offset)
            statements = [inserting.refuse_stale(before), inserting.end(space, before, offset), *own]
            parts.append(Part(after, statements, told=False))
        return parts

    def _made(
        self,
        space: SpaceRow,
        homes: Mapping[str, str],
        parents: Sequence[ObjectName],
        known: set[str],
        turns: Sequence[Memory],
        step: "_Step",
        call: Call,
    ) -> list[Memory]:
        drafts: list[Draft] = []
        for parent in parents:
            own = [turn for turn in turns if turn.conversation == parent.name]
            if parent.place in known or not own:
                continue
            session = ObjectName(level="session", name=homes[parent.name], category=parent.category)
            if session.place not in known:
                known.add(session.place)
                drafts.append(object_draft(session, NewObject()))
                step.sessions += 1
            users = users_of([turn.author for turn in own])
            new = NewObject(session=session.name, users=tuple(users), at=own[0].event_at)
            drafts.append(structs.replace(object_draft(parent, new), content=title_by(own[0])))
            step.conversations += 1
        accepted = [self.intake.new(space, draft, call, echoes=False, hierarchy=True) for draft in drafts]
        return [one.first(space, id_text(self.store.ids.new(call.now)), call.now) for one in accepted]


def _chosen(rows: Sequence[Row], passed: "_Step") -> Iterator[_Chosen]:
    """Yield memories of one category with their places."""
    for talk, group in groupby(rows, key=lambda row: row[2]):
        name = str(talk)
        taken: set[int] = set()
        for row, _, _, session, number in cast("list[tuple[int, str | None, object, object, int]]", [*group]):
            home = DEFAULT_SESSION if session is None else str(session)
            if not _is_name(name) or not _is_name(home):
                passed.leave(row, f"{(name if _is_name(home) else home)[:80]!r} cannot name a conversation")
            elif number in taken:
                passed.leave(row, f"turn {number} of conversation {name!r} is there twice")
            else:
                taken.add(number)
                yield _Chosen(row, name, home, number)


class _Step(msgspec.Struct):
    """Counts of one transaction, and what it leaves as it is, by row."""

    exchanges: int = 0
    conversations: int = 0
    sessions: int = 0
    left: list[tuple[int, str]] = []
    plan: Plan | None = None

    def leave(self, row: int, why: str) -> None:
        self.left.append((row, why))


def _sum(plans: Sequence[Plan]) -> Plan:
    items = tuple(item for plan in plans for item in plan.items)
    return Plan(sum(plan.changes for plan in plans), items[:BATCH_MAX])


def _is_name(name: str) -> bool:
    return bool(name.strip()) and len(name) <= NAME_MAX and name.isprintable()
