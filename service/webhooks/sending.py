"""A message on its way: signed as Standard Webhooks say, to an address that was looked at, redirected nowhere.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from muisti.service.settings import Settings, names_in
from muisti.service.version import installed_version
from muisti.service.webhooks.addresses import Allowed, Refused

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 10.0
GONE = 410


@dataclass(frozen=True, slots=True)
class Failed(Exception):
    """It was not taken, and why. `gone`: nor will any other be."""

    why: str
    gone: bool = False


def signature(secret: str, message_id: str, at: int, body: bytes) -> str:
    """The header `webhook-signature`; `at` in seconds since 1970.

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.removeprefix("whsec_"))
    said = f"{message_id}.{at}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, said, hashlib.sha256).digest()).decode()


def allowed_by(settings: Settings) -> Allowed:
    """Where the operator lets webhooks go."""
    return Allowed(names_in(settings.webhook_hosts), private=settings.webhook_private)


class Sender:
    """Sends. Thread-safe."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed

    @cached_property
    def _client(self) -> "httpx.Client":
        """No proxy of the environment, and no connection that serves twice: the next name is another host."""
        httpx: Any = import_module("httpx")
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=False, follow_redirects=False, limits=limits)

    def send(self, url: str, secret: str, message_id: str, at: int, body: bytes) -> None:
        """POST a message once; `at` in seconds since 1970.

        Raises:
            Failed: it was not answered with 2xx within some seconds, or may not go there.
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
