"""Everything that an operator can set: one frozen value, read from flags, environment and a TOML file.

A name that is no setting is an error in every source, and so is a bad value, even one that a stronger source overrides:
a mistake is reported where it was made, not on the day the override goes away.
"""

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec

from core.store.location import base_url, is_remote

PREFIX = "MUISTI_"
CONFIG = "MUISTI_CONFIG"  # names the TOML file
# The command line reads these itself.
ELSEWHERE = frozenset({CONFIG, "MUISTI_SPACE", "MUISTI_URL", "MUISTI_KEY", "MUISTI_EVAL_DATA"})
CONFIG_FILE = "muisti.toml"
ADMIN_KEY_MIN = 32  # characters
SECRETS = frozenset({"admin_key", "database_token"})  # fields that no message may show

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SWITCH = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


class SettingsError(Exception):
    """Settings that cannot be used. The message has one line for each mistake and says where it was made."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a setting is for, what it accepts, both in words, and how it is read. `read` raises ValueError."""

    description: str
    expected: str
    read: Callable[[object], object]


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value


def _switch(value: object) -> bool:
    answer = _SWITCH.get(str(value).strip().lower())
    if answer is None:
        raise ValueError
    return answer


def parse_bytes(value: object) -> int:
    """A number of bytes: `MB` is 1000², `MiB` is 1024²; a bare number is bytes.

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
    url = _text(value)
    base_url(url) if is_remote(url) else database_path(url)
    return url


def _replica_url(value: object) -> str:
    url = _text(value)
    base_url(url)
    return url


def _token(value: object) -> str:
    token = _text(value).strip()
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError
    return token


def _namespace(value: object) -> str:
    name = _text(value).strip()
    if not re.fullmatch(r"[!-~]{1,255}", name) or "/" in name:
        raise ValueError
    return name


def _size(description: str) -> _Rule:
    return _Rule(description, "a size above zero such as 512MB or 1GiB, or a number of bytes", parse_bytes)


def _on_off(description: str) -> _Rule:
    return _Rule(description, "on or off", _switch)


def _whole(low: int, high: int, description: str) -> _Rule:
    def read(value: object) -> int:
        digits = re.fullmatch(r"[0-9]{1,9}", str(value).strip())  # str(True) has none
        if not digits or not low <= int(digits[0]) <= high:
            raise ValueError
        return int(digits[0])

    return _Rule(description, f"a whole number from {low} to {high}", read)


def _amount(high: int, description: str, low: int = 0) -> _Rule:
    def read(value: object) -> float:
        number = float(str(value))
        if not low <= number <= high:  # refuses NaN too
            raise ValueError
        return number

    return _Rule(description, f"a number from {low} to {high}", read)


def _one_of(names: tuple[str, ...], description: str) -> _Rule:
    def read(value: object) -> str:
        if str(value).lower() not in names:
            raise ValueError
        return str(value).lower()

    return _Rule(description, f"one of {', '.join(names)}", read)


def names_in(listed: str | None) -> tuple[str, ...]:
    """The names of a list such as a,b,c.

    >>> names_in("a, b"), names_in(None)
    (('a', 'b'), ())
    """
    return tuple(name for item in (listed or "").split(",") if (name := item.strip()))


def _list(form: re.Pattern[str], description: str) -> _Rule:
    def read(value: object) -> str:
        names = names_in(_text(value))
        if not names or not all(form.fullmatch(name) for name in names):
            raise ValueError
        return ",".join(names)

    return _Rule(description, "a list such as a,b,c", read)


_ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9.\[\]:-]+")
_HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]")


def _secret(value: object) -> str:
    text = _text(value)
    if len(text) < ADMIN_KEY_MIN or not re.fullmatch(r"[\x21-\x7e]+", text):
        raise ValueError
    return text


Level = Literal["debug", "info", "warning", "error"]
Form = Literal["json", "console"]
_DATABASE = _Rule("Where the database is.", "file:PATH, libsql://HOST, https://HOST or http://HOST", _database_url)
_REPLICA = _Rule(
    "Where reads go, when a read replica of a remote database is nearer.",
    "libsql://HOST, https://HOST or http://HOST",
    _replica_url,
)
_TOKEN = _Rule("Token for a remote database.", "a JSON Web Token or another bearer token", _token)
_TOKEN_FILE = _Rule(
    "File with the token for a remote database; read again when it changes.", "the path of a file", _text
)
_NAMESPACE = _Rule("Which database of a server with several; unset means the one of its URL.", "a name", _namespace)
_CALIBRATION = _Rule(
    "File with thresholds of evidence, as `muisti calibrate` writes it.", "the path of a JSON file", _text
)
_ADMIN_KEY = _Rule(
    "A key that may do everything; better is one of `muisti keys create --admin`.",
    f"{ADMIN_KEY_MIN} or more visible ASCII characters",
    _secret,
)
_MODEL = _Rule("Embedding model; unset means the shipped one.", "the name or the path of a model2vec model", _text)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator can set. `options()` describes each field; `load` makes and checks the value."""

    host: Annotated[str, _Rule("Address to listen on.", "a host name or an IP address", _text)] = "127.0.0.1"
    port: Annotated[int, _whole(0, 65_535, "Port to listen on; 0 picks a free one.")] = 8321
    database_url: Annotated[str, _DATABASE] = "file:muisti.db"
    database_replica_url: Annotated[str | None, _REPLICA] = None
    database_token: Annotated[str | None, _TOKEN] = None
    database_token_file: Annotated[str | None, _TOKEN_FILE] = None
    database_namespace: Annotated[str | None, _NAMESPACE] = None
    database_timeout: Annotated[float, _amount(60, "Seconds that a call to a remote database may take.", 1)] = 10.0
    model: Annotated[str | None, _MODEL] = None
    calibration: Annotated[str | None, _CALIBRATION] = None
    embeddings: Annotated[bool, _on_off("Whether texts are embedded; off leaves search by keyword.")] = True
    index_memory: Annotated[int, _size("Memory for the indexes of one worker; least used go first.")] = 512 << 20
    body_limit: Annotated[int, _size("Largest request body.")] = 10_000_000
    search_threads: Annotated[int, _whole(0, 1024, "Threads that search; 0 means one for each core.")] = 0
    database_threads: Annotated[int, _whole(1, 1024, "Threads that wait for the database.")] = 32
    queue_limit: Annotated[int, _whole(1, 1_000_000, "Requests that may wait before others get 503.")] = 256
    admin_key: Annotated[str | None, _ADMIN_KEY] = None
    origins: Annotated[str | None, _list(_ORIGIN, "Origins of web pages that may call, a,b,c; * is every one.")] = None
    hosts: Annotated[str | None, _list(_HOST, "Names that requests may call the server by, a,b,c; none: any.")] = None
    rate_limit: Annotated[float, _amount(1_000_000, "Requests a second of one key in one process; 0: any.")] = 0.0
    concurrency_limit: Annotated[int, _whole(0, 100_000, "Requests at once of one key in one process; 0: any.")] = 0
    workers: Annotated[int, _whole(1, 256, "Processes; each has indexes of its own.")] = 1
    insecure: Annotated[bool, _on_off("Let other machines in although there are no keys.")] = False
    log_level: Annotated[Level, _one_of(get_args(Level), "Least severe line that is logged.")] = "info"
    log_format: Annotated[Form, _one_of(get_args(Form), "Form of the log on stderr.")] = "json"
    shutdown_grace: Annotated[float, _amount(3600, "Seconds that running requests get to finish.")] = 10.0
    request_retention_hours: Annotated[float, _amount(8760, "Hours that an Idempotency-Key is remembered.")] = 24.0


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as documentation and `--help` show it. `name` is the field and the TOML key."""

    name: str
    description: str
    expected: str
    default: object

    @property
    def variable(self) -> str:
        """The environment variable, such as `MUISTI_BODY_LIMIT`."""
        return PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        """The flag, such as `--body-limit`."""
        return "--" + self.name.replace("_", "-")


def options() -> tuple[Option, ...]:
    """All settings, in the order of the fields."""
    plain = Settings()
    return tuple(Option(n, r.description, r.expected, getattr(plain, n)) for n, r in _rules().items())


def find_config(environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The TOML file to read: the one that MUISTI_CONFIG names, else `muisti.toml` in `cwd` when there is one."""
    if environ.get(CONFIG):
        return Path(environ[CONFIG])
    return cwd / CONFIG_FILE if (cwd / CONFIG_FILE).exists() else None


def load(environ: Mapping[str, str], toml_path: Path | None, flags: Mapping[str, object]) -> Settings:
    """Settings from all sources; a flag beats the environment, which beats the file.

    Without `toml_path` the file is the one that MUISTI_CONFIG names, if any; `find_config` looks in a folder as well.
    `flags` go by field name; None means not given. An empty environment variable means not set.

    Raises:
        SettingsError: a name is unknown, a value is bad, or the file cannot be read.
    """
    if toml_path is None and environ.get(CONFIG):
        toml_path = Path(environ[CONFIG])
    sources = [_environment(environ), _command_line(flags)]
    if toml_path is not None:
        sources.insert(0, _file(toml_path))
    given: dict[str, Any] = {}
    problems: list[str] = []
    for source in sources:
        given |= _read(source, problems)
    settings = Settings(**given) if not problems else Settings()
    problems.extend(_contradictions(settings))
    if problems:
        raise SettingsError("\n".join(problems))
    return settings


def _contradictions(settings: Settings) -> Iterator[str]:
    """What does not go together."""
    if settings.database_token is not None and settings.database_token_file is not None:
        yield f"{_both('database_token')} and {_both('database_token_file')} exclude each other"
    if is_remote(settings.database_url):
        return
    for name in ("database_replica_url", "database_token", "database_token_file", "database_namespace"):
        if getattr(settings, name) is not None:
            yield f"{_both(name)} is for a remote database; {_both('database_url')} names a file"


def _both(name: str) -> str:
    """A setting by the names that it has in the environment and as a flag."""
    option = next(option for option in options() if option.name == name)
    return f"{option.variable} ({option.flag})"


def needs_keys(settings: Settings) -> bool:
    """Whether other machines can reach the server, so that it must ask them for a key."""
    return not settings.insecure and not _is_loopback(settings.host)


def check_binding(settings: Settings, keys: Callable[[], bool]) -> None:
    """Refuse to listen where other machines can reach a server that has no keys to ask for. `keys`: are there any?

    Raises:
        SettingsError: the host is not a loopback address, there are no keys, and `insecure` is off.
    """
    if needs_keys(settings) and settings.admin_key is None and not keys():
        raise SettingsError(
            f"host {settings.host!r} lets other machines in, and there are no keys: nobody could use the server. Make "
            f"the first with `muisti keys create --admin`, or set {PREFIX}ADMIN_KEY; or listen on 127.0.0.1; or set "
            f"{PREFIX}INSECURE=1 if something else guards the port"
        )


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False  # a name can resolve to anything
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


@cache
def _rules() -> dict[str, _Rule]:
    hints = get_type_hints(Settings, include_extras=True)
    return {name: hints[name].__metadata__[0] for name in Settings.__struct_fields__}


@dataclass(frozen=True, slots=True)
class _Source:
    """Values under the names that one source gives them. `names` maps those names to fields."""

    place: str
    names: Mapping[str, str]
    values: Mapping[str, object]


def _file(path: Path) -> _Source:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"file {path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # bad TOML or bad UTF-8
        raise SettingsError(f"file {path}: is not TOML: {error}") from error
    return _Source(f"file {path}", {name: name for name in Settings.__struct_fields__}, values)


def _environment(environ: Mapping[str, str]) -> _Source:
    given = {n: v for n, v in environ.items() if v and n.upper().startswith(PREFIX) and n not in ELSEWHERE}
    return _Source("environment", {option.variable: option.name for option in options()}, given)


def _command_line(flags: Mapping[str, object]) -> _Source:
    given = {"--" + name.replace("_", "-"): value for name, value in flags.items() if value is not None}
    return _Source("command line", {option.flag: option.name for option in options()}, given)


def _read(source: _Source, problems: list[str]) -> dict[str, object]:
    """The values by field; what is wrong is added to `problems`."""
    rules, read = _rules(), dict[str, object]()
    for name, value in source.values.items():
        field = source.names.get(name)
        if field is None:
            nearest = difflib.get_close_matches(name, source.names, n=1, cutoff=0.0)[0]
            problems.append(f"{source.place}: there is no setting {name}; the nearest is {nearest}{_hint(name)}")
            continue
        try:
            read[field] = rules[field].read(value)
        except ValueError:
            expected = rules[field].expected + _hint(str(value))
            shown = "set to something else" if field in SECRETS else _shown(value)
            problems.append(f"{source.place}: {name} is {shown}; expected {expected}")
    return read


def _shown(value: object) -> str:
    """The value as a message may show it: what follows the scheme of a URL may hold a password."""
    scheme, mark, _ = str(value).partition("://")
    return repr(f"{scheme}://..." if mark else value)


def _hint(text: str) -> str:
    """Kubernetes announces a Service named muisti in variables that look like ours."""
    if text.startswith("tcp://") or re.match(r"MUISTI_(SERVICE_(HOST|PORT)|PORT_[0-9]+_)", text):
        return " (Kubernetes sets this for a Service named muisti; enableServiceLinks: false in the pod stops it)"
    return ""
