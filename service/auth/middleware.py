"""Auth middleware: it finds the caller of each request, and refuses invalid keys and too many requests."""

import math
import time
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.identity.grants import EVERYTHING
from muisti.core.operations.keys import digest
from muisti.core.views.memories import Memories
from muisti.service.auth.access import OPEN, STATE, Access, check, stranger
from muisti.service.auth.browser import SAFE, check_host, check_listed, session_of
from muisti.service.auth.challenge import Challenge, Resource
from muisti.service.auth.claims import BadToken
from muisti.service.auth.keyring import Keyring
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.asgi import ASGIApp, Message, Receive, Scope, Send
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.sdk_errors import PREFIX

# Limits of the request rate and of concurrent requests of a caller, counted in this process

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
        self.none = not rate and not concurrency
        self._burst = max(1.0, rate * BURST_SECONDS)
        self._callers: OrderedDict[str, _Caller] = OrderedDict()

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


Header = tuple[bytes, bytes]

BEARER = "bearer "
METRICS = "/metrics"
ALLOW = "Muisti-Allow"
_ALLOW = ALLOW.lower().encode()
API_KEY = b"x-api-key"  # on the paths of memory stores, whose SDK sends a key by it
SCREENED = frozenset({"secrets", "personal_data"})
NOTHING_MORE = frozenset[str]()
KEYS_ONLY = Challenge()


class Tokens(Protocol):
    """Bearer tokens of an issuer; see `service.auth.tokens`."""

    async def find(self, token: str, challenge: Challenge) -> Access: ...


class AuthMiddleware:
    """Middleware that finds the caller. The application's start sets `keyring`, and `tokens` if they are configured.

    `public`: as `open` takes them.

    `own_host`: the only name, beside those of this machine, by which requests may call a server without keys; None
    allows any name. `trusted`: the caller of every request, who has the database file and needs no key. `resource`: the
    resource that tokens are issued for. `metrics_key`: a secret for the path of the metrics alone.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        public: Sequence[str],
        *,
        own_host: str | None,
        hosts: Sequence[str] = (),
        trusted: Access | None = None,
        needed: bool = False,
        resource: Resource | None = None,
        metrics_key: str | None = None,
    ) -> None:
        self._app, self._limits = app, limits
        self.open(public)
        self._own_host, self._hosts, self._trusted, self._needed = own_host, hosts, trusted, needed
        self._resource = resource
        self._metrics = None if metrics_key is None else digest(metrics_key)
        self.keyring: Keyring | None = None
        self.tokens: Tokens | None = None

    def open(self, public: Sequence[str]) -> None:
        """Say which paths need no key and no database; a slash at the end includes all paths below."""
        self._public = frozenset(public)
        self._below = tuple(path for path in public if path.endswith("/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] in self._public or scope["path"].startswith(self._below):
            cast(dict[str, Any], scope)[STATE] = stranger(KEYS_ONLY)
            await self._app(scope, receive, send)
            return
        access = await self.enter(scope["headers"], scope["path"], scope["method"])
        cast(dict[str, Any], scope)[STATE] = access
        if self._limits.none or not access.known:  # unknown callers are refused by the application
            await self._app(scope, receive, send)
            return
        now = time.monotonic()
        room = self._limits.take(access.actor, now)
        limit_headers = {} if room is None else headers_of(room)
        added = [(name.lower().encode(), value.encode()) for name, value in limit_headers.items()]

        async def telling(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *added]
            await send(message)

        with self._limits.running(access.actor, now):
            await self._app(scope, receive, telling)

    async def enter(self, headers: Sequence[Header], path: str, method: str = "GET") -> Access:
        """Find the caller of a request, by its key, its token, or for reads the session of the console.

        Raises:
            HttpError: the key is not valid, or a server without keys is called by a wrong name.
        """
        if self._trusted is not None:
            return self._trusted
        if self._hosts:
            check_listed(headers, self._hosts)
        keyring = self.keyring
        assert keyring is not None
        given = dict(headers).get(b"authorization")
        if path.startswith(PREFIX):  # the SDK always sends a key, also to a server that needs none
            given = (given or _bearer(dict(headers))) if self._needed or await keyring.needed() else None
        challenge = KEYS_ONLY if self._resource is None else self._resource.challenge(path, headers)
        if given is not None:
            return await self._with_bearer(keyring, given.decode("latin-1"), challenge, path)
        session = session_of(headers) if method in SAFE else None
        if session is not None and (access := await keyring.find(session)) is not None:
            return access
        if self._needed or await keyring.needed():
            return stranger(challenge)
        if self._own_host is not None and not self._hosts:
            check_host(headers, self._own_host)
        return OPEN

    async def recognise(self, headers: Sequence[Header], path: str) -> Access:
        """Find the caller of a public path whose answer has more for known callers. Only a bad key is refused.

        Raises:
            HttpError: the key is not valid.
        """
        try:
            return await self.enter(headers, path)
        except HttpError as error:
            if error.code != "unknown_host":
                raise
            return stranger(KEYS_ONLY)

    async def _with_bearer(self, keyring: Keyring, given: str, challenge: Challenge, path: str) -> Access:
        if given[: len(BEARER)].lower() != BEARER:
            challenged = {"WWW-Authenticate": challenge.text()}
            raise HttpError("unauthorized", "Authorization must be `Bearer` and a key", challenged)
        secret = given[len(BEARER) :].strip()
        if path == METRICS and self._metrics == digest(secret):  # both are hashes, so the time reveals nothing
            return SCRAPER
        try:
            if self.tokens is not None and _is_token(secret):
                return await self.tokens.find(secret, challenge)
            access = await keyring.find(secret)
            if access is None:
                raise BadToken("this key is unknown, revoked or has expired")
        except BadToken as bad:
            challenged = {"WWW-Authenticate": challenge.text("invalid_token", str(bad))}
            raise HttpError("unauthorized", str(bad), challenged) from None
        return access


def _bearer(headers: Mapping[bytes, bytes]) -> bytes | None:
    """Return the key of a client that sends it in a header of its own, as `Authorization` has it."""
    return None if API_KEY not in headers else b"Bearer " + headers[API_KEY]


SCRAPER = Access("metrics", EVERYTHING)  # only for the path of the metrics


def _is_token(secret: str) -> bool:
    """Tell whether a secret has the form of a JWT: a JSON object in base64, and two more parts. No key has."""
    return secret.startswith("ey") and secret.count(".") == 2


def seen(scope: Scope, backend: Backend, *, dry_run: bool = False) -> Memories:
    """Return the memories that the caller of a request may see; with `dry_run` writes are reported and rolled back."""
    return backend.engine.seen_by(caller_of(scope), dry_run=dry_run)


def caller_of(scope: Scope) -> Caller:
    """Return the caller of an ASGI scope for the core, with the parts of the policy that it overrides."""
    http = cast(dict[str, Any], scope)
    access: Access = http[STATE]
    allows = allowed(scope) if _ALLOW in dict(http["headers"]) else NOTHING_MORE
    return access.caller(http.get("request_id"), allows)


def allowed(scope: Scope) -> frozenset[str]:
    """Return the parts of the policy that a request overrides with its header Muisti-Allow.

    Raises:
        HttpError: the header names no part of a policy, or the scope `admin` is missing.
    """
    header = dict(cast(dict[str, Any], scope)["headers"])[_ALLOW].decode("latin-1")
    names = frozenset(name.strip() for name in header.split(","))
    if not names <= SCREENED:
        raise HttpError("malformed_header", f"{ALLOW} lists what to allow: {', '.join(sorted(SCREENED))}")
    check(access_of(scope), "admin")
    return names


def access_of(scope: Scope) -> Access:
    """Return the caller that the auth middleware found."""
    return cast(dict[str, Any], scope)[STATE]
