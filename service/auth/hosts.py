"""Which names a request may call the server by.

A page in a browser can make its own name lead to 127.0.0.1 (DNS rebinding) and so reach a server that asks nobody for
a key. It cannot make an IP address or `localhost` its name.
"""

import ipaddress
from collections.abc import Collection, Sequence

from muisti.service.schemas.errors import HttpError


def check_host(headers: Sequence[tuple[bytes, bytes]], own: str) -> None:
    """`own` is the name that the server listens on.

    Raises:
        HttpError: the request calls the server by a name that is not its own.
    """
    given = next((value.decode("latin-1") for name, value in headers if name == b"host"), "localhost")
    if host_of(given) not in ("localhost", own.lower()) and not is_address(host_of(given)):
        raise HttpError(
            "unknown_host",
            f"{given[:80]!r} is no name of this machine; while there are no keys, a server answers to localhost, "
            "127.0.0.1 and [::1] only (MUISTI_INSECURE=1 lifts this)",
        )


def check_listed(headers: Sequence[tuple[bytes, bytes]], names: Collection[str]) -> None:
    """Raises `HttpError` unless the request calls the server by one of the names that its operator lists."""
    given = next((value.decode("latin-1") for name, value in headers if name == b"host"), "")
    if host_of(given) not in {host_of(name) for name in names}:
        raise HttpError("unknown_host", f"{given[:80]!r} is none of MUISTI_HOSTS")


def host_of(header: str) -> str:
    """The host without port and brackets.

    >>> [host_of(h) for h in ("LocalHost:8321", "[::1]:8321", "127.0.0.1", "::1")]
    ['localhost', '::1', '127.0.0.1', '::1']
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header if header.count(":") > 1 else header.partition(":")[0].lower()


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
