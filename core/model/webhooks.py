"""Webhooks: addresses that are notified of the changes of a space, and the progress of each."""

from msgspec import Struct

from muisti.core.model.terms import ChangeKind, Show


class Kept(Struct, frozen=True, kw_only=True):
    """A webhook as it is stored; times in microseconds."""

    id: str
    url: str
    secret: str
    kinds: tuple[ChangeKind, ...]
    show: Show
    made_at: int
    actor: str
    epoch: str
    cursor: int
    attempts: int = 0
    error: str | None = None
    told_at: int | None = None
    stopped: str | None = None


class DeadLetter(Struct, frozen=True):
    """Changes from `first` to `last` that could not be delivered; `at` is the time in microseconds."""

    first: int
    last: int
    attempts: int
    error: str
    at: int


class Webhook(Struct, frozen=True):
    """A webhook, and the changes that could not be delivered, the newest first."""

    kept: Kept
    dead_letters: tuple[DeadLetter, ...] = ()

    @property
    def state(self) -> str:
        """`ok`, `retrying`, or why it has stopped."""
        return self.kept.stopped or ("retrying" if self.kept.attempts else "ok")
