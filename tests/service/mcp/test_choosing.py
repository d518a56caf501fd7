"""The descriptions lead to the right tool: a picker by embedding alone finds most, and tasks are fit for a reader."""

import json
from pathlib import Path

import pytest

from muisti.service.settings.tool_groups import GROUPS, USUAL
from tests.service.mcp.choosing import DECISIVE, NONE, TASKS, accuracy, judged, listed, report, right_call, size, write

FIRST, THREE = 0.38, 0.72  # floors of the picker by embedding, somewhat below what was measured
CHANCE = 1 / len(listed())


def test_fifty_tasks_name_tools_and_arguments_that_there_are():
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed()} | {NONE: {}}
    assert len(TASKS) == 50 and len({task["task"] for task in TASKS}) == 50
    for task in TASKS:
        for one in (task, *task.get("also", ())):
            assert one["arguments"].keys() <= tools[one["tool"]].keys(), task
            for name, wanted in one["arguments"].items():
                if isinstance(wanted, str) and "enum" in tools[one["tool"]][name]:
                    assert wanted in tools[one["tool"]][name]["enum"], task
    assert {task["tool"] for task in TASKS} == tools.keys()
    assert {*DECISIVE} <= {name for properties in tools.values() for name in properties}


def test_a_picker_by_embedding_finds_the_tool_far_more_often_than_chance():
    first, three = accuracy()
    assert first >= FIRST > 3 * CHANCE and three >= THREE, (first, three)


def test_the_list_of_the_usual_group_takes_two_thousand_tokens_at_most():
    assert size(listed(USUAL)) <= 2_000
    lines = [*report()]
    for group in GROUPS:
        assert f"| {group} | {len(listed(group))} | {size(listed(group)):,} |" in lines


@pytest.mark.parametrize(("tool", "arguments", "right"), [
    ("remember", {"content": "We deploy daily", "supersedes": "7f3a"}, True),
    ("remember", {"content": "We deploy DAILY", "supersedes": "7f3a", "dry_run": False, "tags": ["a"]}, True),
    ("remember", {"content": "We deploy daily"}, False),
    ("remember", {"content": "We deploy daily", "supersedes": "7f3b"}, False),
    ("remember", {"content": "We deploy weekly", "supersedes": "7f3a"}, False),
    ("remember", {"content": "We deploy daily", "supersedes": "7f3a", "dry_run": True}, False),
    ("remember", {"content": "We deploy daily", "supersedes": "7f3a", "on_conflict": "keep"}, False),
    ("remember", {"content": "We deploy daily", "supersedes": "7f3a", "ttl": 60}, False),
    ("update_memory", {"content": "We deploy daily", "supersedes": "7f3a"}, False),
])  # fmt: skip
def test_a_call_is_right_when_its_tool_and_arguments_are_and_nothing_decisive_is_added(
    tool: str, arguments: dict[str, object], right: bool
):
    task = {"task": "", "tool": "remember", "arguments": {"content": {"has": ["daily"]}, "supersedes": "7f3a"}}
    assert right_call(task, tool, arguments) is right


def test_a_reader_gets_tasks_without_answers_and_right_answers_are_all_right(tmp_path: Path):
    write(tmp_path)
    assert json.loads((tmp_path / "tools.json").read_text("utf-8")) == listed()
    lines = (tmp_path / "tasks.txt").read_text("utf-8").splitlines()
    assert [line.partition(". ")[2] for line in lines] == [task["task"] for task in TASKS]
    answers = [
        {"n": number, "tool": task["tool"], "arguments": {name: _said(one) for name, one in task["arguments"].items()}}
        for number, task in enumerate(TASKS, 1)
    ]
    assert all(tool and call for _, _, tool, call in judged(answers))
    assert "| a reader | 100% | | 100% |" in [*report(answers)]
    assert answers[-1]["tool"] == NONE and all(judged([{**answers[-1], "tool": None}])[0][2:])
    answers[0] = {"n": 1, "tool": "forget", "arguments": {}}
    assert "| a reader | 98% | | 98% |" in [*report(answers)]


def _said(wanted: object) -> object:
    return " ".join(wanted["has"]) if isinstance(wanted, dict) else 1 if wanted == "*" else wanted
