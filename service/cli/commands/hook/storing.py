"""The work of `muisti hook run`: it reads the event, looks for secrets, and starts a process that stores the text.

The client does not wait for that process: starting the service takes a second, and a hook runs for every prompt. The
processes of a user store one after the other.
"""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from muisti.client import calls
from muisti.service.app.client import ApiError
from muisti.service.cli.base import Globals
from muisti.service.cli.commands.hook.capture import Captured, captured
from muisti.service.cli.project import choose
from muisti.service.cli.session import session
from muisti.service.connect.program import program

READ_MAX = 4_000_000  # bytes of a payload
SECONDS = 60  # longest time for storing
LOCK = "muisti-hook.lock"


def run(options: Globals, wait: bool) -> None:
    """Record an event from standard input. It never fails and prints nothing: the client could do nothing about it."""
    with suppress(Exception), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        payload = sys.stdin.buffer.read(READ_MAX)
        found = captured(payload.decode("utf-8", "replace"))
        if found is not None and wait:
            _store(options, found)
        elif found is not None:
            _hand_over(options, payload)


def _hand_over(options: Globals, payload: bytes) -> None:
    given: Sequence[str | None] = (
        *(("--url", options.url) if options.url else ()),
        *(("--space", options.space) if options.space else ()),
        *(("--database", options.database) if options.database else ()),
        *(("--config", options.config) if options.config else ()),
    )
    with subprocess.Popen(
        [*program().words, *(word for word in given if word), "hook", "run", "--wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as storing:
        assert storing.stdin
        storing.stdin.write(payload)
        storing.stdin.close()
        storing.returncode = 0  # it runs on in the background


def _store(options: Globals, found: Captured) -> None:
    """Store a text in the space of the client's project, unless the options name a space."""
    if hasattr(signal, "alarm"):
        signal.alarm(SECONDS)
    if found.folder is not None:
        options.space = choose(options.space, os.environ, found.folder).space
    with _alone(), session(options, create=True) as opened:
        try:
            opened.write(lambda: opened.client.send(calls.add_memory(opened.space, found.memory(), on_conflict="keep")))
        except ApiError as refusal:
            if refusal.code != "address_taken":  # the same text was kept before
                raise


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock of this user: a busy client runs many hooks, and each loads the service."""
    path = Path(tempfile.gettempdir()) / f"{os.getuid()}-{LOCK}"
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
