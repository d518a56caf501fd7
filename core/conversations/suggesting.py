"""Preferences that users state in a conversation, as memories that a person may accept. Nothing is stored here."""

from collections.abc import Iterator, Sequence

import msgspec

from muisti.core.model.messages import messages_of
from muisti.core.model.values import Draft, Memory
from muisti.core.text.discourse.signals import stating

SUGGESTIONS_MAX = 50  # of one request
READ_MAX = 1_000  # turns that one request reads


class Suggestion(msgspec.Struct, frozen=True):
    """A preference as a candidate, and the turn in which it is stated."""

    turn: int
    draft: Draft


class Suggestions(msgspec.Struct, frozen=True):
    """Preferences in the order of their turns. `next_turn` is where to go on, None when all turns were read."""

    items: Sequence[Suggestion]
    next_turn: int | None


def suggestions(exchange: Memory) -> Iterator[Suggestion]:
    """Yield the preferences that an exchange states, one of each message.

    A suggestion has the sentences that state it and their speaker. What an assistant says, or nobody in particular, is
    no preference of a user.
    """
    for one in messages_of(exchange):
        author = one.speaker
        found = stating(one.text, "preference", author=author)
        if author is not None and found:
            draft = Draft(
                content=" ".join(found),
                type="preference",
                status="candidate",
                author=author,
                category=exchange.category,
                event_at=exchange.event_at,
                derived_from=(exchange.id,),
            )
            yield Suggestion(exchange.turn or 0, draft)
