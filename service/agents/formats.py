"""The hooks of each client: its events, the fields that it sends, and the form of the answer that it reads.

The formats are those of the clients' own documentation. A client whose answer to an event reaches no model has no
`shown` there: its events are only recorded.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

Kind = Literal["start", "prompt", "file", "end"]
"""A session begins or is compacted; a prompt; a file is read or edited; a turn ends, or a session is compacted."""

TEXT, EVENT = "$text", "$event"
NAMES = ("hook_event_name", "hookEventName", "hookName", "agent_action_name")
SESSIONS = ("session_id", "sessionId", "conversation_id", "taskId", "trajectory_id")
FOLDERS = ("cwd", "workspace_roots.0", "workspaceRoots.0")
PATHS = tuple(f"tool_input.{name}" for name in ("file_path", "filePath", "notebook_path", "absolute_path", "path"))


class Event(msgspec.Struct, frozen=True):
    """An event: its kind, and the fields that may have its text or path; the first that has one counts.

    `shown` is the answer, with `$text` and `$event` in place of both. None: no answer reaches the model. `forgets`:
    what the session was shown is gone from the model's context afterwards.
    """

    kind: Kind
    fields: Sequence[str] = ()
    shown: Any = None
    forgets: bool = False


class Format(msgspec.Struct, frozen=True):
    """The events of a client by their names there, and what the client settings call the tools that open files."""

    events: Mapping[str, Event]
    tools: str = ""


_SPECIFIC = {"hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": TEXT}}
_CLINE = {"cancel": False, "contextModification": TEXT}
_CLAUDE = {
    "SessionStart": Event("start", shown=_SPECIFIC, forgets=True),
    "UserPromptSubmit": Event("prompt", ("prompt",), _SPECIFIC),
    "PreToolUse": Event("file", PATHS, _SPECIFIC),
    "PreCompact": Event("end", ("transcript_path",), forgets=True),
    "Stop": Event("end", ("last_assistant_message",)),
}

FORMATS: Mapping[str, Format] = {  # VS Code runs the hooks of Claude Code
    "claude-code": Format(_CLAUDE, "Read|Edit|Write|MultiEdit|NotebookEdit"),
    "codex": Format({name: _CLAUDE[name] for name in ("SessionStart", "UserPromptSubmit", "Stop")}),
    "gemini-cli": Format(
        {
            "SessionStart": _CLAUDE["SessionStart"],
            "BeforeAgent": _CLAUDE["UserPromptSubmit"],
            "AfterTool": _CLAUDE["PreToolUse"],  # BeforeTool shows the model nothing
            "PreCompress": _CLAUDE["PreCompact"],
            "AfterAgent": Event("end", ("prompt_response",)),
        },
        "read_file|write_file|replace",
    ),
    "cursor": Format(
        {
            "sessionStart": Event("start", shown={"additional_context": TEXT}, forgets=True),
            "beforeSubmitPrompt": Event("prompt", ("prompt",)),
            "postToolUse": Event("file", PATHS, {"additional_context": TEXT}),
            "preCompact": Event("end", ("transcript_path",), forgets=True),
            "afterAgentResponse": Event("end", ("text",)),
        },
        "Read|Write",
    ),
    "copilot-cli": Format(
        {
            "sessionStart": Event("start", shown={"additionalContext": TEXT}, forgets=True),
            "userPromptSubmitted": Event("prompt", ("prompt",), {"additionalContext": TEXT}),
        }
    ),
    "windsurf": Format(
        {
            "pre_user_prompt": Event("prompt", ("tool_info.user_prompt",)),
            "post_cascade_response": Event("end", ("tool_info.response",)),
        }
    ),
    "cline": Format(
        {
            "TaskStart": Event("start", shown=_CLINE, forgets=True),
            "UserPromptSubmit": Event("prompt", ("userPromptSubmit.prompt",), _CLINE),
            "PreToolUse": Event("file", ("preToolUse.parameters.path",), _CLINE),
        }
    ),
    "kiro": Format(
        {
            "agentSpawn": Event("start", shown=TEXT, forgets=True),
            "userPromptSubmit": Event("prompt", ("prompt",), TEXT),
            "stop": Event("end", ("assistant_response",)),
        }
    ),
    "opencode": Format(
        {
            "start": Event("start", shown=TEXT, forgets=True),
            "prompt": Event("prompt", ("prompt",), TEXT),
            "file": Event("file", PATHS, TEXT),
            "end": Event("end", ("text",)),
        }
    ),
}


def first(payload: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of these fields that has a text; names go into lists and objects by dots.

    >>> first({"a": {"b": ["x"]}, "c": 1}, ("c", "a.b.0"))
    'x'
    """
    for name in names:
        found: Any = payload
        for part in name.split("."):
            if isinstance(found, list):
                found = found[int(part)] if part.isdecimal() and int(part) < len(found) else None
            else:
                found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, str) and found:
            return found
    return ""


def filled(form: Any, text: str, event: str) -> Any:
    """Return the answer in a form.

    >>> filled({"a": ["$event"], "b": "$text"}, "known", "Start")
    {'a': ['Start'], 'b': 'known'}
    """
    if isinstance(form, dict):
        return {name: filled(value, text, event) for name, value in form.items()}
    if isinstance(form, list):
        return [filled(value, text, event) for value in form]
    return {TEXT: text, EVENT: event}.get(form, form) if isinstance(form, str) else form
