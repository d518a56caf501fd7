import json

import pytest

from tests.service.conftest import Run


@pytest.fixture
def talk(run: Run) -> Run:
    lines = [
        {"turn": 1, "at": "2026-11-23T08:00:00Z", "author": "ann", "content": "The flat in Turku has a balcony."},
        {"turn": 2, "at": "2026-11-23T08:01:00Z", "author": "bob", "content": "What is the rent of that flat?"},
        {"turn": 3, "at": "2026-11-23T15:00:00Z", "author": "ann", "content": "My cat must see the vet tomorrow."},
    ]
    done = run("conversations", "add", "c", "-", input="\n".join(map(json.dumps, lines)))
    assert done.exit_code == 0, done.output
    assert run("conversations", "close", "c").exit_code == 0
    return run


def rows(run: Run, *words: str) -> list[list[str]]:
    done = run("conversations", *words)
    assert done.exit_code == 0, done.output
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_working_memory_is_shown_and_changed(talk: Run) -> None:
    assert [row[1] for row in rows(talk, "working", "c")] == ["turn"] * 3
    kept = rows(talk, "working", "c", "--keep", "tone", "--text", "Answer in Finnish.", "--ttl", "60")
    assert kept[0][:3] == ["held", "text", "tone"]
    short = rows(talk, "working", "c", "--budget", "10")
    assert [row[0] for row in short] == ["held", "budget", "budget", "budget"]
    assert len(rows(talk, "working", "c", "--release", "tone")) == 3
    assert talk("conversations", "working", "c", "--release", "tone").exit_code == 1


def test_topics_are_changed_by_their_ids(talk: Run) -> None:
    first, second = (row[-1] for row in rows(talk, "topics", "c"))
    assert rows(talk, "topics", "c", "--merge", f"{first},{second}")[0][:2] == ["t1", "1-3"]
    turns = json.loads(talk("list", "--filter", json.dumps({"topic": first}), "--json").stdout)["items"]
    assert {(one["session"], one["topic"]) for one in turns} == {("default", "t1")} and len(turns) == 3
