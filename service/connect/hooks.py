"""The hooks of agent clients: commands that they run on events, written into the files where each looks for them."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from muisti.service.agents.formats import FORMATS
from muisti.service.connect import jsonc, muisti_hook, planning
from muisti.service.connect.clients import Home
from muisti.service.connect.planning import NO_TEXTS, Change, Texts
from muisti.service.connect.program import NotPossible, program

SECONDS = 5  # after which a client ends a hook
COMMAND = "@COMMAND@"  # in the plugin for OpenCode, and in a script for Cline, which wants an answer in any case
SCRIPT = f"""#!/bin/sh
answer=$({COMMAND})
[ -n "$answer" ] || answer='{{}}'
printf '%s\\n' "$answer"
"""
_OURS = re.compile(r"\b(?:muisti|hook run)\b")
_WORD = re.compile(r"[^\s\"']+")
_FILE = "muisti_hook.py"
Form = Literal["groups", "list", "scripts", "plugin"]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where a client looks for hooks: the user's file, that of a project, and the form of both.

    `groups` are objects with a matcher and a list of hooks, as Claude Code has them; `list`: the hooks themselves.
    `scripts`: a folder of executable files that are named by their events. `plugin`: one file that is ours alone.
    `hook` makes a hook from a command. `head` is what a file needs beside the hooks. `by_name`: the client does not
    tell its hooks the event, so each command names it.
    """

    where: Callable[[Home], Path]
    project: str
    form: Form
    hook: Callable[[str], Mapping[str, Any]] = lambda run: {"type": "command", "command": run, "timeout": SECONDS}
    head: Mapping[str, Any] | None = None
    by_name: bool = False


HOOKS: Mapping[str, Hooks] = {
    "claude-code": Hooks(
        lambda home: home.named("CLAUDE_CONFIG_DIR", home.folder / ".claude") / "settings.json",
        ".claude/settings.json",
        "groups",
    ),
    "codex": Hooks(
        lambda home: home.named("CODEX_HOME", home.folder / ".codex") / "hooks.json", ".codex/hooks.json", "groups"
    ),
    "gemini-cli": Hooks(
        lambda home: home.folder / ".gemini" / "settings.json",
        ".gemini/settings.json",
        "groups",
        lambda run: {"name": "muisti", "type": "command", "command": run, "timeout": SECONDS * 1_000},
    ),
    "cursor": Hooks(
        lambda home: home.folder / ".cursor" / "hooks.json",
        ".cursor/hooks.json",
        "list",
        lambda run: {"command": run, "timeout": SECONDS},
        {"version": 1},
    ),
    "copilot-cli": Hooks(
        lambda home: home.folder / ".copilot" / "hooks" / "muisti.json",
        ".github/hooks/muisti.json",
        "list",
        lambda run: {"type": "command", "bash": run, "timeoutSec": SECONDS},
        {"version": 1},
        by_name=True,
    ),
    "windsurf": Hooks(
        lambda home: home.folder / ".codeium" / "windsurf" / "hooks.json",
        ".windsurf/hooks.json",
        "list",
        lambda run: {"command": run, "show_output": False},
    ),
    "cline": Hooks(lambda home: home.folder / "Documents" / "Cline" / "Hooks", ".clinerules/hooks", "scripts"),
    "opencode": Hooks(
        lambda home: home.named("XDG_CONFIG_HOME", home.folder / ".config") / "opencode" / "plugin" / "muisti.js",
        ".opencode/plugin/muisti.js",
        "plugin",
    ),
}


def command(client: str, options: Sequence[str]) -> str:
    """Return the command that a client runs for its events: Python with one file, or `muisti hook run`.

    An environment that uvx made may be gone tomorrow, so there the whole command is named.

    Raises:
        NotPossible: the command `muisti` was not found.
    """
    words, _ = program()
    if len(words) > 1:
        return shlex.join([*words, "hook", "run", client, *options])
    site = [] if "--url" in options else ["-S"]  # the way to a server elsewhere needs packages to name the project
    return shlex.join([sys.executable, "-I", *site, muisti_hook.__file__, client, *options])


def install(client: str, place: Path, run: str, texts: Texts = NO_TEXTS) -> list[Change]:
    """Return the changes that put a hook for each event of a client in place of our earlier hooks.

    `texts` are those of files that other changes leave.

    Raises:
        NotPossible: a file cannot be read, has another format, or is somebody else's.
    """
    hooks, events = HOOKS[client], [*FORMATS[client].events]
    if hooks.form == "scripts":
        return [_script(place / event, SCRIPT.replace(COMMAND, run)) for event in events]
    if hooks.form == "plugin":
        opencode = resources.files("muisti.service").joinpath("static", "opencode.js")
        words = ", ".join(f'"{word}"' for word in shlex.split(run))
        return [Change(place, planning.text(place), opencode.read_text("utf-8").replace(f'"{COMMAND}"', words))]
    named = [(event, _named(run, client, event) if hooks.by_name else run) for event in events]
    (change,) = uninstall(client, place, texts)
    text = change.after or ""
    if sorted(_found(jsonc.read(change.before or ""))) == sorted(named):
        return [Change(place, change.before, change.before)]
    with planning.changing(place):
        for name, value in (hooks.head or {}).items():
            text = text if name in jsonc.read(text) else jsonc.put(text, [name], value)
        for event, one in named:
            text = jsonc.append(text, ["hooks", event], _item(hooks, client, event, one))
    return [Change(place, change.before, text)]


def _item(hooks: Hooks, client: str, event: str, run: str) -> Mapping[str, Any]:
    made = hooks.hook(run)
    if hooks.form == "list":
        return made
    opens_files = FORMATS[client].events[event].kind == "file"
    return {**({"matcher": FORMATS[client].tools} if opens_files else {}), "hooks": [made]}


def _named(run: str, client: str, event: str) -> str:
    return run.replace(f" {client}", f" {client}:{event}", 1)


def _script(path: Path, content: str) -> Change:
    before = planning.text(path)
    if before is not None and not _is_ours(before):
        raise NotPossible(f"{path} is somebody else's; add this line to it by hand: {content.splitlines()[1]}")
    return Change(path, before, content, 0o755)


def uninstall(client: str, place: Path, texts: Texts = NO_TEXTS) -> list[Change]:
    """Return the changes that remove our hooks, and the lists that are empty without them; `texts` as in `install`.

    Raises:
        NotPossible: a file cannot be read or is no JSON.
    """
    hooks = HOOKS[client]
    if hooks.form in ("scripts", "plugin"):
        paths = [place / event for event in FORMATS[client].events] if hooks.form == "scripts" else [place]
        held = [(path, planning.text(path)) for path in paths]
        return [Change(path, text, None) for path, text in held if text is not None and _is_ours(text)]
    before = planning.text(place, texts)
    if before is None:
        return [Change(place, None, None)]
    with planning.changing(place):
        after = before
        while found := next(_places(jsonc.read(after)), None):
            after = jsonc.drop(after, found)
        left = jsonc.read(after)
    emptied = after != before and left in ({}, hooks.head)
    return [Change(place, before, None if emptied else after)]


def installed(client: str, place: Path) -> bool:
    """Tell whether any hook of ours is in a client's file."""
    try:
        return any(change.changes for change in uninstall(client, place))
    except NotPossible:
        return False


def missing(client: str, place: Path) -> str | None:
    """Return the file that the hooks of a client need and that is gone; None when it is there, or there are no hooks.

    Raises:
        NotPossible: a file of the client cannot be read.
    """
    texts = (change.before or "" for change in uninstall(client, place) if change.changes)
    words = (word for text in texts for word in _WORD.findall(text) if "/" in word and _FILE in word)
    named = (word[word.find("/") : word.find(_FILE) + len(_FILE)] for word in words)
    return next((one for one in named if not Path(one).exists()), None)


def _places(settings: Any) -> Iterator[list[str | int]]:
    """Yield the paths of our hooks: for each the largest value that contains nothing else."""
    for event, at, item in _items(settings):
        within = item.get("hooks") if isinstance(item.get("hooks"), list) else None
        ours = [number for number, hook in enumerate(within or ()) if _has_ours(hook)]
        if within and len(ours) < len(within):
            if ours:
                yield ["hooks", event, at, "hooks", ours[-1]]
        elif not ours and not _has_ours(item):
            continue
        elif len(settings["hooks"][event]) > 1:
            yield ["hooks", event, at]
        else:
            yield ["hooks", event] if len(settings["hooks"]) > 1 else ["hooks"]


def _found(settings: Any) -> Iterator[tuple[str, str]]:
    """Yield the event and the command of each hook of ours."""
    for event, _, item in _items(settings):
        within = item.get("hooks") if isinstance(item.get("hooks"), list) else [item]
        yield from ((event, str(hook.get("command", hook.get("bash")))) for hook in within or () if _has_ours(hook))


def _items(settings: Any) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    hooks = settings.get("hooks") if isinstance(settings, Mapping) else None
    for event, items in hooks.items() if isinstance(hooks, Mapping) else ():
        for at, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, Mapping):
                yield event, at, item


def _has_ours(hook: Any) -> bool:
    return isinstance(hook, Mapping) and any(isinstance(value, str) and _is_ours(value) for value in hook.values())


def _is_ours(text: str) -> bool:
    """Tell whether a text runs a hook of ours: `muisti … hook run` in one line, or our script.

    >>> [_is_ours(one) for one in ("muisti.exe hook run x", "python /a/muisti_hook.py", "muisti serve", "a hook run")]
    [True, True, False, False]
    """
    return _FILE in text or any(len({*_OURS.findall(line)}) > 1 for line in text.splitlines())
