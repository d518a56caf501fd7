"""The command that agent clients run for each event: it passes the event on to a running server, and prints the answer.

    python -I -S muisti_hook.py CLIENT[:EVENT] --database FILE [--space NAME]
    python -I muisti_hook.py CLIENT[:EVENT] --url URL [--space NAME]

It imports next to nothing, because an agent waits for it at every prompt. It starts no process. Without a server it is
silent and leaves a line in a log. It exits with 0 whatever happens.
"""

import _socket
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 3.0  # for the whole answer
READ_MAX = 4_000_000  # bytes of an event
ANSWER_MAX = 1_000_000
ANNOUNCED, SOCKET = (
    "-server",
    "-hooks",
)  # behind the path of the database: its server's URL, and a socket of `muisti mcp`
ANNOUNCED_MAX = 4_096
LOG_MAX = 64_000  # bytes
HEAD_END = b"\r\n\r\n"


class NoServer(Exception):
    """No server runs, or none that may be trusted."""


def main(words: "Sequence[str] | None" = None) -> int:
    """Pass on the event of standard input; return 0 in any case."""
    given = sys.argv[1:] if words is None else words
    try:
        answer = ask(given, sys.stdin.buffer.read(READ_MAX), os.environ)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except Exception as error:  # noqa: BLE001  # an agent never fails by its memory
        note(f"{' '.join(given[:1])}: {type(error).__name__} {error}", os.environ)
    return 0


def ask(words: "Sequence[str]", body: bytes, environ: "Mapping[str, str]") -> bytes:
    """Return the answer of the server to an event.

    Raises:
        NoServer, OSError: nobody answers.
    """
    client, _, event = words[0].partition(":")
    options = dict(zip(words[1::2], words[2::2], strict=False))
    space = options.get("--space") or environ.get("MUISTI_SPACE") or ""
    folder = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
    if url := options.get("--url", ""):
        space, secret = space or project_of(folder), environ.get("MUISTI_KEY", "")
        connected, host = connection(url)
    else:
        connected, host, secret = local(options["--database"])
        headers["Muisti-Folder"] = quoted(folder)
    if space:
        headers["Muisti-Project"] = space
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    lines = [f"POST /hooks/{client}{f'?event={event}' if event else ''} HTTP/1.1", f"Host: {host}"]
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items())])
    try:
        connected.sendall(head.encode("latin-1") + HEAD_END + body)
        return received(connected)
    finally:
        connected.close()


def local(database: str) -> "tuple[_socket.socket, str, str]":
    """Connect to the server of a database file, or to a `muisti mcp` that works on it.

    Raises:
        NoServer: neither runs.
        OSError: neither answers.
    """
    try:
        announced = trusted(database + ANNOUNCED)
        _, _, _, url, _, _, _, secret, *_ = announced.decode().split('"')  # {"url":"…","secret":"…", …
        return (*connection(url), secret)
    except (OSError, ValueError):
        pass
    path = database + SOCKET
    if os.path.exists(path) and not is_ours(os.lstat(path)):
        raise NoServer(f"the socket {path} belongs to another user")
    connected = _socket.socket(_socket.AF_UNIX)
    connected.settimeout(SECONDS)
    try:
        connected.connect(path)
    except OSError:
        connected.close()
        raise NoServer(f"neither `muisti serve` nor `muisti mcp` works on {database}") from None
    return connected, "localhost", ""


def trusted(path: str) -> bytes:
    """Return the content of a file that only this user can read or write.

    Raises:
        OSError: there is none.
        ValueError: others can.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if not is_ours(os.fstat(file)):
            raise ValueError("others can write the announcement")
        return os.read(file, ANNOUNCED_MAX)
    finally:
        os.close(file)


def is_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid() and not found.st_mode & 0o077


def connection(url: str) -> "tuple[_socket.socket, str]":
    """Connect to the host of a URL; return the connection, and the host as headers name it."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    name, _, port = host.rpartition(":") if ":" in host.rpartition("]")[2] else (host, "", "")
    at = int(port or (443 if scheme == "https" else 80))
    if scheme == "https":
        return secured(name, at), host
    family, kind, _, _, address = _socket.getaddrinfo(name.strip("[]"), at, 0, _socket.SOCK_STREAM)[0]
    connected = _socket.socket(family, kind)
    connected.settimeout(SECONDS)
    connected.connect(address)
    return connected, host


def secured(name: str, port: int) -> "_socket.socket":
    """Connect by TLS, whose modules take as long to load as all else together."""
    import socket  # noqa: PLC0415
    import ssl  # noqa: PLC0415

    plain = socket.create_connection((name, port), SECONDS)
    return ssl.create_default_context().wrap_socket(plain, server_hostname=name)


def received(connected: "_socket.socket") -> bytes:
    """Return the body of an answer.

    Raises:
        NoServer: the server refuses, as without a key that may read.
    """
    answer = b""
    while len(answer) <= ANSWER_MAX and (part := connected.recv(65_536)):
        answer += part
        head, found, body = answer.partition(HEAD_END)
        if found and len(body) >= length(head):
            status = head.split(b" ", 2)[1]
            if status[:1] != b"2":
                raise NoServer(f"the server answers with status {status.decode()}")
            return body
    return b""


def length(head: bytes) -> int:
    """Return the length of the body that a head announces; more than any when it announces none."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return ANSWER_MAX + 1


def project_of(folder: str) -> str:
    """Return the space of a folder, for a server that cannot look into it."""
    from pathlib import Path  # noqa: PLC0415

    from muisti.service.terminal.project import choose  # noqa: PLC0415

    return choose(None, {}, Path(folder)).space


def quoted(text: str) -> str:
    """Return a text as a header may have it: what is no plain sign is percent-encoded.

    >>> quoted("/home/me/a b")
    '/home/me/a%20b'
    """
    return "".join(chr(one) if 33 <= one < 127 and one != 37 else f"%{one:02X}" for one in os.fsencode(text))


def note(line: str, environ: "Mapping[str, str]") -> None:
    """Append a line to the log, which starts again when it is long."""
    folder = environ.get("XDG_CACHE_HOME") or f"{environ.get('HOME', '')}/.cache"
    try:
        os.makedirs(f"{folder}/muisti", exist_ok=True)
        path = f"{folder}/muisti/hooks.log"
        fresh = not os.path.exists(path) or os.path.getsize(path) > LOG_MAX
        with open(path, "w" if fresh else "a", encoding="utf-8", errors="replace") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {line[:300]!r}\n")
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(main())
