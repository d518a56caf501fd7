"""Sends messages to webhooks: signed by the Standard Webhooks scheme, to a checked address, without redirects.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from muisti.core.engine import Engine
from muisti.core.model.operations import Kept
from muisti.core.model.outcomes import Event
from muisti.service.outgoing.addresses import Allowed, Refused
from muisti.service.schemas.changes import ChangeReply
from muisti.service.settings import Settings, names_in
from muisti.service.version import installed_version

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 10.0
GONE = 410


@dataclass(eq=False)
class Failed(Exception):
    """A message was not accepted; `why` says the reason. `gone`: the address wants no further messages (410)."""

    why: str
    gone: bool = False


def signature(secret: str, message_id: str, at: int, body: bytes) -> str:
    """Return the header `webhook-signature`; `at` is in seconds since 1970.

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.removeprefix("whsec_"))
    said = f"{message_id}.{at}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, said, hashlib.sha256).digest()).decode()


def allowed_by(settings: Settings) -> Allowed:
    """Return the destinations that the settings allow."""
    return Allowed(names_in(settings.webhook_hosts), private=settings.webhook_private)


class Sender:
    """Sends messages to webhooks. Thread-safe."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed

    @cached_property
    def _client(self) -> "httpx.Client":
        """Make a client without proxies and without keep-alive: the next message goes to another host."""
        httpx: Any = import_module("httpx")
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=False, follow_redirects=False, limits=limits)

    def send(self, url: str, secret: str, message_id: str, at: int, body: bytes) -> None:
        """POST a message once; `at` is in seconds since 1970.

        Raises:
            Failed: no 2xx answer came within the timeout, or the URL is not allowed.
        """
        httpx: Any = import_module("httpx")
        try:
            target = self.allowed.resolve(url)
        except Refused as refused:
            raise Failed(str(refused)) from None
        headers = {
            "Host": target.url.netloc,
            "Content-Type": "application/json",
            "User-Agent": f"Muisti/{installed_version()}",
            "webhook-id": message_id,
            "webhook-timestamp": str(at),
            "webhook-signature": signature(secret, message_id, at, body),
        }
        extensions = {"sni_hostname": target.host}
        try:
            with self._client.stream(
                "POST", target.pinned, content=body, headers=headers, extensions=extensions
            ) as answer:  # whose body is not read
                status = answer.status_code
        except httpx.HTTPError as error:
            raise Failed(f"no answer: {type(error).__name__}") from None
        if not 200 <= status < 300:
            raise Failed(f"answered {status}", gone=status == GONE)


# The sweep that delivers webhooks: sends the changes since the last delivery, one by one, in order

SECOND_US = 1_000_000


class Deliverer:
    """Runs a step of the sweep of webhooks; see `service.background.upkeep.Sweep`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def __call__(self, engine: Engine, space: str, now: int) -> bool:
        """Deliver some of the due changes to the webhooks of a space; return whether there are more."""
        return any([self._some(engine, space, one, now) for one in engine.webhooks.due(space, now)])

    def _some(self, engine: Engine, space: str, one: Kept, now: int) -> bool:
        events = engine.webhooks.next_of(space, one, now)
        if events is None:
            return True
        delivered = one.cursor
        for event in events.items:
            try:
                self._send(one, space, event, engine.now())
            except Failed as failed:
                engine.webhooks.failed(one, delivered, event.seq, failed.why, engine.now(), gone=failed.gone)
                return False
            delivered = event.seq
        engine.webhooks.reached(one, events.reached.number, engine.now())
        return events.more

    def _send(self, one: Kept, space: str, event: Event, now: int) -> None:
        message_id = f"msg_{one.epoch.replace('-', '')}_{event.seq}"
        body = msgspec.json.encode(message(space, event, one))
        self._sender.send(one.url, one.secret, message_id, now // SECOND_US, body)


def message(space: str, event: Event, one: Kept) -> dict[str, Any]:
    """Return the message about a change: its type, its time, and the change as the feed has it."""
    what = "space" if event.memory_id is None else "memory"
    data = {"space": space, **msgspec.to_builtins(ChangeReply.of(event, one.show))}
    return {"type": f"{what}.{event.kind}", "timestamp": data["at"], "data": data}


def spaces_with_due(engine: Engine, now: int) -> list[str]:
    return engine.webhooks.spaces_with_due(now)
