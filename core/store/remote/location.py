"""Where a remote database is, as a URL says it."""

from urllib.parse import parse_qsl, urlsplit

SCHEMES = {"libsql": "https", "https": "https", "http": "http"}


def is_remote(url: str) -> bool:
    """Whether a URL is meant for a remote database.

    >>> is_remote("libsql://db.example"), is_remote("file:muisti.db")
    (True, False)
    """
    return url.partition(":")[0].lower() in SCHEMES


def base_url(url: str) -> str:
    """The URL that HTTP requests begin with: `libsql://` is `https://`, unless it ends in `?tls=0`.

    >>> base_url("libsql://memories-me.turso.io"), base_url("libsql://localhost:8080?tls=0")
    ('https://memories-me.turso.io', 'http://localhost:8080')

    Raises:
        ValueError: this is no such URL; or it carries a token, which belongs elsewhere.
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
    """The server that a URL names, as it may be shown.

    >>> host("libsql://memories-me.turso.io")
    'memories-me.turso.io'
    """
    return urlsplit(url).netloc.rpartition("@")[2]
