"""Sessions, conversations and topics as objects: made, changed, moved, closed, opened again, deleted with all below."""

import uuid
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import structs

from muisti.core.conversations.model import DEFAULT_SESSION, USERS_MAX, Change, Counted, Kept, NewObject, Object
from muisti.core.conversations.reading import missing, one
from muisti.core.conversations.sql import conversations
from muisti.core.conversations.topics import taking
from muisti.core.model.errors import ConversationClosed, InvalidInput, PlaceTaken
from muisti.core.model.ids import id_text
from muisti.core.model.operations import Action
from muisti.core.model.outcomes import Ending, Written
from muisti.core.model.places import Level, ObjectName, name_of
from muisti.core.model.times import from_us
from muisti.core.model.values import NAME_MAX, REASON_MAX, Draft, IfMatch, Json, Memory
from muisti.core.query.points import Point
from muisti.core.read.hierarchy import home, namespace
from muisti.core.read.reading import find_space
from muisti.core.store.database import Row, Statement
from muisti.core.store.sql import hierarchy, inserting, operations, quotas, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Overtaken
from muisti.core.text.speakers import is_side
from muisti.core.text.terms import fold
from muisti.core.write.calls import Call, Part
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.lifecycle import check_version
from muisti.core.write.object_writer import Keeper, Plan, guarded
from muisti.core.write.prepare import draft_of, ready
from muisti.core.write.transactions import Transactions


def check_name(name: str, path: str) -> None:
    """Raise `InvalidInput` unless a text can name an object; control characters are refused with the draft."""
    if not name.strip() or len(name) > NAME_MAX:
        raise InvalidInput.at(path, f"must have 1 to {NAME_MAX} characters that are not all blank")


def generated(level: str) -> str:
    """Return a new name for an object of a level."""
    return f"{level}-{uuid.uuid4().hex[:12]}"


def users_of(authors: Sequence[str | None], known: Sequence[str] = ()) -> list[str]:
    """Return the users of a conversation: those that are known, then new authors, each once.

    >>> users_of(["Ann", "assistant", "ann", None, "Bob"], ["Carl"])
    ['Carl', 'Ann', 'Bob']
    """
    found = {fold(name): name for name in reversed([*known, *(name for name in authors if name is not None)])}
    order = dict.fromkeys(fold(name) for name in [*known, *(name for name in authors if name is not None)])
    return [found[folded] for folded in order if not is_side(folded)][:USERS_MAX]


def check_title(title: str | None, path: str) -> None:
    """Raise `InvalidInput` when a title is too long; a blank one is refused with the draft."""
    if title is not None and len(title) > REASON_MAX:
        raise InvalidInput.at(path, f"has {len(title):,} characters; at most {REASON_MAX:,} are allowed")


def object_draft(name: ObjectName, new: NewObject) -> Draft:
    """Return the draft of a new session, conversation or topic.

    Raises:
        InvalidInput: its name, its title or its users cannot be accepted.
    """
    check_name(name.name, "$.name")
    check_title(new.title, "$.title")
    check_users(new.users, "$.users")
    structure: dict[str, Json] = {"state": "open", "title": "derived" if new.title is None else "given"}
    if name.level == "topic":
        structure |= {"bounds": "given", "spans": spans_of(new.spans)}
    else:
        structure["users"] = list(new.users)
    return Draft(
        content=name.name if new.title is None else new.title,
        kind=name.level,
        category=name.category,
        author=new.users[0] if new.users else None,
        metadata=new.metadata,
        tags=new.tags,
        event_at=new.at,
        session=_session(name, new),
        conversation=name.name if name.level == "conversation" else name.conversation,
        topic=name.name if name.level == "topic" else None,
        structure=structure,
    )


def spans_of(spans: Sequence[tuple[int, int]]) -> list[Json]:
    """Return the stretches of a topic, in the order of their turns.

    Raises:
        InvalidInput: one ends before it begins, or two of them overlap.
    """
    ordered = sorted(spans)
    for place, (first, last) in enumerate(ordered):
        if first < 0 or last < first:
            raise InvalidInput.at("$.spans", f"{first} to {last} is no stretch of turns")
        if place and first <= ordered[place - 1][1]:
            raise InvalidInput.at("$.spans", f"the stretches up to {ordered[place - 1][1]} and from {first} overlap")
    return [[first, last] for first, last in ordered]


def check_users(users: Sequence[str], path: str) -> None:
    """Raise `InvalidInput` when there are too many users, or one has no name."""
    if len(users) > USERS_MAX:
        raise InvalidInput.at(path, f"has {len(users)} users; at most {USERS_MAX} are allowed")
    for place, user in enumerate(users):
        check_name(user, f"{path}[{place}]")


def _session(name: ObjectName, new: NewObject) -> str | None:
    if name.level == "session":
        return name.name
    if name.level == "topic":
        return None
    session = DEFAULT_SESSION if new.session is None else new.session
    check_name(session, "$.session")
    return session


class Objects(msgspec.Struct, frozen=True):
    """Thread-safe. All methods raise what those of `Writer` do."""

    store: Transactions
    intake: Intake

    def create(self, space: str, level: Level, new: NewObject, conversation: str | None, call: Call) -> Kept:
        """Make a session, a conversation or, in a `conversation`, a topic; without a name it gets one.

        A missing session of a conversation is made with it. The caller must read.

        Raises:
            Forbidden.
            PlaceTaken: there is one of this name.
            NotFound: a topic's conversation is not there.
            Conflict: another topic was given some of its turns.
            ConversationClosed: the session or the conversation that it would belong to is closed.
        """

        call.caller.check_reads("conversations and their sessions and topics need read")

        def attempt(found: SpaceRow) -> Written:
            name = self._named(found, level, new, conversation, call)
            drafts = [*self._parents(found, name, new, call), object_draft(name, new)]
            return self._make(found, name, drafts, call)

        written = self.store.run(space, call, attempt)
        return self._kept(space, level, written, call)

    def change(self, space: str, name: ObjectName, change: Change, if_match: IfMatch, call: Call) -> Kept:
        """Change a title, users, metadata, tags or state; `session` moves a conversation, which makes a missing one.

        Raises:
            NotFound, Stale.
            Conflict: another topic was given some of the turns that a topic shall have.
        """

        def attempt(found: SpaceRow) -> Written:
            settled = self._home(found, name, call)
            row, before = self._find(found, settled, call)
            check_version(before, if_match)
            stated = draft_of(before)
            draft = structs.replace(stated, **_changes(settled, change, stated, call.now))
            accepted = self.intake.changed(found, draft, before, call)
            if accepted.draft == stated:
                return self.store.leave(found, before, call, accepted.flags)
            parents = self._new_session(found, settled, change, call)
            plan = Plan() if change.spans is None else taking(self.store.database, found, settled, draft, call.now)
            return self._replace(found, row, before, accepted, parents, plan, call)

        written = self.store.run(space, call, attempt)
        return self._kept(space, name.level, written, call)

    def delete(self, space: str, name: ObjectName, call: Call) -> Ending:
        """End an object and all that belongs to it, as one step; a topic leaves its exchanges where they are.

        Raises:
            NotFound.
        """
        told: dict[str, int] = {}

        def attempt(found: SpaceRow) -> Written:
            settled = self._home(found, name, call)
            _, memory = self._find(found, settled, call)
            belongs = hierarchy.members(found, name.level, (settled.name, name.conversation), settled.category)
            (rows,) = self.store.database.read([conversations.kinds_of(belongs)])
            told.clear()
            told.update({str(kind): int(str(number)) for kind, number in rows})
            plan = conversations.plan_ends(belongs, sum(told.values()))
            # By its id: the log stays when the name is erased.
            action = cast(Action, f"{name.level}_deleted")
            note = operations.audit(call.now, call.caller.actor, action, space=space, target=memory.id)
            return self.store.turn(found, plan, "deleted", call, [note])

        written = self.store.run(space, call, attempt)
        return Ending(counts=told, seq=written.seq, plan=written.plan, commit=written.commit)

    def _named(self, space: SpaceRow, level: Level, new: NewObject, conversation: str | None, call: Call) -> ObjectName:
        category = namespace(call.caller, new.category)
        if conversation is not None:
            parent = ObjectName(level="conversation", name=conversation, category=category)
            category = self._home(space, parent, call).category
        name = new.name
        if name is None and level == "topic":
            (rows,) = self.store.database.read([conversations.topic_names(space, category, conversation or "")])
            taken = {row[0] for row in rows}
            name = next(f"t{number}" for number in range(1, len(taken) + 2) if f"t{number}" not in taken)
        return ObjectName(
            level=level,
            name=generated(level) if name is None else name,
            conversation=conversation if level == "topic" else None,
            category=category,
        )

    def _parents(self, space: SpaceRow, name: ObjectName, new: NewObject, call: Call) -> list[Draft]:
        """Return the drafts of missing parents: the session of a conversation.

        Raises:
            NotFound: there is no such conversation.
            ConversationClosed.
        """
        if name.level == "session":
            return []
        if name.level == "topic":
            parent = ObjectName(level="conversation", name=name.conversation or "", category=name.category)
            _check_open(self._find(space, parent, call)[1])
            return []
        session = object_draft(name, new).session or ""
        return self._session(space, ObjectName(level="session", name=session, category=name.category))

    def _new_session(self, space: SpaceRow, name: ObjectName, change: Change, call: Call) -> list[Accepted]:
        if change.session is None:
            return []
        drafts = self._session(space, ObjectName(level="session", name=change.session, category=name.category))
        return [self.intake.new(space, draft, call, echoes=False, hierarchy=True) for draft in drafts]

    def _session(self, space: SpaceRow, name: ObjectName) -> list[Draft]:
        """Return the draft of a session that is not there; none when it is, and open."""
        (rows,) = self.store.database.read([hierarchy.at_places(space, name.category, [name.place])])
        if rows:
            _check_open(version_rows.memory(rows[0], space.space.name))
            return []
        return [object_draft(name, NewObject())]

    def _make(self, space: SpaceRow, name: ObjectName, drafts: Sequence[Draft], call: Call) -> Written:
        # The object itself first, so that a refusal names the fields of the request.
        accepted = [self.intake.new(space, draft, call, echoes=False, hierarchy=True) for draft in reversed(drafts)]
        accepted.reverse()
        made = [one.first(space, id_text(self.store.ids.new(call.now)), call.now) for one in accepted]
        versions = ready(made, space, self.store.models)
        (there,) = self.store.database.read([hierarchy.at_places(space, name.category, [name.place])])
        if there and not self.store.is_known(call):
            raise PlaceTaken(name.level, name.name)
        plan = taking(self.store.database, space, name, drafts[-1], call.now) if name.level == "topic" else Plan()
        parts = [
            Part(
                new.memory,
                [
                    *accepted[place].statements,
                    *self.store.guarded_insertion(space, new, "created", call.caller, len(made) - 1 - place),
                    *([quotas.refuse_more(space, self.store.quota)] if place == len(made) - 1 else []),
                ],
                told=place == len(made) - 1,
            )
            for place, new in enumerate(versions)
        ]
        parts = guarded(plan, [*Keeper(self.store, self.intake).before(space, plan, len(made), call), *parts])
        flags = tuple(flag for one in accepted for flag in one.flags)
        try:
            return self.store.commit(
                self.store.begin(space, parts, call, created=True, flags=flags, numbers=len(parts))
            )
        except PlaceTaken as taken:
            if taken.kind == "session" and name.level == "conversation":
                raise Overtaken from None  # somebody else has made it meanwhile
            raise

    def _replace(
        self,
        space: SpaceRow,
        row: Row,
        before: Memory,
        accepted: Accepted,
        parents: Sequence[Accepted],
        plan: Plan,
        call: Call,
    ) -> Written:
        made = [one.first(space, id_text(self.store.ids.new(call.now)), call.now) for one in parents]
        versions = ready([*made, accepted.next(before, call.now)], space, self.store.models)
        *others, new = versions
        parts = Keeper(self.store, self.intake).before(space, plan, len(versions), call)
        parts += [
            Part(other.memory, self.store.guarded_insertion(space, other, "created", call.caller, 1), told=False)
            for other in others
        ]
        statements: list[Statement] = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before),
            *self.store.guarded_insertion(
                space, structs.replace(new, previous=cast(int, row[0])), "updated", call.caller
            ),
            quotas.refuse_larger(space, self.store.quota, new.memory),
        ]
        parts.append(Part(new.memory, statements))
        parts = guarded(plan, parts)
        begun = self.store.begin(space, parts, call, created=False, flags=accepted.flags, numbers=len(parts))
        return self.store.commit(begun)

    def _find(self, space: SpaceRow, name: ObjectName, call: Call) -> tuple[Row, Memory]:
        """Read an object. Raises `NotFound` when there is none for this caller."""
        (rows,) = self.store.database.read([one(space, name, Point(None, call.now))])
        if not rows:
            raise missing(name)
        return rows[0], version_rows.memory(rows[0], space.space.name)

    def _home(self, space: SpaceRow, name: ObjectName, call: Call) -> ObjectName:
        return home(self.store.database, space, name, call.caller, Point(None, call.now))

    def _kept(self, space: str, level: Level, written: Written, call: Call) -> Kept:
        """Return the object with its sizes, which a dry run does not count."""
        memory = written.memories[-1]
        conversation = memory.conversation if level == "topic" else None
        name = ObjectName(level=level, name=name_of(memory), conversation=conversation, category=memory.category)
        counted = Counted()
        if written.plan is None:
            (rows,) = self.store.database.read(
                [one(find_space(self.store.database, space), name, Point(None, call.now))]
            )
            counted = conversations.counted(rows[0]) if rows else counted
        return Kept(found=Object(level=level, name=name.name, memory=memory, counted=counted), written=written)


def _changes(name: ObjectName, change: Change, stated: Draft, now: int) -> dict[str, Any]:
    """Return the fields of a draft that change.

    Raises:
        InvalidInput: the object has no such field, or the value cannot be accepted.
    """
    _check_fields(name, change)
    fields: dict[str, Any] = {}
    structure: dict[str, Json] = {}
    if change.title is not None:
        check_title(change.title, "$.title")
        fields["content"], structure["title"] = change.title, "given"
    if change.users is not None:
        check_users(change.users, "$.users")
        structure["users"] = list(change.users)
    if change.spans is not None:
        structure["spans"], structure["bounds"] = spans_of(change.spans), "given"
    if change.state is not None and change.state != stated.structure.get("state", "open"):
        structure["state"] = change.state
        structure["closed_at"] = from_us(now).isoformat() if change.state == "closed" else None
    if change.session is not None:
        check_name(change.session, "$.session")
        fields["session"] = change.session
    given = {"metadata": change.metadata, "tags": change.tags}
    fields |= {field: value for field, value in given.items() if value is not None}
    if structure:
        kept = {**stated.structure, **structure}
        fields["structure"] = {field: value for field, value in kept.items() if value is not None}
    return fields


def _check_fields(name: ObjectName, change: Change) -> None:
    """Raise `InvalidInput` when a change is about a field that objects of this level lack."""
    if change.session is not None and name.level != "conversation":
        raise InvalidInput.at("$.session", f"a {name.level} does not move; only conversations do")
    if change.users is not None and name.level == "topic":
        raise InvalidInput.at("$.users", "a topic has the users of its conversation")
    if change.spans is not None and name.level != "topic":
        raise InvalidInput.at("$.spans", "only topics have stretches of turns")


def _check_open(memory: Memory) -> None:
    if memory.structure.get("state") == "closed":
        raise ConversationClosed(memory.conversation or memory.session or "")
