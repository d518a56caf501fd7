"""A home folder with four agents and two projects: `python -m tests.service.connect.machine` imports it twice.

The transcripts, memories and rules have the agents' own formats. Each project's texts name the project, and each agent
has been given a secret.
"""

import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from muisti.service.cli import main as muisti

PROJECTS: Mapping[str, str] = {"boat": "ann.boat", "garden": "garden"}  # folders, and their spaces
SECRET = "Log in with " + "ghp_" + "a1B2c3D4e5F6" * 3
AT = "2026-03-01T09:30:0{}.000Z"
AGENTS = ("claude-code", "codex", "gemini-cli", "cursor")
TABLES = """CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"""


def furnish(home: Path) -> None:
    """Make the folders of the projects and of the agents."""
    for project in PROJECTS:
        folder = home / "work" / project
        config = '[remote "origin"]\n\turl = git@example.com:ann/boat.git\n' if project == "boat" else ""
        write(folder / ".git" / "config", config)
        write(folder / ".git" / "HEAD", "ref: refs/heads/main\n")
        write(folder / "CLAUDE.md", f"# {project}\n\n## Never\n\n- Leave the {project} open\n- Paint the {project}\n")
        write(
            folder / "AGENTS.md",
            f"# {project}\n\n## Never\n\n- Leave the {project} open\n\nAsk Olli of the {project}.\n",
        )
        write(folder / "GEMINI.md", f"The {project} is old.\n")
        write(folder / ".cursor" / "rules" / "tools.mdc", f"---\nalwaysApply: true\n---\nOil tools of the {project}.\n")
        _claude(home, project, folder)
        _codex(home, project, folder)
        _gemini(home, project, folder)
    tree = home / "work" / "boat-spring"  # a worktree of the boat
    write(tree / ".git", f"gitdir: {home / 'work' / 'boat' / '.git' / 'worktrees' / 'spring'}\n")
    write(home / "work" / "boat" / ".git" / "worktrees" / "spring" / "commondir", "../..\n")
    write(tree / "CLAUDE.md", "## Never\n\n- Leave the boat open\n")
    spoken = claude("spring", tree, ("user", "Where is the boat in spring?"), ("assistant", "The boat is ashore"))
    write(home / ".claude" / "projects" / "-work-boat-spring" / "spring.jsonl", spoken)
    write(home / ".claude" / "CLAUDE.md", "# Me\n\n- Answer in short sentences\n")
    write(home / ".codex" / "AGENTS.md", "Use metres.\n")
    write(home / ".codex" / "history.jsonl", json.dumps({"session_id": "x", "ts": 1772357400, "text": "once"}))
    write(home / ".gemini" / "GEMINI.md", "## Gemini Added Memories\n- My boat is called Meri\n")
    _cursor(home)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def claude(session: str, folder: Path, *said: tuple[str, str]) -> str:
    """Return a transcript of Claude Code, the last line of which is torn off."""
    rows = (
        {"type": role, "uuid": f"{session}-{turn}", "sessionId": session, "cwd": str(folder), "isSidechain": False,
         "timestamp": AT.format(turn % 10), "message": {"role": role, "content": text}}
        for turn, (role, text) in enumerate(said)
    )  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows) + '{"type": "us'


def talk(agent: str, project: str) -> list[tuple[str, str]]:
    question = ("user", f"How old is the {project}, {agent}?")
    return [question, ("assistant", f"{agent} says the {project} is forty years old"), ("user", SECRET)]


def _claude(home: Path, project: str, folder: Path) -> None:
    place = home / ".claude" / "projects" / f"-work-{project}"
    write(place / f"{project}.jsonl", claude(project, folder, *talk("claude-code", project)))
    write(place / "memory" / "MEMORY.md", f"- The {project} was repaired in May\n")


def _codex(home: Path, project: str, folder: Path) -> None:
    rows: list[tuple[str, object]] = [("session_meta", {"id": f"codex-{project}", "cwd": str(folder)})]
    for role, text in talk("codex", project):
        kind = "input_text" if role == "user" else "output_text"
        rows.append(("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    lines = (json.dumps({"timestamp": AT.format(0), "type": kind, "payload": payload}) for kind, payload in rows)
    write(home / ".codex" / "sessions" / "2026" / "03" / "01" / f"rollout-{project}.jsonl", "\n".join(lines))


def _gemini(home: Path, project: str, folder: Path) -> None:
    """Write a session of Gemini CLI: of the boat under a short name, of the garden under the folder's digest."""
    tmp = home / ".gemini" / "tmp"
    place = tmp / (project if project == "boat" else sha256(str(folder).encode()).hexdigest())
    if project == "boat":
        write(place / ".project_root", str(folder))
    messages = [
        {"id": str(turn), "timestamp": AT.format(turn), "type": "user" if role == "user" else "gemini", "content": text}
        for turn, (role, text) in enumerate(talk("gemini-cli", project))
    ]
    session = {"sessionId": f"gemini-{project}", "projectHash": "0", "messages": messages}
    write(place / "chats" / f"session-2026-03-01-{project}.json", json.dumps(session))


def _cursor(home: Path) -> None:
    user, entries = home / ".config" / "Cursor" / "User", dict[str, object]()
    for project in PROJECTS:
        said = talk("cursor", project)
        listed = [{"bubbleId": f"{turn}", "type": 1 if role == "user" else 2} for turn, (role, _) in enumerate(said)]
        entries[f"composerData:{project}"] = {
            "composerId": project, "createdAt": 1772357400000, "fullConversationHeadersOnly": listed,
        }  # fmt: skip
        for one, (_, text) in zip(listed, said, strict=True):
            entries[f"bubbleId:{project}:{one['bubbleId']}"] = {**one, "text": text}
        workspace = user / "workspaceStorage" / f"{project}-1"
        write(workspace / "workspace.json", json.dumps({"folder": (home / "work" / project).as_uri()}))
        _database(
            workspace / "state.vscdb",
            {"composer.composerData": {"allComposers": [{"composerId": project}]}},
            {},
        )
    _database(user / "globalStorage" / "state.vscdb", {"aicontext.personalContext": "Greet me in Finnish."}, entries)


def _database(path: Path, items: Mapping[str, object], entries: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.executescript(TABLES)
        for table, values in (("ItemTable", items), ("cursorDiskKV", entries)):
            rows = [(key, one if isinstance(one, str) else json.dumps(one)) for key, one in values.items()]
            opened.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)


def _shown(home: Path) -> Iterator[str]:
    """Yield what two imports of the machine print."""
    for number in ("first", "second"):
        done = CliRunner().invoke(
            muisti, ["import", "--local", "--yes", "--database", str(home / "muisti.db"), "--plain"]
        )
        yield f"{number} time, exit code {done.exit_code}\n{done.output}"


def main() -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        furnish(home)
        os.environ.update(HOME=folder, MUISTI_EMBEDDINGS="off", XDG_CONFIG_HOME=str(home / ".config"))
        os.chdir(home)
        sys.stdout.writelines(_shown(home))


if __name__ == "__main__":
    main()
