"""Places where agents keep transcripts, memories, and rules of the person and of projects."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from muisti.service.connect.clients import CLIENTS, Home

What = Literal["transcripts", "memories", "rules"]
FILES_MAX = 100_000  # of an agent
PROJECT_FILES_MAX = 1_000  # of an agent in one project


@dataclass(frozen=True, slots=True)
class Traces:
    """Where an agent keeps what it remembers, as patterns below `root`, and below a project's folder.

    `transcripts` are of the format with the name `system`. `memories` are notes of the agent, `personal` rules of its
    person. `left` are files that are not read, by the reason.
    """

    client: str
    root: Callable[[Home], Path]
    transcripts: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """A file of an agent. `folder` is that of its project, as far as its place says it."""

    client: str
    what: What
    path: Path
    folder: Path | None = None
    personal: bool = False


def _below(name: str, variable: str = "") -> Callable[[Home], Path]:
    return lambda home: home.named(variable, home.folder / name) if variable else home.folder / name


TRACES: Sequence[Traces] = (
    Traces(
        "claude-code", _below(".claude", "CLAUDE_CONFIG_DIR"), ("projects/*/*.jsonl",), ("projects/*/memory/*.md",),
        ("CLAUDE.md", "rules/**/*.md"), ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/**/*.md"),
        (("projects/*/*/subagents/*.jsonl", "of a subagent"),),
    ),
    Traces(
        "codex", _below(".codex", "CODEX_HOME"), ("sessions/**/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"),
        (), ("AGENTS.md", "AGENTS.override.md"), ("AGENTS.md", "AGENTS.override.md"),
        (
            ("history.jsonl", "prompts that name no project; the sessions have them"),
            ("sessions/**/*.jsonl.zst", "compressed"),
        ),
    ),
    Traces(
        "cursor", lambda home: home.settings() / "Cursor" / "User",
        ("globalStorage/state.vscdb", "workspaceStorage/*/state.vscdb"), (), (),
        (".cursorrules", ".cursor/rules/**/*.mdc"),
    ),
    Traces(
        "gemini-cli", _below(".gemini"),
        ("tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl", "tmp/*/logs.json"), ("tmp/*/memory/*.md",),
        ("GEMINI.md",), ("GEMINI.md", ".gemini/GEMINI.md"), (("tmp/*/chats/*/*.jsonl", "of a subagent"),),
    ),
    Traces(
        "windsurf", _below(".codeium/windsurf"), (), (), ("memories/global_rules.md",),
        (".windsurfrules", ".windsurf/rules/**/*.md"), (("memories/*.pb", "an unknown format"),),
    ),
    Traces("cline", _below("Documents/Cline"), (), (), ("Rules/*.md",), (".clinerules", ".clinerules/**/*.md")),
    Traces("roo", _below(".roo"), (), (), ("rules/**/*.md",), (".roorules", ".roo/rules/**/*.md")),
    Traces(
        "copilot-cli", _below(".copilot"), (), (), ("copilot-instructions.md",),
        (".github/copilot-instructions.md", ".github/instructions/**/*.instructions.md"),
    ),
    Traces("kiro", _below(".kiro"), (), (), ("steering/*.md",), (".kiro/steering/**/*.md",)),
    Traces("jetbrains", _below(".junie"), (), (), (), (".junie/guidelines.md",)),
    Traces("opencode", _below(".config/opencode"), (), (), ("AGENTS.md",), ()),
    Traces("goose", _below(".config/goose"), (), (), (".goosehints",), (".goosehints",)),
    Traces("zed", _below(".config/zed"), (), (), (), (".rules",)),
)  # fmt: skip
AGENTS = tuple(one.client for one in TRACES)
assert set(AGENTS) <= set(CLIENTS)


def personal_traces(home: Home, agents: Sequence[str]) -> Iterator[Trace]:
    """Yield the transcripts, memories and rules that agents keep for the person, transcripts first."""
    for one in _chosen(agents):
        root = one.root(home)
        kinds: tuple[tuple[What, tuple[str, ...]], ...] = (
            ("transcripts", one.transcripts),
            ("memories", one.memories),
        )
        for what, patterns in kinds:
            yield from (Trace(one.client, what, path) for path in _files(root, patterns, FILES_MAX))
        found = _files(root, one.personal, FILES_MAX)
        yield from (Trace(one.client, "rules", path, personal=True) for path in found)


def left_traces(home: Home, agents: Sequence[str]) -> Iterator[tuple[str, Path, str]]:
    """Yield the agent, the path and the reason of each file that is not read."""
    for one in _chosen(agents):
        for pattern, reason in one.left:
            yield from ((one.client, path, reason) for path in _files(one.root(home), (pattern,), FILES_MAX))


def project_traces(folders: Iterable[Path], agents: Sequence[str]) -> Iterator[Trace]:
    """Yield the rules in folders of projects, and in the folders above them in the same repository."""
    seen = set[Path]()
    for folder in folders:
        for place in _within(folder):
            if place not in seen:
                seen.add(place)
                yield from _rules_in(place, agents)


def _rules_in(folder: Path, agents: Sequence[str]) -> Iterator[Trace]:
    for one in _chosen(agents):
        found = _files(folder, one.project, PROJECT_FILES_MAX)
        yield from (Trace(one.client, "rules", path, folder) for path in found)


def root_of(folder: Path) -> Path:
    """Return the folder of the repository around a folder, or itself."""
    return next((one for one in (folder, *folder.parents) if os.path.exists(one / ".git")), folder)


def _within(folder: Path) -> list[Path]:
    root = root_of(folder)
    return [one for one in (folder, *folder.parents) if one.is_relative_to(root) and os.path.isdir(one)]


def _chosen(agents: Sequence[str]) -> Iterator[Traces]:
    return (one for one in TRACES if not agents or one.client in agents)


def _files(root: Path, patterns: Iterable[str], most: int) -> list[Path]:
    """Return the ordinary files that match, in order of their names; none where nothing can be read.

    `os.path` answers no where `Path` raises, as in folders of other users.
    """
    if not os.path.isdir(root):
        return []
    found = (path for pattern in patterns for path in sorted(root.glob(pattern)) if os.path.isfile(path))
    return list(islice(found, most))
