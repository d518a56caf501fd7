"""Clients and spaces from the global options, and exit codes from refusals: the only module for both."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import structs

from muisti.client import Call, Reply, calls
from muisti.core.model.errors import InvalidInput, MuistiError
from muisti.core.model.spaces import DEFAULT
from muisti.core.support.lazy import Lazy
from muisti.service.runtime.running import running_on
from muisti.service.settings import Settings, SettingsError
from muisti.service.terminal.base import CONFLICT, ERROR, TOO_LONG, USAGE, Failure, Globals
from muisti.service.terminal.client import ApiError, Client, Unreachable, connect
from muisti.service.terminal.configuration import file_of, in_force, in_words, limited, refuse_for_servers
from muisti.service.terminal.error_messages import field_line, refusal_lines, way_on
from muisti.service.terminal.output import answer, revised
from muisti.service.terminal.project import Choice, choose, kin
from muisti.service.terminal.views import View
from muisti.service.version import installed_version

if TYPE_CHECKING:
    from muisti.service.terminal import callers, configuration, progress
else:  # what a server needs not
    callers = Lazy("muisti.service.terminal.callers")
    progress = Lazy("muisti.service.terminal.progress")
    configuration = Lazy("muisti.service.terminal.configuration")

T = TypeVar("T")

URL = "MUISTI_URL"
KEY = "MUISTI_KEY"
CODES = {"sensitive_content": ERROR}  # exit codes of problems for which the status alone would give another
EXIT_CODES = {400: USAGE, 404: ERROR, 409: CONFLICT, 412: CONFLICT, 413: TOO_LONG, 422: USAGE}
ADVICE = {
    "unauthorized": f"Put a key of the server into the variable {KEY}; `muisti keys create` makes one.",
    "duplicate": "Nothing was stored. --on-conflict keep stores both; `muisti update ID` changes the old one.",
    "contradiction": "Nothing was stored. `muisti update ID TEXT` changes the old one; --on-conflict keep stores both.",
    "address_taken": "Nothing was stored. `muisti update ID` changes the old one; another --key keeps both.",
    "sensitive_content": "Nothing was stored. Remove it, or repeat with --allow-secrets if it is no secret; `muisti "
    "policy` shows what this space accepts.",
    "stale_version": "Nothing was changed. `muisti get ID` shows the newest version; repeat with its number.",
}


@dataclass(slots=True)
class Session:
    """A client, and the space that the command works in."""

    client: Client
    choice: Choice
    place: str  # of the database, in words
    options: Globals
    lack: str = ""  # what a reading command has found missing, the database or the space
    empty: Client | None = None  # answers reads of what is missing
    held: ExitStack = field(default_factory=ExitStack)  # what ends with the session

    @property
    def space(self) -> str:
        return self.choice.space

    def write(self, call: Callable[[], T]) -> T:
        """Make the call. If the space is missing, create it and make the call again."""
        try:
            return call()
        except ApiError as error:
            if error.status != 404 or self.exists():
                raise
        try:
            self.client.send(calls.create_space({"name": self.space}))
        except ApiError as error:
            if error.status != 409:  # another client has just created it
                raise
        click.echo(f"Created the space {self.space} ({self.choice.why}) in {self.place}.", err=True)
        for line in self._joining():
            click.echo(line, err=True)
        return call()

    def read_empty(self, request: Call, error: ApiError) -> Reply:
        """Answer a read of a missing space as an empty space does, and say that it is missing.

        Raises:
            ApiError: `error`, when it says something else.
        """
        if error.status != 404 or repr(self.space) not in error.detail or self.exists():
            raise error
        if self.empty is None:
            for line in [] if self.lack else self.missing():
                click.echo(line, err=True)
            self.lack = self.lack or f"there is no space {self.space} yet"
            self.empty = self.held.enter_context(nothing(self.options, self.space))
            self.empty.allow(self.options.allowed)
        reply = self.empty.send(request)
        degraded = reply.data.get("degraded", [])
        if not self.options.json or not isinstance(degraded, list):  # in the figures of a graph it is a number
            return reply
        return revised(reply, {**reply.data, "degraded": [*degraded, self.lack]})

    def pages(self, request: Callable[[str | None], Call]) -> Iterator[Reply]:
        """Yield all pages of a list. `request` gets the cursor of a page, None for the first."""
        cursor: str | None = None
        while True:
            reply = self.client.send(request(cursor))
            yield reply
            cursor = reply.data.get("next_cursor")
            if cursor is None:
                return

    def whole(self, request: Callable[[str | None], Call]) -> Reply:
        """Return a list as one page. See `pages`."""
        pages = [*self.pages(request)]
        return revised(pages[-1], {**pages[-1].data, "items": [one for page in pages for one in page.data["items"]]})

    def missing(self) -> list[str]:
        """Return lines that say what to do about the missing space."""
        yet = (
            f"there is no space {self.space} ({self.choice.why}) in {self.place} yet. `muisti add TEXT` makes it "
            "with its first memory; `muisti spaces` lists those that exist."
        )
        near = get_close_matches(self.space, self._names(), 1)
        advice = [*self._joining(), *self._elsewhere()]
        meant = [f"Did you mean --space {near[0]}?"] if near and not advice else []
        return [yet, *meant, *advice]

    def exists(self) -> bool:
        return self.space in self._names()

    def _names(self) -> list[str]:
        return [space["name"] for space in self.client.send(calls.list_spaces()).data["items"]]

    def _joining(self) -> list[str]:
        """Return advice on spaces that may hold earlier memories of this project, with the command that merges them."""
        found = kin(self.choice, Path.cwd(), self._names())
        return [one.advice for one in found if self._holds(one.space)]

    def _elsewhere(self) -> list[str]:
        holds = self.space != DEFAULT and DEFAULT in self._names() and self._holds(DEFAULT)
        return [f"The space {DEFAULT} holds memories: --space {DEFAULT}"] if holds else []

    def _holds(self, space: str) -> bool:
        try:
            return self.client.send(calls.get_stats(space)).data["memories"] > 0
        except ApiError:  # a key that may not read it
            return False


@contextmanager
def session(options: Globals, *, create: bool = False, reads: bool = False) -> Iterator[Session]:
    """Open a client and a space. A refusal of the service inside the context ends the command.

    A missing database is created only with `create`. With `reads`, a missing space or database is read as an empty one.

    Raises:
        Failure: the service refused a request or cannot be reached. The exit code says why.
    """
    choice = space_choice(options)
    ensured = choice.space if create else None
    with (
        _opened(options, None, create=create, reads=reads, ensured=ensured, compiles=True) as (opened, place, lack),
        ExitStack() as held,
    ):
        opened.as_one_call()
        working = Session(opened, choice, place, options, lack, held=held)
        opened.otherwise = working.read_empty if reads else None
        try:
            yield working
        except ApiError as error:
            missing = not reads and error.status == 404 and not working.exists()
            raise _failure(options, error, working.missing() if missing else None) from error


def ask(
    options: Globals, request: Callable[[str], Call], view: View, *, create: bool = False, reads: bool = False
) -> Any:
    """Send the request for the space of the options, print the answer, and return its data. See also `session`."""
    with session(options, create=create, reads=reads) as opened:
        reply = opened.client.send(request(opened.space))
        answer(options, reply, *view)
        return reply.data


@contextmanager
def client(
    options: Globals, settings: Settings | None = None, *, create: bool = False, reads: bool = False
) -> Iterator[Client]:
    """Open a client of the server that the options name, else of a service in this process.

    That service has `settings`, by default those in force. A missing database is created only with `create`. With
    `reads`, it is read as an empty one.
    """
    with _opened(options, settings, create=create, reads=reads) as (opened, _, _):
        yield opened


@contextmanager
def _opened(
    options: Globals,
    settings: Settings | None,
    *,
    create: bool,
    reads: bool,
    ensured: str | None = None,
    compiles: bool = False,
) -> Iterator[tuple[Client, str, str]]:
    """Open a client. Say in words where its database is, and that it is missing, which `reads` allows.

    With `compiles`, a service that starts in this process first compiles kernels that are not compiled yet.
    """
    if options.opened is not None:
        options.opened.allow(options.allowed)
        yield options.opened, "the database of the command that runs this one", ""
        return
    with refusals(options), ExitStack() as held:
        here, lack = False, ""
        if url := server_url(options):
            refuse_for_servers(options, "a server")
            opened, place = _connected(url), url
        else:
            given, settings = settings, settings or in_force(options)
            place = configuration.place_of(settings)
            lack = configuration.lack_of(settings) or "" if reads else ""
            if lack:
                click.echo(lack, err=True)
                settings = held.enter_context(empty(options, "nothing"))
            settings = configuration.settings_for(options, settings, create=create or bool(lack))
            opened = _beside(options, settings) if given is None else None
            if here := opened is None:
                space = ensured if limited(options) else None
                opened = options.application.start(settings, callers.access_of(options), space)
        with opened:
            opened.allow(options.allowed)
            if here and compiles and not lack:
                progress.compile_once(options)
            yield opened, place, lack


@contextmanager
def nothing(options: Globals, space: str) -> Iterator[Client]:
    """Open a client of a service in this process on a temporary database, which has one empty space."""
    with empty(options, "nothing") as settings, options.application.start(settings) as opened:
        opened.send(calls.create_space({"name": space}))
        yield opened


@contextmanager
def throw_away(options: Globals, name: str) -> Iterator[Client]:
    """Open a client of the server that the options name, else of a service in this process on a temporary database."""
    if server_url(options):
        with client(options) as opened:
            yield opened
        return
    with empty(options, name) as settings, client(options, settings, create=True) as opened:
        yield opened


@contextmanager
def empty(options: Globals, name: str) -> Iterator[Settings]:
    """Return the settings in force, but with an empty, temporary database."""
    with TemporaryDirectory(prefix=f"muisti-{name}-") as folder:
        yield structs.replace(in_force(options), database_url=f"file:{Path(folder) / f'{name}.db'}")


@contextmanager
def refusals(options: Globals) -> Iterator[None]:
    """Turn a refusal into an exit code and a message on stderr; with --json, print the problem on stdout."""
    try:
        yield
    except ApiError as error:
        raise _failure(options, error) from error
    except SettingsError as error:
        raise Failure(str(error), USAGE) from error
    except InvalidInput as error:
        raise Failure("; ".join(field_line(bad.path, bad.message) for bad in error.problems), USAGE) from error
    except (Unreachable, MuistiError) as error:
        raise Failure(str(error)) from error


def server_url(options: Globals) -> str | None:
    """Return the server that the options or the environment name; None means the database file."""
    return options.url or os.environ.get(URL) or None


def space_choice(options: Globals) -> Choice:
    """Return the space that the options or the project name, and why."""
    try:
        return choose(options.space, os.environ, Path.cwd())
    except InvalidInput as error:
        raise Failure(error.problems[0].message, USAGE) from error


def _connected(url: str) -> Client:
    try:
        return connect(url, os.environ.get(KEY))
    except ValueError as error:
        raise Failure(str(error), USAGE) from error


def _beside(options: Globals, settings: Settings) -> Client | None:
    """Return a client of the server that runs on the database file; None without one, or when the command is limited.

    Starting a service in this process would take four times as long. A server of another version is not asked.
    """
    path = file_of(settings)
    found = None if path is None or limited(options) else running_on(path)
    return None if found is None or found.version != installed_version() else connect(found.url, found.secret)


def _failure(options: Globals, error: ApiError, missing: Sequence[str] | None = None) -> Failure:
    """Return the failure for a refused request. `missing`: lines about a missing space, printed instead."""
    if options.json and error.body:
        click.echo(error.body)
    if missing is not None:
        return Failure("\n".join(missing))
    advice = way_on(error.problem.get("instead", {})) if error.code == "not_undone" else ADVICE.get(error.code)
    lines = refusal_lines(error, advised=advice is not None)  # the rest of a detail is advice for users of the API
    if error.code == "forbidden" and server_url(options) is None:
        lines = [in_words(options, line) for line in lines]
    if advice:
        lines.append(advice)
    return Failure("\n".join(lines), CODES.get(error.code) or EXIT_CODES.get(error.status, ERROR))
