"""What settings of a particular kind may hold: where databases are, secrets, and lists of origins and hosts."""

import re

from core.store.location import base_url, is_remote
from service.settings.rules import Rule, text

ADMIN_KEY_MIN = 32  # characters
ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9.\[\]:-]+")
HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]")


def database_path(url: str) -> str:
    """The path that a `file:` URL names, taken literally (no `%20`, no parameters).

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


def _database_url(value: object) -> str:
    url = text(value)
    base_url(url) if is_remote(url) else database_path(url)
    return url


def _replica_url(value: object) -> str:
    url = text(value)
    base_url(url)
    return url


def _token(value: object) -> str:
    token = text(value).strip()
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError
    return token


def _namespace(value: object) -> str:
    name = text(value).strip()
    if not re.fullmatch(r"[!-~]{1,255}", name) or "/" in name:
        raise ValueError
    return name


def _secret(value: object) -> str:
    secret = text(value)
    if len(secret) < ADMIN_KEY_MIN or not re.fullmatch(r"[\x21-\x7e]+", secret):
        raise ValueError
    return secret


DATABASE = Rule("Where the database is.", "file:PATH, libsql://HOST, https://HOST or http://HOST", _database_url)
REPLICA = Rule(
    "Where reads go, when a read replica of a remote database is nearer.",
    "libsql://HOST, https://HOST or http://HOST",
    _replica_url,
)
TOKEN = Rule("Token for a remote database.", "a JSON Web Token or another bearer token", _token)
TOKEN_FILE = Rule("File with the token for a remote database; read again when it changes.", "the path of a file", text)
NAMESPACE = Rule("Which database of a server with several; unset means the one of its URL.", "a name", _namespace)
CALIBRATION = Rule(
    "File with thresholds of evidence, as `muisti calibrate` writes it.", "the path of a JSON file", text
)
ADMIN_KEY = Rule(
    "A key that may do everything; better is one of `muisti keys create --admin`.",
    f"{ADMIN_KEY_MIN} or more visible ASCII characters",
    _secret,
)
MODEL = Rule("Embedding model; unset means the shipped one.", "the name or the path of a model2vec model", text)
