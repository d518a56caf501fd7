"""What `muisti hook run` does: it reads, looks for secrets, and leaves the storing to a process of its own.

Nobody waits for that one: starting the service takes a second, and a client asks for every prompt. Those processes
store one after the other.
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

from muisti.client import calls
from muisti.service.app.client import ApiError
from muisti.service.cli.base import Globals
from muisti.service.cli.commands.hook.capture import Captured, captured
from muisti.service.cli.project import choose
from muisti.service.cli.session import session
from muisti.service.connect.planning import command

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
            opened.write(lambda: opened.client.send(calls.add_memory(opened.space, found.memory(), on_conflict="keep")))
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
