"""The work of `muisti hook run`: it reads the event, looks for secrets, and starts a process that stores the text.

The client does not wait for that process: starting the service takes a second, and a hook runs for every prompt. The
processes of a user store one after the other.
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec

from muisti.client import calls
from muisti.core.text.secrets import find_secret
from muisti.service.connect.program import program
from muisti.service.terminal.base import Globals
from muisti.service.terminal.client import ApiError
from muisti.service.terminal.project import choose
from muisti.service.terminal.session import session

TEXT_MAX = 8_000  # characters
FIELDS = {
    "UserPromptSubmit": "prompt",
    "PreToolUse": "tool_input",
    "PostToolUse": "tool_response",
    "PreCompact": "conversation",
}
DIGEST_BYTES = 16
CATEGORY = "captured"
# Nobody confirms these texts before they are stored, so a text that may hold a secret is dropped whole.
_MAY_BE_SECRET = re.compile(
    r"(?<![\w-])(?=[\w-]*?eyJ)[\w-]++\.[\w-]*+\.|AKIA[0-9A-Z]{16}|\bbearer\s|(?:api[_-]?key|secret[_-]?key|password|token)\s*=",
    re.IGNORECASE,
)
READ_MAX = 4_000_000  # bytes of a payload
SECONDS = 60  # longest time for storing
LOCK = "muisti-hook.lock"


class Captured(msgspec.Struct, frozen=True):
    """Text to store. Its `digest` becomes the memory's key, so that the server refuses a repeat."""

    text: str
    event: str
    tool: str | None
    folder: Path | None

    @property
    def digest(self) -> str:
        return blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()

    def memory(self) -> dict[str, Any]:
        """Return the memory in the form of the API: an unconfirmed observation, with the status candidate."""
        metadata = {"hook_event": self.event} | ({"tool": self.tool} if self.tool else {})
        return {
            "content": self.text,
            "category": CATEGORY,
            "key": self.digest,
            "type": "observation",
            "status": "candidate",
            "source": f"hook:{self.event}",
            "metadata": metadata,
        }


def captured(payload: str) -> Captured | None:
    """Return the part of a payload to store; None for other events, and for text that is no payload.

    >>> found = captured('{"hook_event_name": "UserPromptSubmit", "prompt": " We deploy on Fridays ", "cwd": "/w"}')
    >>> found.text, found.event, str(found.folder)
    ('We deploy on Fridays', 'UserPromptSubmit', '/w')
    >>> captured('{"hook_event_name": "SessionStart"}'), captured("no JSON")
    (None, None)
    """
    try:
        event_json = json.loads(payload)
    except ValueError:
        return None
    event = event_json.get("hook_event_name") if isinstance(event_json, dict) else None
    if not isinstance(event, str) or event not in FIELDS:
        return None
    whole = _text(event_json.get(FIELDS[event])).strip()
    text = whole[:TEXT_MAX].rstrip()
    if not text or may_be_secret(whole):
        return None
    tool, folder = event_json.get("tool_name"), event_json.get("cwd")
    return Captured(
        text,
        event,
        tool if isinstance(tool, str) else None,
        Path(folder) if isinstance(folder, str) and folder else None,
    )


def may_be_secret(text: str) -> bool:
    """Tell whether a text has what looks like a credential, or like the place for one.

    >>> may_be_secret("export DB_PASSWORD=x"), may_be_secret("where is the password kept?")
    (True, False)
    """
    return _MAY_BE_SECRET.search(text) is not None or find_secret(text) is not None


def _text(value: object) -> str:
    """Return a text as it is, a conversation as its texts, and any other value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(turn, Mapping) and "content" in turn for turn in value):
        return "\n".join(f"{turn.get('role', '')}: {_text(turn['content'])}".removeprefix(": ") for turn in value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


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
    given = {f"--{name}": getattr(options, name) for name in ("url", "space", "database", "config")}
    words = [word for name, value in given.items() if value for word in (name, value)]
    with subprocess.Popen(
        [*program().words, *words, "hook", "run", "--wait"],
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
