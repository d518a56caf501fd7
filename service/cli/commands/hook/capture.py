"""What an agent client tells its hooks, and what of it is worth keeping: text, and the folder that it is about."""

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
# Nobody is asked before this is stored, so what may be a secret is enough: the whole text is dropped then.
_MAY_BE_SECRET = re.compile(
    r"(?<![\w-])(?=[\w-]*?eyJ)[\w-]++\.[\w-]*+\.|AKIA[0-9A-Z]{16}|\bbearer\s|(?:api[_-]?key|secret[_-]?key|password|token)\s*=",
    re.IGNORECASE,
)


class Captured(msgspec.Struct, frozen=True):
    """What to store. `digest` is the key of its memory, so that a repeat is refused and nothing is stored twice."""

    text: str
    event: str
    tool: str | None
    folder: Path | None

    @property
    def digest(self) -> str:
        return blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()

    def memory(self) -> dict[str, Any]:
        """The memory, as the API takes it: an observation that nobody has confirmed."""
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
    """What of a payload is to be kept; None when there is nothing, as of other events and of what is no payload.

    >>> found = captured('{"hook_event_name": "UserPromptSubmit", "prompt": " We deploy on Fridays ", "cwd": "/w"}')
    >>> found.text, found.event, str(found.folder)
    ('We deploy on Fridays', 'UserPromptSubmit', '/w')
    >>> captured('{"hook_event_name": "SessionStart"}'), captured("no JSON")
    (None, None)
    """
    try:
        told = json.loads(payload)
    except ValueError:
        return None
    event = told.get("hook_event_name") if isinstance(told, dict) else None
    if not isinstance(event, str) or event not in FIELDS:
        return None
    whole = _text(told.get(FIELDS[event])).strip()
    text = whole[:TEXT_MAX].rstrip()
    if not text or may_be_secret(whole):
        return None
    tool, folder = told.get("tool_name"), told.get("cwd")
    return Captured(
        text,
        event,
        tool if isinstance(tool, str) else None,
        Path(folder) if isinstance(folder, str) and folder else None,
    )


def may_be_secret(text: str) -> bool:
    """Whether a text has what looks like a credential, or like the place for one.

    >>> may_be_secret("export DB_PASSWORD=x"), may_be_secret("where is the password kept?")
    (True, False)
    """
    return _MAY_BE_SECRET.search(text) is not None or find_secret(text) is not None


def _text(value: object) -> str:
    """A text as it is; the texts of a conversation; all else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(turn, Mapping) and "content" in turn for turn in value):
        return "\n".join(f"{turn.get('role', '')}: {_text(turn['content'])}".removeprefix(": ") for turn in value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)
