import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from muisti.core.model.location import database_path
from muisti.service.observability import logs
from muisti.service.settings import (
    ELSEWHERE,
    Settings,
    SettingsError,
    check_binding,
    find_config,
    load,
    options,
    parse_bytes,
)
from muisti.service.settings.places import users_database
from tests.conftest import HOMES


def at_home() -> dict[str, str]:
    """The variables that say where the user's data is, of the empty home that each test has."""
    return {name: os.environ[name] for name in HOMES}


def toml(folder: Path, text: str) -> Path:
    path = folder / "muisti.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(environ: dict[str, str] | None = None, path: Path | None = None, **flags: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load(environ or {}, path, flags)
    return str(caught.value)


def test_a_flag_beats_the_environment_which_beats_the_file(tmp_path: Path):
    path = toml(tmp_path, 'port = 1\nworkers = 2\nhost = "file.example"\n')
    settings = load({"MUISTI_PORT": "3", "MUISTI_WORKERS": "4"}, path, {"port": 5, "workers": None})
    assert (settings.port, settings.workers, settings.host) == (5, 4, "file.example")


def test_without_any_source_the_defaults_hold():
    settings = load(at_home(), None, {})
    assert settings == Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8321)
    assert settings.database_url == f"file:{users_database(os.environ)}"
    assert (settings.index_memory, settings.body_limit) == (512 * 1024**2, 10_000_000)


@pytest.mark.parametrize("option", options(), ids=lambda option: option.name)
def test_the_default_of_every_setting_is_accepted_from_every_source(option, tmp_path: Path):
    if option.default is None:
        return
    path = toml(tmp_path, f"{option.name} = {json.dumps(option.default)}")
    wanted = structs.replace(Settings(), **{option.name: option.default})
    assert load({**at_home(), option.variable: str(option.default)}, None, {}) == wanted
    assert load(at_home(), path, {}) == wanted
    assert load(at_home(), None, {option.name: option.default}) == wanted


def test_every_field_has_a_description_of_one_line():
    assert [option.name for option in options()] == list(Settings.__struct_fields__)
    assert all(option.description.endswith(".") and "\n" not in option.description for option in options())


def test_a_misspelt_name_is_refused_and_the_nearest_named_whatever_the_source(tmp_path: Path):
    assert refusal({"MUISTI_PROT": "1"}) == "environment: there is no setting MUISTI_PROT; the nearest is MUISTI_PORT"
    path = toml(tmp_path, "wrokers = 1")
    assert refusal(path=path) == f"file {path}: there is no setting wrokers; the nearest is workers"
    assert refusal(datbase_url="file:x") == (
        "command line: there is no setting --datbase-url; the nearest is --database-url"
    )
    assert "the nearest is MUISTI_HOST" in refusal({"Muisti_Host": "x"})


@pytest.mark.parametrize("name", sorted(ELSEWHERE - {"MUISTI_CONFIG"}))
def test_a_variable_of_the_command_line_is_no_misspelling(name: str):
    assert load({**at_home(), name: "x"}, None, {}) == Settings()


def test_a_bad_value_is_refused_with_source_value_and_what_is_expected(tmp_path: Path):
    assert refusal({"MUISTI_PORT": "65536"}) == (
        "environment: MUISTI_PORT is '65536'; expected a whole number from 0 to 65535"
    )
    path = toml(tmp_path, "embeddings = 7")
    assert refusal(path=path) == f"file {path}: embeddings is 7; expected on or off"
    assert refusal(log_level="loud") == (
        "command line: --log-level is 'loud'; expected one of debug, info, warning, error"
    )


@pytest.mark.parametrize(("name", "value"), [
    ("port", True), ("port", 80.5), ("port", -1), ("port", "٣"), ("port", "9" * 5000), ("host", 7), ("host", " "),
    ("workers", 0), ("queue_limit", "many"), ("embeddings", "maybe"), ("index_memory", "512 apples"),
    ("index_memory", 0), ("index_memory", True), ("index_memory", -5), ("body_limit", [1]),
    ("shutdown_grace", "nan"), ("shutdown_grace", "inf"), ("shutdown_grace", True), ("request_retention_hours", -1),
    ("model", ""), ("log_format", "xml"), ("database_url", "libsql://"),
    ("database_url", "libsql://db.example?authToken=t"), ("database_url", "libsql://me:pw@db.example"),
    ("database_url", "https://db.example/#x"), ("database_url", "https://db.example?tls=0"),
    ("database_url", "libsql://db.example?tls=maybe"), ("database_url", "http://db.example:port"),
    ("database_url", "http://db example"), ("database_url", "wss://db.example"),
    ("database_replica_url", "file:muisti.db"), ("database_replica_url", "db.example"),
    ("database_token", "two words"), ("database_token_file", " "), ("database_namespace", "a/b"),
    ("database_timeout", 0), ("database_timeout", "nan"), ("database_url", "muisti.db"), ("database_url", "file:"),
    ("database_url", "file://elsewhere/muisti.db"), ("database_url", "file:muisti.db?mode=ro"),
    ("database_url", "file::memory:"), ("mcp_citations", "https://notes.example/"),
    ("mcp_citations", "https://notes.example/{id}/{version}"), ("mcp_citations", "https://notes.example/{id}}"),
    ("mcp_citations", "/notes/{id}"), ("mcp_citations", "javascript:alert({id})"),
    ("mcp_citations", "https://notes.example/a b/{id}"), ("mcp_tools", "chat"),
])  # fmt: skip
def test_no_bad_value_gets_through(name: str, value: object):
    with pytest.raises(SettingsError, match=f"--{name.replace('_', '-')} is "):
        load({}, None, {name: value})


def test_a_bad_value_is_refused_even_where_a_stronger_source_overrides_it():
    assert "MUISTI_PORT is 'x'" in refusal({"MUISTI_PORT": "x"}, port=1)


def test_all_mistakes_are_told_at_once():
    assert len(refusal({"MUISTI_PORT": "x", "MUISTI_NOPE": "1"}, workers=0).splitlines()) == 3


def test_the_message_about_a_url_keeps_its_password_to_itself():
    message = refusal({"MUISTI_DATABASE_URL": "libsql://me:s3cret'x@host?authToken=t0ken"})
    assert "libsql://..." in message and "expected file:PATH" in message and "s3cret" not in message
    assert "s3cret" not in message and "t0ken" not in message and "'x@host" not in message


def test_an_empty_variable_means_not_set():
    assert load({**at_home(), "MUISTI_MODEL": "", "MUISTI_PORT": ""}, None, {}) == Settings()


def test_variables_that_kubernetes_sets_for_a_service_are_explained():
    assert "enableServiceLinks" in refusal({"MUISTI_PORT": "tcp://10.0.0.1:8321"})
    assert "enableServiceLinks" in refusal({"MUISTI_SERVICE_HOST": "10.0.0.1"})


@pytest.mark.parametrize("text", ["on", "ON", "true", "yes", "1"])
def test_insecure_can_be_said_in_the_usual_words(text: str):
    assert load({"MUISTI_INSECURE": text}, None, {}).insecure is True


@given(st.integers(1, 10**15), st.sampled_from([("", 1), ("B", 1), ("kB", 10**3), ("MB", 10**6), ("GiB", 2**30)]))
def test_a_size_is_its_number_times_its_unit(number: int, unit: tuple[str, int]):
    name, factor = unit
    assert parse_bytes(f"{number}{name}") == parse_bytes(f" {number} {name.lower()} ") == number * factor


@given(st.text() | st.integers() | st.floats() | st.booleans() | st.none() | st.lists(st.integers()))
def test_any_value_of_any_type_is_read_or_refused_with_a_settings_error(value: object):
    for option in options():
        try:
            load({}, None, {option.name: value})
        except SettingsError as error:
            assert option.flag in str(error)


def test_the_file_that_muisti_config_names_is_read(tmp_path: Path):
    path = toml(tmp_path, "\ufeffport = 7")
    assert load({"MUISTI_CONFIG": str(path)}, None, {}).port == 7


def test_the_file_in_the_working_directory_is_found_unless_another_is_named(tmp_path: Path):
    assert find_config({}, tmp_path) is None
    path = toml(tmp_path, "port = 7")
    assert find_config({}, tmp_path) == path
    assert find_config({"MUISTI_CONFIG": "/etc/muisti.toml"}, tmp_path) == Path("/etc/muisti.toml")


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path):
    missing = tmp_path / "none.toml"
    assert refusal(path=missing) == f"file {missing}: cannot be read: No such file or directory"
    assert "cannot be read" in refusal(path=tmp_path)
    assert "is not TOML: Invalid value (at line 1" in refusal(path=toml(tmp_path, "port = x\n"))
    (tmp_path / "latin.toml").write_bytes(b'host = "\xe4"')
    assert "is not TOML" in refusal(path=tmp_path / "latin.toml")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "::ffff:127.0.0.1"])
def test_loopback_may_always_be_bound(host: str):
    check_binding(Settings(host=host), lambda: False)


def test_a_bad_token_is_not_shown():
    assert "s3cret" not in refusal({"MUISTI_DATABASE_TOKEN": "s3cret with spaces"})


@pytest.mark.parametrize(
    "url", ["libsql://db.example", "http://127.0.0.1:8080", "https://db.example/n1", "libsql://x:1?tls=0"]
)
def test_a_remote_database_may_have_a_replica_a_token_and_a_namespace(url: str):
    given = {"database_url": url, "database_replica_url": url, "database_token": "t", "database_namespace": "n"}
    assert load({}, None, given).database_url == url


@pytest.mark.parametrize(
    "name", ["database_replica_url", "database_token", "database_token_file", "database_namespace"]
)
def test_what_only_a_remote_database_has_is_refused_for_a_file(name: str):
    with pytest.raises(SettingsError, match="DATABASE_URL .* names a file"):
        load({}, None, {name: "http://127.0.0.1:1" if name.endswith("url") else "x"})


def test_two_tokens_are_refused():
    given = {"database_url": "http://db", "database_token": "t", "database_token_file": "f"}
    with pytest.raises(SettingsError, match="exclude each other"):
        load({}, None, given)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "muisti.example", "localhost.me", "::ffff:10.0.0.1"])
def test_anything_else_is_bound_only_with_keys_or_when_insecure(host: str):
    with pytest.raises(SettingsError, match="MUISTI_INSECURE=1"):
        check_binding(Settings(host=host), lambda: False)
    check_binding(Settings(host=host, insecure=True), lambda: False)
    check_binding(Settings(host=host), lambda: True)
    check_binding(Settings(host=host, admin_key="k" * 32), lambda: False)


def test_the_admin_key_is_not_shown_when_it_is_bad():
    assert "short-secret" not in refusal({"MUISTI_ADMIN_KEY": "short-secret"})


@given(st.text(st.characters(exclude_characters="?\0", exclude_categories=["Cs"]), min_size=1))
def test_the_path_of_a_file_url_is_taken_literally(name: str):
    if name.strip("/") and not name.startswith("//") and ":memory:" not in name:
        assert database_path(f"file:{name}") == name


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """Yield a function that returns the log written since its last call; restore logging afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in logs.TALKATIVE}
    yield lambda: capsys.readouterr().err
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)
    logging.captureWarnings(False)


def test_our_lines_and_those_of_libraries_have_one_form(written: Callable[[], str]):
    logs.configure(Settings())
    logging.getLogger("muisti.http").info("request", extra={"status": 200})
    logging.getLogger("uvicorn.error").warning("port %s", 8321, extra={"attempt": 2})
    ours, theirs = (json.loads(line) for line in written().splitlines())
    assert (ours["event"], ours["level"], ours["logger"], ours["status"]) == ("request", "info", "muisti.http", 200)
    assert (theirs["event"], theirs["level"], theirs["attempt"]) == ("port 8321", "warning", 2)
    assert ours["timestamp"].endswith("Z") and theirs["timestamp"].endswith("Z")


@pytest.mark.parametrize("name", sorted(logs.CONTENT))
def test_a_field_that_would_hold_content_is_left_out(name: str, written: Callable[[], str]):
    logs.configure(Settings())
    logging.getLogger("y").error("added", extra={name: "my bank is in Turku"})
    logs.configure(Settings(log_format="console"))
    logging.getLogger("y").error("added", extra={name: "my bank is in Turku"})
    as_json, in_words = written().splitlines()
    assert json.loads(as_json)[name] == logs.LEFT_OUT
    assert f"{name}={logs.LEFT_OUT}" in in_words and "Turku" not in in_words


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_shows_no_local_variables(form: Literal["json", "console"], written: Callable[[], str]):
    logs.configure(Settings(log_format=form))
    held = "-".join(["bank", "in", "Turku"])
    try:
        raise KeyError(len(held))
    except KeyError:
        logging.getLogger("y").exception("failed")
    lines = written()
    assert lines.count("KeyError: 13") == 1 and held not in lines
    assert form == "console" or all(json.loads(line)["exception"] for line in lines.splitlines())


def test_what_is_below_the_level_and_access_lines_with_query_strings_are_not_logged(written: Callable[[], str]):
    logs.configure(Settings(log_level="warning"))
    logging.getLogger("x").info("small")
    logs.configure(Settings(log_level="debug"))
    logging.getLogger("uvicorn.access").info("GET /v1/spaces/a/memories?category=secret")
    assert written() == ""
    logging.getLogger("x").debug("shown")
    assert json.loads(written())["event"] == "shown"


def test_a_warning_becomes_a_line_of_the_log(written: Callable[[], str]):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logs.configure(Settings())
        warnings.warn("old habit", UserWarning, stacklevel=1)
        logging.captureWarnings(False)
    assert "old habit" in json.loads(written())["event"]
