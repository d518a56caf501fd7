"""Locations of databases, as URLs: a file, or a server that speaks Hrana."""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

SCHEMES = {"libsql": "https", "https": "https", "http": "http"}


class Location(Struct, frozen=True, kw_only=True):
    """The URL of a database, and the credentials for it.

    All fields but `url` are for a server. Reads go to `replica_url`. `token_file` is read again when it changes. A call
    fails after `seconds`.

    >>> Location(url="file:muisti.db").file == Path.cwd() / "muisti.db"
    True
    """

    url: str
    replica_url: str | None = None
    token: str | None = None
    token_file: Path | None = None
    namespace: str | None = None
    seconds: float = 10.0

    def __repr__(self) -> str:
        """Return the URLs and the namespace, without credentials."""
        return f"Location(url={self.url!r}, replica_url={self.replica_url!r}, namespace={self.namespace!r})"

    @property
    def file(self) -> Path | None:
        """The path of the file, None for a database on a server."""
        return None if is_remote(self.url) else Path(database_path(self.url)).absolute()


def is_remote(url: str) -> bool:
    """Return whether a URL names a remote database.

    >>> is_remote("libsql://db.example"), is_remote("file:muisti.db")
    (True, False)
    """
    return url.partition(":")[0].lower() in SCHEMES


def base_url(url: str) -> str:
    """Return the base URL of HTTP requests: `libsql://` becomes `https://`, or `http://` with `?tls=0`.

    >>> base_url("libsql://memories-me.turso.io"), base_url("libsql://localhost:8080?tls=0")
    ('https://memories-me.turso.io', 'http://localhost:8080')

    Raises:
        ValueError: this is no URL of a server, or it contains a token, which belongs into a setting.
    """
    parts = urlsplit(url)
    scheme, asked = parts.scheme.lower(), dict(parse_qsl(parts.query, keep_blank_values=True))
    tls = asked.pop("tls", None) if scheme == "libsql" else None
    if scheme not in SCHEMES or not parts.hostname or parts.username is not None or asked or parts.fragment:
        raise ValueError
    if tls not in (None, "0", "1") or parts.port == 0 or parts.netloc.endswith(":"):
        raise ValueError
    if any(not "!" <= character <= "~" for character in url):
        raise ValueError
    plain = scheme == "http" or tls == "0"
    return f"{'http' if plain else 'https'}://{parts.netloc}{parts.path.rstrip('/')}"


def host(url: str) -> str:
    """Return the host and port that a URL names, without credentials, so that it may be shown.

    >>> host("libsql://memories-me.turso.io")
    'memories-me.turso.io'
    """
    return urlsplit(url).netloc.rpartition("@")[2]


def database_path(url: str) -> str:
    """Return the path that a `file:` URL names, taken literally (no `%20`, no parameters).

    >>> [database_path(u) for u in ("file:muisti.db", "file:/var/lib/muisti.db", "file:///var/lib/muisti.db")]
    ['muisti.db', '/var/lib/muisti.db', '/var/lib/muisti.db']

    Raises:
        ValueError: this is another kind of URL, or names no file.
    """
    scheme, colon, path = url.partition(":")
    if path.startswith("//"):
        path = path[2:] if path.startswith("///") else ""  # file://host/path would be on another machine
    if scheme.lower() != "file" or not colon or not path.strip("/") or "?" in path or ":memory:" in path:
        raise ValueError
    return path
