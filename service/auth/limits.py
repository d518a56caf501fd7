"""Limits of the request rate and of concurrent requests of a caller, counted in this process."""

import math
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from muisti.service.schemas.errors import HttpError

CALLERS_MAX = 10_000  # the least recent are forgotten, which gives them a full bucket
BURST_SECONDS = 2.0  # seconds of requests that a full bucket holds


class _Caller(msgspec.Struct):
    left: float
    at: float
    running: int = 0


class Room(msgspec.Struct, frozen=True):
    """Remaining requests of a caller, and the seconds until there are `limit` again."""

    limit: int
    remaining: int
    reset: int


class Limits:
    """Token buckets. `rate` is in requests a second, `concurrency` in requests that run together; 0 for no limit."""

    def __init__(self, rate: float, concurrency: int) -> None:
        self._rate, self._concurrency = rate, concurrency
        self._burst = max(1.0, rate * BURST_SECONDS)
        self._callers: OrderedDict[str, _Caller] = OrderedDict()

    @property
    def none(self) -> bool:
        return not self._rate and not self._concurrency

    def take(self, actor: str, now: float) -> Room | None:
        """Take one request from a caller's bucket; `now` in seconds of any clock that never goes back.

        Raises:
            HttpError: the bucket is empty.
        """
        if not self._rate:
            return None
        caller = self._caller(actor, now)
        caller.left = min(self._burst, caller.left + (now - caller.at) * self._rate)
        caller.at = now
        if caller.left < 1:
            wait = math.ceil((1 - caller.left) / self._rate)
            headers = {"Retry-After": str(wait), **headers_of(Room(int(self._burst), 0, self._reset(caller)))}
            raise HttpError(
                "rate_limited", f"more than {self._rate:g} requests a second; try again in {wait} s", headers
            )
        caller.left -= 1
        return Room(int(self._burst), int(caller.left), self._reset(caller))

    @contextmanager
    def running(self, actor: str, now: float) -> Generator[None]:
        """Count a request of a caller as running inside the context.

        Raises:
            HttpError: too many run already.
        """
        if not self._concurrency:
            yield
            return
        caller = self._caller(actor, now)
        if caller.running >= self._concurrency:
            raise HttpError(
                "too_many_at_once", f"{self._concurrency} requests of this key are running; wait until one ends"
            )
        caller.running += 1
        try:
            yield
        finally:
            caller.running -= 1

    def _reset(self, caller: _Caller) -> int:
        return math.ceil((self._burst - caller.left) / self._rate)

    def _caller(self, actor: str, now: float) -> _Caller:
        caller = self._callers.get(actor)
        if caller is None:
            caller = self._callers[actor] = _Caller(self._burst, now)
            if len(self._callers) > CALLERS_MAX:
                self._forget()
        self._callers.move_to_end(actor)
        return caller

    def _forget(self) -> None:
        idle = next((actor for actor, caller in self._callers.items() if not caller.running), None)
        if idle is not None:
            del self._callers[idle]


def headers_of(room: Room) -> dict[str, str]:
    return {
        "RateLimit-Limit": str(room.limit),
        "RateLimit-Remaining": str(room.remaining),
        "RateLimit-Reset": str(room.reset),
    }
