"""Reads settings from their sources: flags, the environment and a TOML file.

A name that is no setting is an error in every source, and so is a bad value, even one that a stronger source overrides.
So a mistake is reported when it is made, not on the day the override goes away.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from muisti.core.model.choices import OFF
from muisti.core.model.location import is_remote
from muisti.service.settings.forms import ASKED, is_loopback, names_in
from muisti.service.settings.places import usual_database
from muisti.service.settings.table import ENDPOINT, MINILM, ONNX, PREFIX, SECRETS, Settings, options, rules

# Settings that cannot be used together, or not safely


class SettingsError(Exception):
    """Settings that cannot be used. The message has one line for each mistake and says where it was made."""


def contradictions(settings: Settings) -> Iterator[str]:
    """Yield a message for each combination of settings that cannot be used together."""
    if settings.database_token is not None and settings.database_token_file is not None:
        yield f"{_both('database_token')} and {_both('database_token_file')} exclude each other"
    yield from _of_endpoints(settings)
    tokens = ("jwks", "jwt_issuer", "jwt_audience")
    missing = [name for name in tokens if getattr(settings, name) is None]
    if 0 < len(missing) < len(tokens):
        yield f"{', '.join(_both(name) for name in tokens)} go together; missing: {', '.join(map(_both, missing))}"
    if is_remote(settings.database_url):
        return
    for name in ("database_replica_url", "database_token", "database_token_file", "database_namespace"):
        if getattr(settings, name) is not None:
            yield f"{_both(name)} is for a remote database; {_both('database_url')} names a file"


def _of_endpoints(settings: Settings) -> Iterator[str]:
    """Yield what is wrong with the endpoints of models."""
    if settings.embedding_key is not None and settings.embedding_key_file is not None:
        yield f"{_both('embedding_key')} and {_both('embedding_key_file')} exclude each other"
    if settings.entities_key is not None and settings.entities_key_file is not None:
        yield f"{_both('entities_key')} and {_both('entities_key_file')} exclude each other"
    if (settings.entities_url is None) == settings.entities.startswith(ASKED):
        yield f"{_both('entities_url')} goes together with {_both('entities')} of {ASKED}MODEL"
    further = ENDPOINT in (*names_in(settings.models), settings.second_model)
    if settings.embedding_url is not None and settings.model is not None and not further:
        yield f"{_both('embedding_url')} and {_both('model')} exclude each other, unless a further model is {ENDPOINT}"
    second = settings.second_model
    if second not in (OFF, MINILM, ENDPOINT) and not second.startswith(ONNX):
        yield f"{_both('second_model')} is {second!r}, and not {OFF}, {MINILM}, {ENDPOINT} or {ONNX}PLACE"
    if settings.embedding_url is None and second == ENDPOINT:
        yield f"{_both('second_model')} is the {ENDPOINT}, and {_both('embedding_url')} is not set"
    if settings.embedding_url is None and further:
        yield f"{_both('models')} name the {ENDPOINT}, and {_both('embedding_url')} is not set"
    if (settings.embedding_url is None) != (settings.embedding_model is None):
        yield f"{_both('embedding_url')} and {_both('embedding_model')} go together"


def _both(name: str) -> str:
    """Return the name of a setting in the environment, with its flag in parentheses."""
    option = next(option for option in options() if option.name == name)
    return f"{option.variable} ({option.flag})"


def needs_keys(settings: Settings) -> bool:
    """Tell whether other machines can reach the server, so that it must ask them for a key."""
    return not settings.insecure and not is_loopback(settings.host)


def asks(settings: Settings) -> bool:
    """Tell whether the settings themselves make the server ask who calls."""
    return settings.admin_key is not None or settings.jwks is not None


def check_binding(settings: Settings, keys: Callable[[], bool]) -> None:
    """Refuse to listen where other machines can reach a server that has no keys to ask for. `keys`: are there any?

    Raises:
        SettingsError: the host is not a loopback address, there are no keys, and `insecure` is off.
    """
    if needs_keys(settings) and not asks(settings) and not keys():
        raise SettingsError(
            f"host {settings.host!r} lets other machines in, and there are no keys: nobody could use the server. Make "
            f"the first with `muisti keys create --admin`, or set {PREFIX}ADMIN_KEY or {PREFIX}JWKS; or listen on "
            f"127.0.0.1; or set {PREFIX}INSECURE=1 if something else guards the port"
        )


CONFIG = "MUISTI_CONFIG"  # names the TOML file
# The command line reads these itself.
ELSEWHERE = frozenset(
    {
        CONFIG,
        "MUISTI_DEBUG",
        "MUISTI_SPACE",
        "MUISTI_URL",
        "MUISTI_KEY",
        "MUISTI_ACCESS",
        "MUISTI_ONLY_CATEGORY",
        "MUISTI_EVAL_DATA",
    }
)
CONFIG_FILE = "muisti.toml"


def find_config(environ: Mapping[str, str], cwd: Path) -> Path | None:
    """Return the TOML file to read: the one that MUISTI_CONFIG names, else `muisti.toml` in `cwd`, else None."""
    if environ.get(CONFIG):
        return Path(environ[CONFIG])
    return cwd / CONFIG_FILE if (cwd / CONFIG_FILE).exists() else None


def load(environ: Mapping[str, str], toml_path: Path | None, flags: Mapping[str, object]) -> Settings:
    """Read settings from all sources; a flag beats the environment, which beats the file.

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
    given.setdefault("database_url", usual_database(environ))
    settings = Settings(**given) if not problems else Settings()
    problems.extend(contradictions(settings))
    if problems:
        raise SettingsError("\n".join(problems))
    return settings


class _Source(msgspec.Struct, frozen=True):
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
    """Read the values of a source by field; messages about mistakes are added to `problems`."""
    known, read = rules(), dict[str, object]()
    for name, value in source.values.items():
        field = source.names.get(name)
        if field is None:
            nearest = difflib.get_close_matches(name, source.names, n=1, cutoff=0.0)[0]
            problems.append(f"{source.place}: there is no setting {name}; the nearest is {nearest}{_hint(name)}")
            continue
        try:
            read[field] = known[field].read(value)
        except ValueError:
            expected = known[field].expected + _hint(str(value))
            shown = "set to something else" if field in SECRETS else _shown(value)
            problems.append(f"{source.place}: {name} is {shown}; expected {expected}")
    return read


def _shown(value: object) -> str:
    """Return the value as a message may show it. What follows the scheme of a URL may contain a password."""
    scheme, mark, _ = str(value).partition("://")
    return repr(f"{scheme}://..." if mark else value)


def _hint(text: str) -> str:
    """Return a hint for variables by which Kubernetes announces a Service named muisti: their names look like ours."""
    if text.startswith("tcp://") or re.match(r"MUISTI_(SERVICE_(HOST|PORT)|PORT_[0-9]+_)", text):
        return " (Kubernetes sets this for a Service named muisti; enableServiceLinks: false in the pod stops it)"
    return ""
