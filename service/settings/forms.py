"""Rules for settings of particular kinds: locations of databases, secrets, and lists of origins and hosts."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from muisti.core.model.location import base_url, database_path, is_remote
from muisti.service.settings.rules import Rule, text

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
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
    ):
        raise ValueError
    parts.port  # noqa: B018  # raises when it is no number
    return parts.geturl().rstrip("/")


def _base(value: object) -> str:
    """Read the base URL of an endpoint, which may be plain HTTP inside a private network; requests are checked."""
    parts = urlsplit(text(value).strip())
    known = parts.scheme in ("http", "https") and parts.hostname
    if not known or "@" in parts.netloc or parts.query or parts.fragment or not parts.geturl().isascii():
        raise ValueError
    parts.port  # noqa: B018  # raises when it is no number
    return parts.geturl().rstrip("/")


def _entities(value: object) -> str:
    if not isinstance(value, str) or not _RECOGNISER.fullmatch(value):
        raise ValueError
    return value


def _word(value: object) -> str:
    word = text(value).strip()
    if not re.fullmatch(r"[!#-\[\]-~]+", word):  # what a scope may have (RFC 6749): no quotation marks, no backslash
        raise ValueError
    return word


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
NAMESPACE = Rule("Which database of a server with several; unset means the one of its URL.", "a name", _namespace)
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
_RECOGNISER = re.compile(rf"{TAGGER}|{SPACY}[A-Za-z][A-Za-z0-9_-]{{0,99}}|{ASKED}[!-~]{{1,200}}")
ENTITIES = Rule(
    "What finds names in texts for the knowledge graph.",
    "tagger, spacy: and an installed package with a pipeline, or endpoint: and the name of a model",
    _entities,
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
