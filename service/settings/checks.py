"""Settings that cannot be used together, or not safely."""

from collections.abc import Callable, Iterator

from muisti.core.model.location import is_remote
from muisti.core.model.terms import OFF
from muisti.service.settings.forms import ASKED, is_loopback
from muisti.service.settings.rules import names_in
from muisti.service.settings.table import ENDPOINT, MINILM, ONNX, PREFIX, Settings, options


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
