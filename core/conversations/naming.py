"""Names of objects, checked and generated, and drafts of new objects."""

import uuid
from collections.abc import Sequence

from muisti.core.conversations.model import DEFAULT_SESSION, USERS_MAX, NewObject
from muisti.core.model.errors import InvalidInput
from muisti.core.model.places import ObjectName
from muisti.core.model.values import NAME_MAX, REASON_MAX, Draft, Json
from muisti.core.text.speakers import is_side
from muisti.core.text.terms import fold


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
