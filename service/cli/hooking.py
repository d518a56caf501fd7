"""The work of the hook commands.

`run` reads, looks for secrets, and leaves the storing to a process of its own, which nobody waits for: starting the
service takes a second, and a client asks for every prompt. Those processes store one after the other.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from service.capture import Captured, captured
from service.cli.base import Failure, Globals
from service.cli.changes import show, written
from service.cli.configuration import in_force
from service.cli.output import talk
from service.cli.session import refusals, server_url, session
from service.client import ApiError
from service.connect import hooks
from service.connect.clients import Home
from service.connect.files import Change
from service.connect.planning import NotPossible, command
from service.project import choose
from service.settings import database_path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

READ_MAX = 4_000_000  # bytes of a payload
SECONDS = 60  # that storing may take
LOCK = "muisti-hook.lock"


def run(options: Globals, wait: bool) -> None:
    """Never fails and says nothing: a client that runs a hook is not the one to tell."""
    with suppress(Exception), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        payload = sys.stdin.buffer.read(READ_MAX)
        found = captured(payload.decode("utf-8", "replace"))
        if found is not None and wait:
            _store(options, found)
        elif found is not None:
            _hand_over(options, payload)


def install(options: Globals, *, project: bool, tools: bool, dry_run: bool) -> None:
    """Write the hooks; they work on the server or the database that is in force now."""
    events = hooks.ALWAYS + (hooks.OF_TOOLS if tools else ())
    with _possible():
        change = hooks.install(_path(project), hooks.command(_flags(options)), events)
        _finish(options, change, dry_run)
    if not dry_run:
        where = " --project" if project else ""
        talk(f"To take it out again: muisti hook uninstall claude-code{where}")
        talk("What is kept: muisti list --status candidate --category captured")


def uninstall(options: Globals, *, project: bool, dry_run: bool) -> None:
    """Take the hooks out."""
    with _possible():
        _finish(options, hooks.uninstall(_path(project)), dry_run)


def _finish(options: Globals, change: Change, dry_run: bool) -> None:
    show(options, change, dry_run)
    if change.changes and not dry_run:
        change.write()
    written(options, change, dry_run, {})


def _path(project: bool) -> Path:
    return Path.cwd() / hooks.PROJECT if project else hooks.where(Home(Path.home(), os.environ))


def _flags(options: Globals) -> list[str]:
    """What a hook is started with, so that it stores where a command would that is run here now."""
    space = ["--space", options.space] if options.space else []
    if url := server_url(options):
        return ["--url", url, *space]
    with refusals(options):
        database = in_force(options).database_url
    if database.startswith("file:"):
        database = str(Path(database_path(database)).absolute())
    return ["--database", database, *space]


@contextmanager
def _possible() -> Iterator[None]:
    try:
        yield
    except NotPossible as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"{error.filename} cannot be written: {error.strerror}") from error


def _hand_over(options: Globals, payload: bytes) -> None:
    given: Sequence[str | None] = (
        *(("--url", options.url) if options.url else ()),
        *(("--space", options.space) if options.space else ()),
        *(("--database", options.database) if options.database else ()),
        *(("--config", options.config) if options.config else ()),
    )
    with subprocess.Popen(
        [command(), *(word for word in given if word), "hook", "run", "--wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as storing:
        assert storing.stdin
        storing.stdin.write(payload)
        storing.stdin.close()
        storing.returncode = 0  # nobody waits for it


def _store(options: Globals, found: Captured) -> None:
    """In the space of the project that the client works in, unless one is named."""
    if hasattr(signal, "alarm"):
        signal.alarm(SECONDS)
    if found.folder is not None:
        options.space = choose(options.space, os.environ, found.folder).space
    with _alone(), session(options, create=True) as opened:
        try:
            opened.write(lambda: opened.client.add(opened.space, found.memory(), on_conflict="keep"))
        except ApiError as refusal:
            if refusal.code != "address_taken":  # the same text was kept before
                raise


@contextmanager
def _alone() -> Iterator[None]:
    """One at a time for each user: a busy client runs many hooks, and each loads the service."""
    if fcntl is None:
        yield
        return
    path = Path(tempfile.gettempdir()) / f"{os.getuid()}-{LOCK}"
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
