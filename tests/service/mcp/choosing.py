"""Measures whether the right tool is chosen for a task: by embedding alone, and by a reader who has seen no code.

`tasks.json` has fifty tasks in the words of a user or an agent, with the tool and the arguments that are right. Run

    python -m tests.service.mcp.choosing                      # accuracy of a picker by embedding
    python -m tests.service.mcp.choosing --write FOLDER       # the tools and the tasks, for a reader
    python -m tests.service.mcp.choosing --answers FILE       # accuracy of a reader's answers
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.identity.grants import Grant
from muisti.service.auth.access import Access
from muisti.service.mcp.manager import told
from muisti.service.mcp.token_budget import tokens
from muisti.service.mcp.tools import offered
from muisti.service.routes.keys import MODES
from muisti.service.settings.tool_groups import GROUPS, USUAL, Group

Json = dict[str, Any]

TASKS: Sequence[Json] = json.loads(Path(__file__).with_name("tasks.json").read_text("utf-8"))
OWNER = Access("owner", Grant(frozenset((*MODES["full"], "admin")), ("*",)))
# Arguments that change what a call does: one that nobody asked for makes a choice wrong.
DECISIVE = (
    "dry_run", "replace", "supersedes", "on_conflict", "if_version", "min_evidence", "match", "as_of", "status",
    "expires_at", "ttl",
)  # fmt: skip
PLAIN = {
    "dry_run": False, "replace": False, "on_conflict": "reject", "min_evidence": "weak", "match": "any",
    "status": "active",
}  # fmt: skip
NONE = "none"  # the answer to a task that no tool of the list does


def listed(group: Group = USUAL) -> list[Json]:
    """Return the tools of a group as `tools/list` shows them to a key that may do everything."""
    return [told(tool, OWNER).model_dump(by_alias=True, exclude_none=True) for tool in offered(OWNER, (group,))]


def size(tools: Sequence[Json]) -> int:
    """Return the tokens of a list of tools in cl100k_base, 0 of an empty one."""
    return tokens(json.dumps(tools, separators=(",", ":"))) if tools else 0


def described(tool: Json) -> str:
    """Return the name, the description and the arguments of a tool as text."""
    arguments = (f"{name}: {one['description']}" for name, one in tool["inputSchema"]["properties"].items())
    return "\n".join([tool["name"].replace("_", " "), tool["description"], *arguments])


def picked(tools: Sequence[Json], tasks: Sequence[str]) -> list[list[str]]:
    """Return for each task the names of the tools by the similarity of their descriptions, the nearest first.

    The name with the description counts as much as the arguments.
    """
    encoder = StaticEncoder()
    heads = encoder.encode([f"{tool['name'].replace('_', ' ')}: {tool['description']}" for tool in tools])
    wholes = encoder.encode([described(tool) for tool in tools])
    scores = encoder.encode(tasks) @ (heads + wholes).T
    return [[tools[at]["name"] for at in row.argsort()[::-1]] for row in scores]


def right_tool(task: Json, tool: str) -> bool:
    """Tell whether a tool is one of those that are right for a task."""
    return tool in {one["tool"] for one in (task, *task.get("also", ()))}


def right_call(task: Json, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Tell whether a call has the right tool and arguments, and none that changes what it does unasked."""
    return any(
        one["tool"] == tool
        and all(name in arguments and _agrees(wanted, arguments[name]) for name, wanted in one["arguments"].items())
        and not any(
            name in arguments and name not in one["arguments"] and arguments[name] not in (None, PLAIN.get(name))
            for name in DECISIVE
        )
        for one in (task, *task.get("also", ()))
    )


def _agrees(wanted: Any, given: Any) -> bool:
    if wanted == "*":
        return given is not None
    if isinstance(wanted, dict):
        text = json.dumps(given, ensure_ascii=False).casefold()
        return all(word.casefold() in text for word in wanted["has"])
    return wanted == given


def accuracy() -> tuple[float, float]:
    """Return how often the picker's first choice is right, and how often one of its first three is."""
    ranked = picked(listed(), [task["task"] for task in TASKS])
    first = sum(right_tool(task, names[0]) for task, names in zip(TASKS, ranked, strict=True))
    three = sum(any(right_tool(task, one) for one in names[:3]) for task, names in zip(TASKS, ranked, strict=True))
    return first / len(TASKS), three / len(TASKS)


def judged(answers: Sequence[Json]) -> list[tuple[Json, Json, bool, bool]]:
    """Return each answer with its task, and whether the tool and the whole call are right; no tool is `none`."""
    return [
        (task, one, right_tool(task, tool), right_call(task, tool, one.get("arguments") or {}))
        for one in answers
        for task, tool in ((TASKS[one["n"] - 1], one["tool"] or NONE),)
    ]


def write(folder: Path) -> None:
    """Write what a reader gets: the list of tools, and the numbered tasks without answers."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tools.json").write_text(json.dumps(listed(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    tasks = "".join(f"{number}. {task['task']}\n" for number, task in enumerate(TASKS, 1))
    (folder / "tasks.txt").write_text(tasks, "utf-8")


def report(answers: Sequence[Json] = ()) -> Iterator[str]:
    """Yield the lines of the tables: tokens of each group, and accuracy; then the answers that are wrong."""
    yield from ("| group | tools | tokens |", "| --- | --- | --- |")
    for group in GROUPS:
        tools = listed(group)
        yield f"| {group} | {len(tools)} | {size(tools):,} |"
    first, three = accuracy()
    yield from ("", "| chooses | tool | among three | tool and arguments |", "| --- | --- | --- | --- |")
    yield f"| by embedding | {first:.0%} | {three:.0%} | |"
    found = judged(answers)
    if found:
        tool = sum(right for _, _, right, _ in found) / len(TASKS)
        call = sum(right for _, _, _, right in found) / len(TASKS)
        yield f"| a reader | {tool:.0%} | | {call:.0%} |"
    for task, one, _, right in found:
        if not right:
            yield f"\n{one['n']}. {task['task']}\n   wanted {task['tool']} {json.dumps(task['arguments'])}"
            yield f"   chose  {one['tool']} {json.dumps(one.get('arguments'))}, sure {one.get('sure')}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure whether the right tool is chosen for a task.")
    parser.add_argument("--answers", type=Path, help="a reader's answers: [{n, tool, arguments, sure, why}]")
    parser.add_argument("--write", type=Path, help="a folder for what a reader gets")
    given = parser.parse_args()
    if given.write is not None:
        write(given.write)
    else:
        told_answers = [] if given.answers is None else json.loads(given.answers.read_text("utf-8"))
        sys.stdout.write("".join(f"{line}\n" for line in report(told_answers)))
