"""Judges what hooks show at prompts: how often anything at unrelated ones, and how often the answer where it is stored.

    python -m loadtests.quality.hooks [--misses]

`hook_prompts.json` has a hundred memories of a project that does not exist, sixty prompts whose answer is among them,
and sixty about other things. Each prompt comes as an event of a new session of Claude Code. The command fails when the
bounds are not met.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import httpx
from litestar.testing import TestClient

from muisti.core.conversations.context.counting import counter
from muisti.service.app.app import create_app
from muisti.service.settings import Settings

PROMPTS = Path(__file__).with_name("hook_prompts.json")
PROJECT, PERSONAL = "kestrel", "personal"
UNRELATED_MOST, ANSWERED_LEAST, TOKENS = 0.05, 0.8, 500


def store(client: httpx.Client, data: dict[str, Any]) -> list[str]:
    """Store the memories, and return their ids in order."""
    for space in (PROJECT, PERSONAL):
        client.post("/v1/spaces", json={"name": space}).raise_for_status()
    ids: list[str] = []
    for number, content in enumerate(data["memories"]):
        space = PERSONAL if number in data["personal"] else PROJECT
        made = client.post(f"/v1/spaces/{space}/memories", json={"content": content}).raise_for_status()
        ids.append(made.json()["id"])
    return ids


def shown(client: httpx.Client, prompt: str, session: int) -> str:
    """Return the text that an agent gets with a prompt."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": str(session), "prompt": prompt}
    answer = client.post("/hooks/claude-code", params={"project": PROJECT}, json=event).raise_for_status()
    return answer.json()["hookSpecificOutput"]["additionalContext"] if answer.content else ""


@click.command()
@click.option("--misses", is_flag=True, help="Print the prompts that were judged wrong.")
def main(misses: bool) -> None:
    """Print both shares and the tokens, and exit with 1 when a bound is not met."""
    data = json.loads(PROMPTS.read_text("utf-8"))
    with (
        tempfile.TemporaryDirectory() as folder,
        TestClient(create_app(Settings(database_url=f"file:{folder}/hooks.db"))) as client,
    ):
        ids = store(client, data)
        unrelated = [shown(client, prompt, at) for at, prompt in enumerate(data["unrelated"])]
        answered = [shown(client, prompt, 1_000 + at) for at, (prompt, _) in enumerate(data["answered"])]
    tokens = [counter().count(text) for text in (*unrelated, *answered) if text]
    held = [
        ids[memory] in text and counter().count(text) <= TOKENS
        for text, (_, memory) in zip(answered, data["answered"], strict=True)
    ]
    loud = sum(map(bool, unrelated))
    noise, found = loud / len(unrelated), sum(held) / len(held)
    click.echo(f"unrelated prompts with anything injected: {loud} of {len(unrelated)} ({noise:.1%})")
    click.echo(f"prompts with their stored answer within {TOKENS} tokens: {sum(held)} of {len(held)} ({found:.1%})")
    click.echo(f"tokens where anything is injected: {sum(tokens) / len(tokens):.0f} on average, {max(tokens)} at most")
    if misses:
        for text, prompt in zip(unrelated, data["unrelated"], strict=True):
            if text:
                click.echo(f"\ninjected at {prompt!r}:\n{text}")
        for ok, text, (prompt, memory) in zip(held, answered, data["answered"], strict=True):
            if not ok:
                click.echo(f"\nnot at {prompt!r}: {data['memories'][memory]}\n{text}")
    sys.exit(noise > UNRELATED_MOST or found < ANSWERED_LEAST)


if __name__ == "__main__":
    main()
