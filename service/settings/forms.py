"""Rules for the values of settings: switches, sizes, numbers, names, locations, secrets, origins and hosts."""

import ipaddress
import re
from collections.abc import Callable
from decimal import Decimal
from urllib.parse import SplitResult, urlsplit

import msgspec

from muisti.core.model.location import base_url, database_path, is_remote

# Rules for the values of settings: switches, sizes, numbers, names and lists

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SWITCH = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


class Rule(msgspec.Struct, frozen=True):
    """The purpose of a setting and the values that it accepts, in words, and how to read them.

    `read` raises ValueError for any other value.
    """

    description: str
    expected: str
    read: Callable[[object], object]


def text(value: object) -> str:
    """Read any text that is not blank. Raises ValueError."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value


def _switch(value: object) -> bool:
    answer = _SWITCH.get(str(value).strip().lower())
    if answer is None:
        raise ValueError
    return answer


def parse_bytes(value: object) -> int:
    """Read a number of bytes: `MB` is 1000², `MiB` is 1024²; a bare number is bytes.

    >>> [parse_bytes(v) for v in (4096, "4096", "512MB", "1 GiB", "1.5 kB")]
    [4096, 4096, 512000000, 1073741824, 1500]

    Raises:
        ValueError: this is no size above zero.
    """
    parts = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)", str(value).strip())
    size = int(Decimal(parts[1]) * _UNITS.get(parts[2].lower(), 0)) if parts else 0
    if size < 1 or isinstance(value, bool):
        raise ValueError
    return size


def size(description: str) -> Rule:
    """Make the rule of a setting that is a number of bytes."""
    return Rule(description, "a size above zero such as 512MB or 1GiB, or a number of bytes", parse_bytes)


def on_off(description: str) -> Rule:
    """Make the rule of a setting that is on or off."""
    return Rule(description, "on or off", _switch)


def whole(low: int, high: int, description: str) -> Rule:
    """Make the rule of a setting that is a whole number from `low` to `high`."""

    def read(value: object) -> int:
        digits = re.fullmatch(r"[0-9]{1,9}", str(value).strip())  # str(True) has none
        if not digits or not low <= int(digits[0]) <= high:
            raise ValueError
        return int(digits[0])

    return Rule(description, f"a whole number from {low} to {high}", read)


def amount(high: int, description: str, low: float = 0) -> Rule:
    """Make the rule of a setting that is a number from `low` to `high`."""

    def read(value: object) -> float:
        number = float(str(value))
        if not low <= number <= high:  # refuses NaN too
            raise ValueError
        return number

    return Rule(description, f"a number from {low:g} to {high}", read)


def one_of(names: tuple[str, ...], description: str) -> Rule:
    """Make the rule of a setting that is one of these names, in upper or lower case."""

    def read(value: object) -> str:
        if str(value).lower() not in names:
            raise ValueError
        return str(value).lower()

    return Rule(description, f"one of {', '.join(names)}", read)


def names_in(listed: str | None) -> tuple[str, ...]:
    """Split a list such as a,b,c into its names.

    >>> names_in("a, b"), names_in(None)
    (('a', 'b'), ())
    """
    return tuple(name for item in (listed or "").split(",") if (name := item.strip()))


def list_of(form: re.Pattern[str], description: str) -> Rule:
    """Make the rule of a setting that is a list of names of this form; its value is one text."""

    def read(value: object) -> str:
        names = names_in(text(value))
        if not names or not all(form.fullmatch(name) for name in names):
            raise ValueError
        return ",".join(names)

    return Rule(description, "a list such as a,b,c", read)


ADMIN_KEY_MIN = 32  # characters
ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9.\[\]:-]+")
HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]")


def _database_url(value: object) -> str:
    url = text(value)
    base_url(url) if is_remote(url) else database_path(url)
    return url


def _replica_url(value: object) -> str:
    url = text(value)
    base_url(url)
    return url


def _citation(value: object) -> str:
    url = text(value).strip()
    left = url.replace("{space}", "").replace("{id}", "")
    if not re.fullmatch(r"https?://[^/\s]+\S*", left) or "{id}" not in url or "{" in left or "}" in left:
        raise ValueError
    return url


def _matching(form: str, *, exact: bool = False) -> Callable[[object], str]:
    """Return the reader of texts of a form. Spaces around them are dropped, unless `exact`."""

    def read(value: object) -> str:
        found = text(value) if exact else text(value).strip()
        if not re.fullmatch(form, found):
            raise ValueError
        return found

    return read


def is_loopback(host: str) -> bool:
    """Tell whether a host can only be this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "::ffff:127.0.0.1", "example.com", "0.0.0.0")]
    [True, True, True, True, False, False]
    """
    address = _address(host)
    if address is None:
        return host.lower() == "localhost"  # another name can resolve to anything
    return address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, ipaddress.IPv6Address) else address


def _web(value: object) -> SplitResult:
    """Read a URL. For another machine it must be HTTPS: otherwise answers could be changed on their way."""
    parts = urlsplit(text(value).strip())
    host = parts.hostname or ""
    address = _address(host)
    plain = parts.scheme == "http" and is_loopback(host)
    nowhere = address is not None and (address.is_link_local or address.is_unspecified or address.is_multicast)
    if not (parts.scheme == "https" or plain) or not host or nowhere or "@" in parts.netloc or parts.fragment:
        raise ValueError
    parts.port  # noqa: B018  # raises when it is no number
    return parts


def _jwks(value: object) -> str:
    place = text(value).strip()
    return _web(place).geturl() if "://" in place or place.lower().startswith("file:") else place


def _issuer(value: object) -> str:
    if _web(value).query:
        raise ValueError
    return text(value).strip()


def _origin(value: object) -> str:
    parts = _web(value)
    if parts.path.strip("/") or parts.query:
        raise ValueError
    return f"{parts.scheme}://{parts.netloc}"


def _endpoint(value: object) -> str:
    parts = _web(value)
    if parts.query:
        raise ValueError
    return parts.geturl().rstrip("/")


def _collector(value: object) -> str:
    """Read the base URL of a collector. Traces have no content, so plain HTTP is allowed."""
    parts = urlsplit(text(value).strip())
    known = parts.scheme in ("http", "https") and parts.hostname
    if not known or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError
    parts.port  # noqa: B018  # raises when it is no number
    return parts.geturl().rstrip("/")


def _base(value: object) -> str:
    """Read the base URL of an endpoint, which may be plain HTTP inside a private network; requests are checked."""
    url = _collector(value)
    if not url.isascii():
        raise ValueError
    return url


_token = _matching(r"[!-~]+")
_word = _matching(r"[!#-\[\]-~]+")  # what a scope may have (RFC 6749): no quotation marks, no backslash
_secret = _matching(rf"[!-~]{{{ADMIN_KEY_MIN},}}", exact=True)
WEBHOOK_HOST = re.compile(r"((\*\.)?[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")
ALGORITHMS = re.compile(r"[RPE]S(256|384|512)|EdDSA")
SPACES = re.compile(r"\*|[a-z0-9][a-z0-9._-]{0,62}\*?")
WEB = "https://HOST/PATH, or http:// on this machine"
JWKS = Rule("Public keys of the issuer of tokens (JWKS).", f"{WEB}, or the path of a file", _jwks)
ISSUER = Rule("Issuer of tokens, as in their claim `iss`.", WEB, _issuer)
AUDIENCE = Rule("Audience of tokens: one of the names in their claim `aud`.", "a word", _word)
PREFIX = Rule("Prefix of the names of scopes in tokens.", "a word such as muisti:", _word)
CLAIM = Rule("The claim of tokens that names spaces.", "a word", _word)
PUBLIC_URL = Rule("URL by which clients call the server, as its metadata for tokens names it.", "https://HOST", _origin)
CITATIONS = Rule(
    "URL of a memory in answers of the MCP tools search and fetch; none: its page of the console.",
    "https://HOST/PATH with {id}, and {space} if there are several",
    _citation,
)
DATABASE = Rule("Where the database is.", "file:PATH, libsql://HOST, https://HOST or http://HOST", _database_url)
REPLICA = Rule(
    "Where reads go, when a read replica of a remote database is nearer.",
    "libsql://HOST, https://HOST or http://HOST",
    _replica_url,
)
TOKEN = Rule("Token for a remote database.", "a JSON Web Token or another bearer token", _token)
SIGNING_KEY = Rule(
    "File with the Ed25519 private key (PEM) that signs reports; none: the database keeps one.",
    "the path of a file",
    text,
)
TOKEN_FILE = Rule("File with the token for a remote database; read again when it changes.", "the path of a file", text)
NAMESPACE = Rule(
    "Which database of a server with several; unset means the one of its URL.", "a name", _matching(r"[!-.0-~]{1,255}")
)
CALIBRATION = Rule(
    "File with thresholds of evidence, as `muisti calibrate` writes it.", "the path of a JSON file", text
)
ADMIN_KEY = Rule(
    "A key that may do everything; better is one of `muisti keys create --admin`.",
    f"{ADMIN_KEY_MIN} or more visible ASCII characters",
    _secret,
)
METRICS_KEY = Rule(
    "A key that opens /metrics and nothing else.", f"{ADMIN_KEY_MIN} or more visible ASCII characters", _secret
)
SERVER_FILES = Rule(
    "Folder whose files requests without keys may name by path; none: no files.", "the path of a folder", text
)
BACKUPS = Rule("Target of scheduled backups; none: no backups.", "a folder, or s3://BUCKET/PREFIX", text)
SUMMARY_URL = Rule(
    "Where a language model that writes summaries on demand speaks OpenAI's API; it is sent what is summarised.",
    "the base URL, such as http://localhost:11434/v1",
    _endpoint,
)
SUMMARY_KEY = Rule("Key for that endpoint.", "any text", text)
OTLP = Rule("Where traces go: a collector of OpenTelemetry.", "http://HOST:PORT or https://HOST", _collector)
TAGGER, SPACY, ASKED = "tagger", "spacy:", "endpoint:"
ENTITIES = Rule(
    "What finds names in texts for the knowledge graph.",
    "tagger, spacy: and an installed package with a pipeline, or endpoint: and the name of a model",
    _matching(rf"{TAGGER}|{SPACY}[A-Za-z][A-Za-z0-9_-]{{0,99}}|{ASKED}[!-~]{{1,200}}", exact=True),
)
ENTITIES_URL = Rule(
    "Where a language model that finds names speaks OpenAI's API; it is sent the texts that the graph reads.",
    "the base URL, such as http://localhost:11434/v1",
    _base,
)
ENTITIES_KEY = Rule("Key for that model.", "visible ASCII characters", _token)
ENTITIES_KEY_FILE = Rule("File with that model's key; read again when it changes.", "the path of a file", text)
MODEL_NAME = re.compile(r"[^,]+")
MODEL = Rule(
    "Embedding model; unset means the shipped one.",
    "the name or the path of a model2vec model, or onnx: and a folder or an installed package",
    text,
)
SECOND_MODEL = Rule(
    "Second embedder, whose vectors searches use beside those of the model, in a space without a policy for it.",
    "off, minilm, endpoint, or onnx: and a folder or an installed package",
    text,
)
MODEL_TOKENIZER = Rule("The tokenizer.json of a model in ONNX format without one.", "the path of a file", text)
EMBEDDING_URL = Rule(
    "Where an embedding model speaks OpenAI's API; it is sent every text that is stored or sought.",
    "the base URL, such as https://api.openai.com/v1",
    _base,
)
EMBEDDING_MODEL = Rule("Name of the model at that endpoint.", "a name", text)
EMBEDDING_KEY = Rule("Key for that endpoint.", "visible ASCII characters", _token)
EMBEDDING_KEY_FILE = Rule("File with that key; read again when it changes.", "the path of a file", text)
QUERY_PREFIX = Rule("Text that the model expects before a query.", "any text", text)
PASSAGE_PREFIX = Rule("Text that the model expects before a passage.", "any text", text)
