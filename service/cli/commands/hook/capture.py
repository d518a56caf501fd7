"""Events that an agent client sends to its hooks, and the parts that are stored: a text and the project's folder."""

import json
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from muisti.core.text.secrets import find_secret

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
