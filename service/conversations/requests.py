"""Requests about sessions, conversations, topics and exchanges."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import UNSET, Struct, UnsetType

from muisti.core.conversations.model import EXCHANGES_MAX, Change, NewObject, Turn
from muisti.core.conversations.view import Stream
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput
from muisti.core.model.messages import ASSISTANT
from muisti.service.conversations.replies import Spans, StateName, Title, Users
from muisti.service.http.decode import decode
from muisti.service.schemas import fields
from muisti.service.schemas.copying import copied
from muisti.service.schemas.fields import doc

USER = "user"  # who speaks first in an exchange that names nobody

Message = Annotated[str, doc("What was said: not blank, no NUL.", minLength=1)]
_LINE = re.compile(rb"\S[^\n]*")  # one that is not empty, from its first character


class SessionBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A session to make. Without a name it gets one."""

    name: fields.SessionName | None = None
    title: Title | None = None
    users: Users = []
    metadata: fields.Metadata = {}
    tags: fields.Tags = []
    category: fields.Category | None = None

    def new(self) -> NewObject:
        return NewObject(**{**msgspec.structs.asdict(self), "users": tuple(self.users), "tags": tuple(self.tags)})


class ConversationBody(SessionBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A conversation to make. A missing session is made with it; without one it belongs to `default`."""

    name: fields.ConversationName | None = None
    session: fields.SessionName | None = None
    at: fields.EventAt | None = None


class TopicBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A topic to make: stretches of turns of the conversation. Without a name it gets one, such as `t1`."""

    name: fields.TopicName | None = None
    title: Title | None = None
    spans: Spans = []
    metadata: fields.Metadata = {}
    tags: fields.Tags = []

    def new(self, category: str | None) -> NewObject:
        return NewObject(
            name=self.name,
            title=self.title,
            spans=_pairs(self.spans),
            metadata=self.metadata,
            tags=tuple(self.tags),
            category=category,
        )


class SessionPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a session: what is absent stays."""

    title: Title | UnsetType = UNSET
    users: Users | UnsetType = UNSET
    metadata: fields.Metadata | UnsetType = UNSET
    tags: fields.Tags | UnsetType = UNSET
    state: StateName | UnsetType = UNSET

    def change(self) -> Change:
        """Return the changes for the core.

        Raises:
            InvalidInput: there is no such state.
        """
        given = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not UNSET}
        if given.get("state") not in (None, "open", "closed"):
            raise InvalidInput.at("$.state", f"{given['state'][:40]!r} is none of open, closed")
        lists = {name: tuple(given[name]) for name in ("users", "tags") if name in given}
        spans = {"spans": _pairs(given["spans"])} if "spans" in given else {}
        return Change(**{**given, **lists, **spans})


class ConversationPatch(SessionPatch, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a conversation: what is absent stays. `session` moves it; a missing session is made."""

    session: fields.SessionName | UnsetType = UNSET


class TopicPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a topic: what is absent stays."""

    title: Title | UnsetType = UNSET
    spans: Spans | UnsetType = UNSET
    metadata: fields.Metadata | UnsetType = UNSET
    tags: fields.Tags | UnsetType = UNSET
    state: StateName | UnsetType = UNSET

    change = SessionPatch.change


class ExchangeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A turn: an exchange of `user` and `system`, or what `author` says, in `content`."""

    turn: fields.TurnNumber | None = None
    at: fields.EventAt | None = None
    user: Message | None = None
    system: Message | None = None
    author: fields.Author | None = None
    content: Message | None = None
    metadata: fields.Metadata = {}
    tags: fields.Tags = []
    source: fields.Source | None = None
    source_class: fields.SourceClassName = "unknown"

    def said(self, path: str) -> Turn:
        """Return the turn for the core; `path` is its place in the request.

        Raises:
            InvalidInput: it holds no message, or both forms.
        """
        first, author, reply = self.content, self.author, None
        if self.content is None:
            first, reply = (self.system, None) if self.user is None else (self.user, self.system)
            author = author or (ASSISTANT if self.user is None else USER)
        elif self.user is not None or self.system is not None:
            raise InvalidInput.at(f"{path}.content", "goes without user and system: those are an exchange of two")
        if first is None:
            raise InvalidInput.at(path, "needs `user` and `system`, or `author` and `content`")
        return copied(Turn, self, content=first, author=author, reply=reply, replier=None, tags=tuple(self.tags))


class ExchangesBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns to stream in, decoded one by one. `session` is for a conversation that is not there yet."""

    items: list[msgspec.Raw]
    session: fields.SessionName | None = None
    category: fields.Category | None = None

    @classmethod
    def of_lines(cls, body: bytes) -> "ExchangesBody":
        """Read newline-delimited JSON, one turn a line; empty lines do not count."""
        lines = islice(_LINE.finditer(body), EXCHANGES_MAX + 1)
        return cls(items=[msgspec.Raw(line[0]) for line in lines])

    def stream(
        self, conversation: str, items: Sequence[ExchangeBody], session: str | None, category: str | None
    ) -> Stream:
        """Return the request for the core. Parameters replace what is missing in the body."""
        for name, own, given in (("session", self.session, session), ("category", self.category, category)):
            if own is not None and given not in (None, own):
                raise InvalidInput.at(f"$.{name}", "is one thing in the body and another in the query string")
        return Stream(
            conversation=conversation,
            turns=[item.said(f"$.items[{place}]") for place, item in enumerate(items)],
            session=self.session or session,
            category=self.category or category,
        )


decoder(ExchangeBody)  # items are read on worker threads


def turns_of(data: ExchangesBody, path: str = "$.items") -> list[ExchangeBody]:
    """Return the turns of a request.

    Raises:
        InvalidInput, HttpError: one of them is none.
    """
    return [decode(raw, ExchangeBody, f"{path}[{place}]") for place, raw in enumerate(data.items)]


def _pairs(spans: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in spans)
