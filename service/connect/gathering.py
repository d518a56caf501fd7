"""Reads what agents keep on this machine, by project: what each has is counted, and spread over the projects' spaces.

Transcripts go to temporary files immediately. Rules are held until it is known which of them a space has already.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from itertools import chain, count, islice
from pathlib import Path

from muisti.core.model.errors import MuistiError
from muisti.core.model.values import NAME_MAX
from muisti.core.text.secrets import find_secret
from muisti.service.connect.clients import Home
from muisti.service.connect.traces import Trace, left_traces, personal_traces, project_traces, root_of
from muisti.service.formats.importers import cursor, rules
from muisti.service.formats.importers.dialogues import Conversation, Talk, name_of, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, Unreadable, plain
from muisti.service.formats.importers.registry import IMPORTERS, whole
from muisti.service.formats.importers.shapes import json_lines
from muisti.service.formats.importers.shares import Spread
from muisti.service.formats.importers.source_files import Part, Source
from muisti.service.terminal.project import choose
from muisti.service.tools.session import PERSONAL

SOURCE = "local"
SECRET, UNREADABLE = "looks like a secret", "cannot be read"
NO_PROJECT, ELSEWHERE, OLD = "names no project", "of another project", "not changed since"
NAMED = 100  # lines that cannot be read, which are named
PEEKED = 200  # lines of a transcript that are searched for its folder


@dataclass(slots=True)
class Row:
    """Counts of what an agent has of one project."""

    client: str
    space: str
    folders: set[str] = field(default_factory=set[str])
    files: int = 0
    size: int = 0
    conversations: int = 0
    messages: int = 0
    memories: int = 0
    first: str | None = None
    last: str | None = None
    left: Counter[str] = field(default_factory=Counter[str])

    def count(self, one: Found) -> None:
        if not isinstance(one, Item):
            self.left[one.reason if isinstance(one, Skipped) else UNREADABLE] += 1
            return
        kind = one.memory.get("kind", "memory")
        self.conversations += kind == "conversation"
        self.messages += kind == "exchange"
        self.memories += kind == "memory"
        if (at := one.memory.get("event_at")) is not None and kind == "exchange":
            self.first, self.last = min(self.first or at, at), max(self.last or at, at)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Choices of an import: `since` in seconds of the epoch, `only` a project's folder, `space` for everything."""

    agents: Sequence[str] = ()
    since: float | None = None
    only: Path | None = None
    space: str | None = None
    secrets: bool = False


class Gathering:
    """Result of reading: `rows` of counts, `spread` with the transcripts, `rules` by space and digest."""

    def __init__(self, home: Home, here: Path, wanted: Wanted, spread: Spread) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self.rules: dict[str, dict[str, Item]] = {}
        self.files: dict[str, set[str]] = {}  # of rules, by space: those that were read
        self.named: list[str] = []
        self.spread = spread
        self._home, self._here, self._wanted = home, here, wanted
        self._folders: dict[Path, str | None] = {}  # the spaces of folders
        self._seen, self._sessions, self._talks = set[Path](), set[tuple[str, str]](), set[tuple[str, str]]()
        self._only = None if wanted.only is None else self._space(wanted.only)

    def read(self, on_progress: Callable[[int, int], None]) -> None:
        """Read everything. `on_progress` gets the number of files that are read, and of all."""
        found = list(personal_traces(self._home, self._wanted.agents))
        for number, trace in enumerate(found):
            on_progress(number, len(found))
            self._take(trace)
        folders = {*self._folders, self._here, *filter(None, (self._wanted.only,))}
        for trace in project_traces(sorted(folders), self._wanted.agents):
            self._take(trace)
        on_progress(len(found), len(found))
        for client, _, reason in left_traces(self._home, self._wanted.agents):
            self._row(client, "").left[reason] += 1

    def _take(self, trace: Trace) -> None:
        resolved = trace.path.resolve()
        if resolved in self._seen:  # a link to a file that was read, such as AGENTS.md to CLAUDE.md
            return
        self._seen.add(resolved)
        try:
            if trace.what == "transcripts":
                self._take_transcript(trace)
            else:
                self._take_rules(trace)
        except (Unreadable, OSError) as error:
            self._name(f"{self._shown(trace.path)}: {error.strerror if isinstance(error, OSError) else error}")
            self._row(trace.client, "").left[UNREADABLE] += 1

    def _take_transcript(self, trace: Trace) -> None:
        if trace.client != cursor.SYSTEM and self._is_old(trace.path.stat().st_mtime):
            self._row(trace.client, "").left[OLD] += 1
            self._space(self._folder(trace, None))  # its project has rules all the same
            return
        importer, is_first = IMPORTERS[trace.client], True
        for conversation, found in importer.talks(Source(trace.path, self._shown(trace.path))):
            folder = self._folder(trace, conversation)
            space = self._target(trace, folder)
            row = self._row(trace.client, space or "", folder)
            if space is None:
                row.left[NO_PROJECT if self._space(folder) is None else ELSEWHERE] += 1
                continue
            changed = conversation.times.get("updated_at")
            if changed and self._is_old(datetime.fromisoformat(changed).timestamp()):
                row.left[OLD] += 1
                continue
            if is_first:
                row.files, row.size, is_first = row.files + 1, row.size + trace.path.stat().st_size, False
            self._put(trace.client, space, row, (self._safe(conversation, folder), found))
        if trace.client != cursor.SYSTEM or self._is_old(trace.path.stat().st_mtime):
            return
        text = cursor.rules(Source(trace.path))
        if text and (own := self._target(replace(trace, personal=True), None)) is not None:
            self._state(trace, own, "Cursor's rules for all projects", text)

    def _put(self, system: str, space: str, row: Row, talk: Talk) -> None:
        conversation, found = talk
        name = self._free(system, space, name_of(conversation.id))
        for one in whole(with_object(conversation, self._screened(found))):
            one = one if name is None else _renamed(one, name)
            if isinstance(one, Item) and one.memory.get("kind") == "session":
                if (space, one.external) in self._sessions:
                    continue
                self._sessions.add((space, one.external))
            row.count(one)
            if isinstance(one, Item):
                self.spread.put(one, system, space)
            elif isinstance(one, Failed):
                self._name(f"{one.place}: {one.message}")

    def _free(self, system: str, space: str, name: str) -> str | None:
        """Return another name for a conversation whose name one of another file has; None when it is free."""
        others = (f"{name[: NAME_MAX - 40]} ({system} {number})" for number in count(2))
        free = next(one for one in chain((name,), others) if (space, one) not in self._talks)
        self._talks.add((space, free))
        return None if free == name else free

    def _take_rules(self, trace: Trace) -> None:
        folder = self._folder(trace, None)
        if (space := self._target(trace, folder)) is None:
            is_known = trace.personal or self._space(folder) is not None
            self._row(trace.client, "").left[ELSEWHERE if is_known else NO_PROJECT] += 1
            return
        if self._is_old(trace.path.stat().st_mtime):
            self._row(trace.client, space).left[OLD] += 1
            return
        root = None if folder is None or trace.what != "rules" else root_of(folder)
        name = self._shown(trace.path) if root is None else trace.path.relative_to(root).as_posix()
        text = Part(name, Source(trace.path).open).text()
        if isinstance(text, Failed):
            raise Unreadable(text.message)
        row = self._row(trace.client, space, folder)
        row.files, row.size = row.files + 1, row.size + trace.path.stat().st_size
        self._state(trace, space, name, text)

    def _state(self, trace: Trace, space: str, name: str, text: str) -> None:
        """Hold the statements of a file for a space; the same statement of another file counts once."""
        row, held = self._row(trace.client, space), self.rules.setdefault(space, {})
        self.files.setdefault(space, set()).add(name)
        if trace.what == "memories":
            found = rules.items(name, text, "model", "fact")
        elif trace.personal or trace.what == "transcripts":
            found = rules.items(name, text, "user", "preference")
        else:
            found = rules.items(name, text)
        for one in self._screened(found):
            if isinstance(one, Item) and one.memory["metadata"]["digest"] in held:
                one = Skipped(one.place, "the same in another place")
            row.count(one)
            if isinstance(one, Item):
                held[one.memory["metadata"]["digest"]] = one

    def _screened(self, found: Iterator[Found]) -> Iterator[Found]:
        for one in found:
            is_secret = isinstance(one, Item) and find_secret(plain(one.memory.get("content", ""))) is not None
            yield Skipped(one.place, SECRET) if is_secret and not self._wanted.secrets else one

    def _safe(self, conversation: Conversation, folder: Path | None) -> Conversation:
        """Return a conversation with its folder, and without a title or facts that look like a secret."""
        known = {**conversation.metadata, **({} if folder is None else {"folder": str(folder)})}
        facts = {name: value for name, value in known.items() if find_secret(plain(value)) is None}
        title = conversation.title
        return replace(conversation, metadata=facts, title=None if title and find_secret(title) else title)

    def _is_old(self, changed: float) -> bool:
        return self._wanted.since is not None and changed < self._wanted.since

    def _row(self, client: str, space: str, folder: Path | None = None) -> Row:
        row = self.rows.setdefault((client, space), Row(client, space))
        if folder is not None:
            row.folders.add(self._shown(folder))
        return row

    def _name(self, line: str) -> None:
        if len(self.named) < NAMED:
            self.named.append(line)

    def _shown(self, path: Path) -> str:
        home = self._home.folder
        return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()

    def _space(self, folder: Path | None) -> str | None:
        """Return the space of a folder; None for one that is no folder of this machine."""
        if folder is None or not folder.is_absolute():
            return None
        if folder not in self._folders:
            try:
                self._folders[folder] = self._wanted.space or choose(None, {}, folder).space
            except (MuistiError, OSError, ValueError, RuntimeError):  # the last of a loop of links
                self._folders[folder] = None
        return self._folders[folder]

    def _target(self, trace: Trace, folder: Path | None) -> str | None:
        """Return the space that something goes into; None for what has no project, or another one than is wanted."""
        space = self._wanted.space or (PERSONAL if trace.personal else self._space(folder))
        is_wanted = self._only is None or (space == self._only and not trace.personal)
        return space if is_wanted else None

    def _folder(self, trace: Trace, conversation: Conversation | None) -> Path | None:
        """Return the folder of the project that a file, or a conversation of it, belongs to."""
        if trace.folder is not None:
            return trace.folder
        if trace.personal:
            return None
        named = None if conversation is None else conversation.metadata.get("folder")
        if isinstance(named, str) and "\0" not in named:
            return Path(named)
        if trace.client == "gemini-cli":
            return self._of_gemini(trace.path)
        if trace.client == "claude-code" and conversation is None:
            return _of_claude(trace.path)
        return None

    def _of_gemini(self, path: Path) -> Path | None:
        """Return the folder of a project of Gemini CLI, which has a short name, or the digest of the folder."""
        place = next(one for one in path.parents if one.parent.name == "tmp")
        try:
            return Path((place / ".project_root").read_text("utf-8").strip())
        except (OSError, UnicodeDecodeError):
            pass
        for folder in (*_projects(place.parent.parent / "projects.json", place.name), *self._folders, self._here):
            if place.name in (folder.name, sha256(str(folder).encode()).hexdigest()):
                return folder
        return None


def _renamed(one: Found, name: str) -> Found:
    """Return a memory of a conversation with another name of the conversation."""
    if not isinstance(one, Item) or one.memory.get("conversation") is None:
        return one
    external = f"{one.external}\n{name}" if one.memory.get("kind") == "conversation" else one.external
    return replace(one, external=external, memory={**one.memory, "conversation": name})


def _projects(path: Path, name: str) -> list[Path]:
    """Return the folder to which Gemini CLI gave a short name."""
    try:
        found = json.loads(path.read_bytes())["projects"]
        return [Path(folder) for folder, short in found.items() if short == name]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _of_claude(path: Path) -> Path | None:
    """Return the folder that the transcripts beside a file of Claude Code name."""
    place = next(one for one in path.parents if one.parent.name == "projects")
    for transcript in islice(sorted(place.glob("*.jsonl")), PEEKED):
        for _, row in islice(json_lines(Source(transcript)), PEEKED):
            if isinstance(row, Mapping) and isinstance(row.get("cwd"), str) and "\0" not in row["cwd"]:
                return Path(row["cwd"])
    return None
