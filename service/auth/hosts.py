"""Check of the Host header against DNS rebinding.

A web page can let its own domain resolve to 127.0.0.1, and so reach a server without keys. Its domain cannot be an IP
address or `localhost`.
"""

import ipaddress
from collections.abc import Collection, Sequence

from muisti.service.schemas.errors import HttpError


def check_host(headers: Sequence[tuple[bytes, bytes]], own: str) -> None:
    """Check the Host header of a request to a server without keys. `own` is the name that the server listens on.

    Raises:
        HttpError: the header names another host.
    """
    given = next((value.decode("latin-1") for name, value in headers if name == b"host"), "localhost")
    if host_of(given) not in ("localhost", own.lower()) and not is_address(host_of(given)):
        raise HttpError(
            "unknown_host",
            f"{given[:80]!r} is no name of this machine; a server without keys accepts only localhost, "
            "127.0.0.1 and [::1] (MUISTI_INSECURE=1 lifts this)",
        )


def check_listed(headers: Sequence[tuple[bytes, bytes]], names: Collection[str]) -> None:
    """Raise `HttpError` unless the Host header is one of the names that the operator lists."""
    given = next((value.decode("latin-1") for name, value in headers if name == b"host"), "")
    if host_of(given) not in {host_of(name) for name in names}:
        raise HttpError("unknown_host", f"{given[:80]!r} is none of MUISTI_HOSTS")


def host_of(header: str) -> str:
    """Return the host without port and brackets.

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
