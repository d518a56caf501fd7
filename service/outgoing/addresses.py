"""Checks where requests may go: to hosts that the operator names, and not into the server's private network.

A name is resolved once for each request, all its addresses are checked, and the connection goes to a checked address.
So a name that resolves to another address a moment later gains nothing (DNS rebinding).
"""

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

import msgspec

URL_MAX = 2_000  # characters
PORTS = {"https": 443, "http": 80}
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # maps every IPv4 address, private ones too

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Refused(Exception):
    """A request may not go there. The message says why, without naming addresses."""


class Target(msgspec.Struct, frozen=True):
    """The destination of a request: the checked address, and the host whose name is sent."""

    url: SplitResult
    host: str
    port: int
    address: Address

    @property
    def pinned(self) -> str:
        """The URL with the address in place of the name."""
        literal = f"[{self.address}]" if self.address.version == 6 else str(self.address)
        return self.url._replace(netloc=f"{literal}:{self.port}", fragment="").geturl()


class Allowed(msgspec.Struct, frozen=True):
    """The destinations that the operator allows.

    `hosts` are names, or `*.` and the end of names, with a port unless it is the usual one. `private` also allows
    addresses of this machine and of private networks, and http. `setting_of_hosts` and `setting_of_private` are the
    settings that refusals name.
    """

    hosts: Sequence[str]
    private: bool = False
    setting_of_hosts: str = "MUISTI_WEBHOOK_HOSTS"
    setting_of_private: str = "MUISTI_WEBHOOK_PRIVATE"

    def check(self, url: str) -> tuple[SplitResult, str, int]:
        """Check a URL without resolving it; return its parts, its host and its port.

        Raises:
            Refused: requests may not have this URL.
        """
        if not self.hosts:
            raise Refused(f"the server allows no host ({self.setting_of_hosts})")
        try:
            parts = urlsplit(url)
            port = parts.port or PORTS.get(parts.scheme, 0)
        except ValueError:
            raise Refused("is no URL") from None
        host = (parts.hostname or "").rstrip(".").lower()
        if len(url) > URL_MAX or not host or not url.isascii() or not url.isprintable() or " " in url:
            raise Refused(f"must be a URL with a host, of at most {URL_MAX:,} ASCII characters")
        if parts.scheme != "https" and not (self.private and parts.scheme == "http"):
            raise Refused("must begin with https://")
        if parts.username is not None or parts.password is not None or parts.fragment:
            raise Refused("must have no user name, password or fragment")
        if not any(_fits(pattern.lower(), host, port, PORTS[parts.scheme]) for pattern in self.hosts):
            raise Refused(f"its host is none of those that the server allows ({self.setting_of_hosts})")
        return parts, host, port

    def resolve(self, url: str) -> Target:
        """Resolve the destination of a request to a URL.

        Raises:
            Refused: the URL is not allowed, or its name resolves to an address that is not allowed.
        """
        parts, host, port = self.check(url)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise Refused("its host has no address") from None
        addresses = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]
        if not self.private and not all(is_public(address) for address in addresses):
            raise Refused(f"its host is in a private network ({self.setting_of_private})")
        return Target(parts, host, port, addresses[0])


def is_public(address: Address) -> bool:
    """Tell whether an address is in the public internet.

    >>> some = ("1.1.1.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1")
    >>> [is_public(ipaddress.ip_address(one)) for one in some]
    [True, False, False, False, False]
    """
    if address.version == 6:
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.sixtofour is not None or address.teredo is not None or address in NAT64:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _fits(pattern: str, host: str, port: int, usual: int) -> bool:
    """Tell whether a host and port match an entry of the list.

    >>> [_fits("*.acme.com", host, 443, 443) for host in ("a.acme.com", "a.b.acme.com", "acme.com", "eacme.com")]
    [True, True, False, False]
    """
    name, colon, number = pattern.rpartition(":") if not pattern.endswith("]") else (pattern, "", "")
    name, wanted = (name, int(number)) if colon else (pattern, usual)
    name = name.strip("[]")
    return port == wanted and (host.endswith(name[1:]) if name.startswith("*.") else host == name)
