"""Challenges that tell a caller which credentials to send (RFC 6750), and who issues tokens (RFC 9728)."""

import re
from collections.abc import Iterable

import msgspec

from muisti.service.schemas.access_modes import MODES

WELL_KNOWN = "/.well-known/oauth-protected-resource"
MCP_PATH = "/mcp"
ADVERTISED = MODES["full"]  # admin is for people who know that they need it

Header = tuple[bytes, bytes]

_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


class Challenge(msgspec.Struct, frozen=True):
    """Challenge for the header WWW-Authenticate. `metadata` is the URL that names the issuer; None without tokens.

    >>> Challenge("https://a.example/m").text("invalid_token")
    'Bearer realm="muisti", error="invalid_token", resource_metadata="https://a.example/m"'
    """

    metadata: str | None = None
    prefix: str = ""

    def text(self, error: str = "", description: str = "", scope: str = "") -> str:
        """Return the value of WWW-Authenticate."""
        parts = {
            "realm": "muisti",
            "error": error,
            "error_description": description,
            "scope": scope and self.prefix + scope,
            "resource_metadata": self.metadata,
        }
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)


class Resource(msgspec.Struct, frozen=True):
    """This server as the resource that tokens are issued for. `url` is its public URL; None: the request's Host."""

    issuer: str
    prefix: str = ""
    url: str | None = None

    def challenge(self, path: str, headers: Iterable[Header]) -> Challenge:
        """Return the challenge for a caller of `path`."""
        below = MCP_PATH if path == MCP_PATH else ""
        return Challenge(f"{self._origin(headers)}{WELL_KNOWN}{below}", self.prefix)

    def address(self, path: str, headers: Iterable[Header]) -> str:
        """Return the resource identifier of `path`, which is empty or begins with a slash."""
        return f"{self._origin(headers)}{path}"

    @property
    def scopes(self) -> list[str]:
        """Return the scopes to request, as tokens name them."""
        return [self.prefix + scope for scope in ADVERTISED]

    def _origin(self, headers: Iterable[Header]) -> str:
        if self.url is not None:
            return self.url
        given = next((value.decode("latin-1") for name, value in headers if name == b"host"), "")
        return f"http://{given if _HOST.fullmatch(given) else 'localhost'}"
