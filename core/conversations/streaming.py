"""Turns that come into a conversation: missing parents are made in the same batch, and a turn is stored once.

A turn that is there already with the same content is `replayed`, so a request may be sent again. Turns without a number
take the next ones of the conversation.
"""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import structs

from muisti.core.conversations.model import DEFAULT_SESSION, EXCHANGES_MAX, Arrived, NewObject, Streamed, Turn
from muisti.core.conversations.objects import check_name, object_draft, users_of
from muisti.core.conversations.sql import conversations
from muisti.core.model.errors import Conflict, ConversationClosed, InvalidInput, PlaceTaken
from muisti.core.model.ids import id_text
from muisti.core.model.messages import joined
from muisti.core.model.outcomes import Written
from muisti.core.model.places import ObjectName, place_of
from muisti.core.model.values import Draft, Json, Memory, is_blank
from muisti.core.read.hierarchy import namespace
from muisti.core.store.database import Statement
from muisti.core.store.sql import hierarchy, inserting, quotas, version_rows
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Locks
from muisti.core.text.discourse.summarise import title_of
from muisti.core.text.terms import fold
from muisti.core.write.calls import Call, Part
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.prepare import draft_of, ready
from muisti.core.write.transactions import Transactions


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A request to stream turns in. `path` is the place of the turns in it. `session` is for a new conversation."""

    conversation: str
    turns: Sequence[Turn]
    session: str | None = None
    category: str | None = None
    path: str = "$.items"


class _Known(msgspec.Struct, frozen=True):
    """Stored parts of a conversation: its object, its session, its last turn, and those that a request names."""

    conversation: Memory | None
    session: Memory | None
    last: int
    turns: Mapping[int, Memory]


class _Item(msgspec.Struct, frozen=True):
    """A turn of a request as a draft with a number, and its place in the request."""

    draft: Draft
    path: str

    @property
    def turn(self) -> int:
        assert self.draft.turn is not None
        return self.draft.turn


class Streamer(msgspec.Struct, frozen=True):
    """Thread-safe. All methods raise what those of `Writer` do."""

    store: Transactions
    intake: Intake
    numbering: Locks = msgspec.field(default_factory=Locks)

    def add(self, space: str, stream: Stream, call: Call) -> Streamed:
        """Store all turns of a request or none. The caller must read, for a conversation and its turns have names.

        Raises:
            InvalidInput, SensitiveContent, Forbidden, Echo, QuotaExceeded.
            PlaceTaken: a turn is there with another content.
            ConversationClosed: the conversation or its session takes no more turns.
            Conflict: the conversation belongs to another session than the request says.
        """
        call.caller.check_reads("turns of conversations need read")
        if not 1 <= len(stream.turns) <= EXCHANGES_MAX:
            raise InvalidInput.at(stream.path, f"has {len(stream.turns):,} turns; 1 to {EXCHANGES_MAX:,} are allowed")
        check_name(stream.conversation, "$.conversation")
        if all(turn.turn is not None for turn in stream.turns):
            return self._add(space, stream, call)
        with self.numbering.of((space, stream.conversation)):  # else they take each other's numbers
            return self._add(space, stream, call)

    def _add(self, space: str, stream: Stream, call: Call) -> Streamed:
        done: list[Streamed] = []

        def attempt(found: SpaceRow) -> Written:
            for field in ("conversation", "session", "category"):  # here, so that a refusal names it as asked
                if (name := getattr(stream, field)) is not None:
                    self.intake.name(found, name, call, f"$.{field}")
            adding = _Adding(found, stream, call, namespace(call.caller, stream.category))
            known = self._known(adding)
            items = _numbered(stream, adding.category, known.last)
            arrived = self._arrived(adding, known, items)
            written = self._written(adding, known, arrived)
            done[:] = [_streamed(adding, known, items, written)]
            return written

        written = self.store.run(space, call, attempt)
        if done:
            return done[0]
        return self._again(space, stream, call, written)

    def _again(self, space: str, stream: Stream, call: Call, written: Written) -> Streamed:
        """Return the answer of a request that was answered before, by its idempotency key."""
        from_before = [Arrived(memory, True) for memory in written.memories]
        first = written.memories[0] if written.memories else None
        return Streamed(
            conversation=stream.conversation,
            session=None,
            category=first.category if first else None,
            items=tuple(from_before),
            next_turn=1 + max((memory.turn or 0 for memory in written.memories), default=0),
            seq=written.seq,
            flags=written.flags,
        )

    def _known(self, adding: "_Adding") -> _Known:
        space, name, category = adding.space, adding.stream.conversation, adding.category
        named = sorted({turn.turn for turn in adding.stream.turns if turn.turn is not None})
        places = [adding.conversation.place, *(f"exchange/{name}\x1f{turn}" for turn in named)]
        rows, sessions, last = self.store.database.read([
            hierarchy.at_places(space, category, places),
            conversations.session_of(space, category, name, adding.stream.session or DEFAULT_SESSION),
            conversations.last_turn(space, category, name),
        ])  # fmt: skip
        there = [version_rows.memory(row, space.space.name) for row in rows]
        session = version_rows.memory(sessions[0], space.space.name) if sessions else None
        found = next((memory for memory in there if memory.kind == "conversation"), None)
        turns = {memory.turn: memory for memory in there if memory.turn is not None}
        known = _Known(found, session, int(str(last[0][0])) if last else 0, turns)
        _check_open(adding.stream, known)
        return known

    def _arrived(self, adding: "_Adding", known: _Known, items: Sequence[_Item]) -> list[tuple[_Item, Memory | None]]:
        """Return the items, each turn once, with the memory that is there already; None for those that are new.

        Raises:
            PlaceTaken: a turn is there, or occurs twice in the request, with another content.
        """
        first: dict[int, _Item] = {}
        for item in items:
            if not _says_the_same(first.setdefault(item.turn, item).draft, item.draft):
                raise PlaceTaken("exchange", adding.stream.conversation, item.turn)
        found = [(item, known.turns.get(turn)) for turn, item in first.items()]
        for item, stored in found:
            if stored is not None and not self._same(adding, item, stored):
                raise PlaceTaken("exchange", adding.stream.conversation, item.turn)
        return found

    def _same(self, adding: "_Adding", item: _Item, stored: Memory) -> bool:
        """Return whether an item says what is stored, as it is or after the policy of the space has cleaned it."""
        if _says_the_same(item.draft, stored):
            return True
        draft = self._cleaned(adding, [item], echoes=False)[0].draft
        return _says_the_same(draft, stored)

    def _cleaned(self, adding: "_Adding", items: Sequence[_Item], *, echoes: bool) -> list[Accepted]:
        return self.intake.batch(
            adding.space,
            [item.draft for item in items],
            adding.call,
            [item.path for item in items],
            echoes=echoes,
            hierarchy=True,
        )

    def _written(self, adding: "_Adding", known: _Known, arrived: Sequence[tuple[_Item, Memory | None]]) -> Written:
        fresh = [item for item, memory in arrived if memory is None]
        if not fresh:
            stored = tuple(memory for _, memory in arrived if memory is not None)
            plan = self.store.nothing(adding.space, adding.call).plan
            return Written(memories=stored, seq=adding.space.seq, created=False, plan=plan)
        accepted = self._cleaned(adding, fresh, echoes=True)
        parents = self._parents(adding, known, accepted)
        now = adding.call.now
        made = [
            one.first(adding.space, id_text(self.store.ids.new(now)), now) for one in (*parents.values(), *accepted)
        ]
        changed = self._with_new_users(adding, known, accepted)
        versions = ready(made, adding.space, self.store.models)
        guard = self._guards(adding, known, [*parents, *(place_of(one.draft) or "" for one in accepted)])
        total = len(versions) + (changed is not None)
        head, numbers = list(guard), iter(range(total - 1, -1, -1))
        if changed is not None:
            head += self.store.insertion(adding.space, changed, "updated", adding.call.caller, next(numbers))
            head.insert(len(guard), inserting.end(adding.space, changed.memory, total - 1))
        born = [
            [*one.statements, *self.store.insertion(adding.space, new, "created", adding.call.caller, number)]
            for one, new, number in zip((*parents.values(), *accepted), versions, numbers, strict=True)
        ]
        parts = [Part(made[0], [*head, *(each for one in born[: len(parents)] for each in one)], told=False)]
        coming = iter(zip(versions[len(parents) :], born[len(parents) :], strict=True))
        for place, (item, memory) in enumerate(arrived):
            if memory is not None:
                parts.append(Part(memory, [inserting.refuse_stale(memory)], item.path, place))
                continue
            new, statements = next(coming)
            parts.append(Part(new.memory, statements, item.path, place))
        last = parts[-1]
        parts[-1] = structs.replace(
            last, statements=[*last.statements, quotas.refuse_more(adding.space, self.store.quota)]
        )
        flags = tuple(flag for one in accepted for flag in one.flags)
        begun = self.store.begin(adding.space, parts, adding.call, created=True, numbers=total, flags=flags)
        return self.store.commit(begun)

    def _guards(self, adding: "_Adding", known: _Known, places: Sequence[str]) -> list[Statement]:
        """Return what refuses the batch when others have changed the conversation meanwhile."""
        parents = [one for one in (known.session, known.conversation) if one is not None]
        gone = [conversations.refuse_gone(adding.space, one) for one in parents]
        return [*gone, conversations.refuse_there(adding.space, adding.category, places)]

    def _parents(self, adding: "_Adding", known: _Known, turns: Sequence[Accepted]) -> dict[str, Accepted]:
        if known.conversation is not None:
            return {}
        first = turns[0].draft
        session = adding.stream.session or DEFAULT_SESSION
        made: dict[str, Accepted] = {}
        if known.session is None:
            name = ObjectName(level="session", name=session, category=adding.category)
            made[name.place] = self.intake.new(
                adding.space, object_draft(name, NewObject()), adding.call, echoes=False, hierarchy=True
            )
        users = users_of([one.draft.author for one in turns])
        new = NewObject(session=session, users=tuple(users), at=first.event_at)
        draft = structs.replace(object_draft(adding.conversation, new), content=title_of(first.content))
        made[adding.conversation.place] = self.intake.new(
            adding.space, draft, adding.call, echoes=False, hierarchy=True
        )
        return made

    def _with_new_users(self, adding: "_Adding", known: _Known, turns: Sequence[Accepted]) -> NewVersion | None:
        """Return the next version of a conversation in which somebody speaks for the first time, None otherwise."""
        before = known.conversation
        if before is None:
            return None
        users = before.structure.get("users")
        names = [str(one) for one in users] if isinstance(users, list) else []
        more: list[Json] = [*users_of([one.draft.author for one in turns], names)]
        if len(more) <= len(names):
            return None
        stated = structs.replace(draft_of(before), structure={**before.structure, "users": more})
        accepted = self.intake.changed(adding.space, stated, before, adding.call)
        return ready([accepted.next(before, adding.call.now)], adding.space, self.store.models)[0]


class _Adding(msgspec.Struct, frozen=True):
    """A request on its way: the space, what it asks for, who asks, and the category of its names."""

    space: SpaceRow
    stream: Stream
    call: Call
    category: str | None

    @property
    def conversation(self) -> ObjectName:
        return ObjectName(level="conversation", name=self.stream.conversation, category=self.category)


def _check_open(stream: Stream, known: _Known) -> None:
    """Raise unless the conversation takes turns, and belongs to the session that the request names."""
    if known.session is not None and known.session.structure.get("state") == "closed":
        raise ConversationClosed(stream.conversation)
    if known.conversation is None:
        return
    if known.conversation.structure.get("state") == "closed":
        raise ConversationClosed(stream.conversation)
    if stream.session is not None and known.conversation.session != stream.session:
        raise Conflict(
            f"conversation {stream.conversation!r} belongs to session {known.conversation.session!r}; leave `session` "
            "out, or move the conversation"
        )


def _numbered(stream: Stream, category: str | None, last: int) -> list[_Item]:
    """Return the turns of a request as drafts; those without a number follow the last before them."""
    items: list[_Item] = []
    for place, turn in enumerate(stream.turns):
        number = last + 1 if turn.turn is None else turn.turn
        last = max(last, number)
        path = f"{stream.path}[{place}]"
        items.append(_Item(draft_of_turn(turn, stream.conversation, number, category, path), path))
    return items


def draft_of_turn(turn: Turn, conversation: str, number: int, category: str | None, path: str) -> Draft:
    """Return the draft of an exchange: both messages as one text, with the place where the reply begins.

    Raises:
        InvalidInput: one of two messages is blank, so that the text would say nothing of its speaker.
    """
    if turn.reply is not None and is_blank(turn.reply):
        raise InvalidInput.at(f"{path}.system", "must not be empty or blank; leave it out for a turn alone")
    if turn.reply is not None and is_blank(turn.content):
        told = "must not be empty or blank; a reply alone is a turn with `author` and `content`"
        raise InvalidInput.at(f"{path}.user", told)
    content, structure = joined(turn.content, turn.reply, turn.replier)
    return Draft(
        content=content,
        kind="exchange",
        category=category,
        author=turn.author,
        source=turn.source,
        source_class=turn.source_class,
        tags=turn.tags,
        metadata=turn.metadata,
        event_at=turn.at,
        conversation=conversation,
        turn=number,
        structure=structure,
    )


def _says_the_same(one: Draft, other: Draft | Memory) -> bool:
    return (
        one.content == other.content
        and fold(one.author or "") == fold(other.author or "")
        and one.structure == other.structure
    )


def _streamed(adding: _Adding, known: _Known, items: Sequence[_Item], written: Written) -> Streamed:
    session = adding.stream.session or DEFAULT_SESSION
    stored = {memory.turn: memory for memory in written.memories}
    seen = set(known.turns)
    arrived: list[Arrived] = []
    for item in items:
        arrived.append(Arrived(stored[item.turn], item.turn in seen))
        seen.add(item.turn)
    last = max([known.last, *(item.turn for item in items)])
    return Streamed(
        conversation=adding.stream.conversation,
        session=session if known.conversation is None else known.conversation.session,
        category=adding.category,
        items=tuple(arrived),
        next_turn=last + 1,
        seq=written.seq,
        flags=written.flags,
        plan=written.plan,
        commit=written.commit,
    )
