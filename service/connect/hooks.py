"""Hooks of Claude Code: commands in its settings that it runs on events."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from muisti.service.connect import jsonc, planning
from muisti.service.connect.clients import Home
from muisti.service.connect.planning import Change
from muisti.service.connect.program import program

SECONDS = 5  # after which Claude Code ends a hook
ALWAYS = ("UserPromptSubmit", "PreCompact")
OF_TOOLS = ("PreToolUse", "PostToolUse")
PROJECT = ".claude/settings.json"
_PROGRAM = re.compile(r"muisti(?:\.exe)?['\"]?\s|\bmuisti\b")
_RUN = re.compile(r"\bhook run\b")


def where(home: Home) -> Path:
    """Return the path of the user's settings."""
    return home.named("CLAUDE_CONFIG_DIR", home.folder / ".claude") / "settings.json"


def command(options: Sequence[str]) -> str:
    """Return the command that the client runs.

    Raises:
        NotPossible: the command `muisti` was not found.
    """
    return shlex.join([*program().words, *options, "hook", "run"])


def install(path: Path, run: str, events: Sequence[str]) -> Change:
    """Return the change of the settings that puts a hook for each event in place of our earlier hooks.

    Raises:
        NotPossible: the file cannot be read or is no JSON.
    """
    change = uninstall(path)
    text = change.after or ""
    if [*_events(jsonc.read(change.before or ""))] == [(event, run) for event in events]:
        return Change(path, change.before, change.before)
    with planning.changing(path):
        for event in events:
            group = {"matcher": "*"} if event in OF_TOOLS else {}
            hook = {"type": "command", "command": run, "timeout": SECONDS}
            text = jsonc.append(text, ["hooks", event], {**group, "hooks": [hook]})
    return Change(path, change.before, text)


def uninstall(path: Path) -> Change:
    """Return the change of the settings that removes our hooks, and the lists that are empty without them.

    Raises:
        NotPossible: the file cannot be read or is no JSON.
    """
    before = planning.text(path)
    if before is None:
        return Change(path, None, None)
    with planning.changing(path):
        after = before
        while place := next(_places(jsonc.read(after)), None):
            after = jsonc.drop(after, place)
        return Change(path, before, None if after != before and jsonc.read(after) == {} else after)


def _places(settings: Any) -> Iterator[list[str | int]]:
    """Yield the paths of our hooks: for each the largest value that contains nothing else."""
    hooks = settings.get("hooks") if isinstance(settings, Mapping) else None
    for event, at, group in _groups(hooks):
        ours = [number for number, hook in enumerate(group["hooks"]) if _is_ours(hook)]
        if not ours:
            continue
        if len(ours) < len(group["hooks"]):
            yield ["hooks", event, at, "hooks", ours[-1]]
        elif len(settings["hooks"][event]) > 1:
            yield ["hooks", event, at]
        else:
            yield ["hooks", event] if len(settings["hooks"]) > 1 else ["hooks"]


def _events(settings: Any) -> Iterator[tuple[str, str]]:
    hooks = settings.get("hooks") if isinstance(settings, Mapping) else None
    for event, _, group in _groups(hooks):
        yield from ((event, hook["command"]) for hook in group["hooks"] if _is_ours(hook))


def _groups(hooks: Any) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for event, groups in hooks.items() if isinstance(hooks, Mapping) else ():
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, Mapping) and isinstance(group.get("hooks"), list):
                yield event, at, group


def _is_ours(hook: Any) -> bool:
    command = str(hook.get("command", "")) if isinstance(hook, Mapping) else ""
    return _RUN.search(command) is not None and _PROGRAM.search(command) is not None
