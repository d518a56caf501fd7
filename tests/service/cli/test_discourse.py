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


def test_topics_are_shown_and_changed(talk: Run) -> None:
    assert [row[:2] for row in rows(talk, "topics", "c")] == [["t1", "1-2"], ["t2", "3-3"]]
    split = rows(talk, "topics", "c", "--split", "t1", "--at", "2", "--title", "The rent")
    assert [row[:2] for row in split] == [["t1", "1-1"], ["t3", "2-2"]]
    assert split[1][2] == "The rent"
    assert rows(talk, "topics", "c", "--merge", "t1,t3")[0][:2] == ["t1", "1-2"]
    rows(talk, "topics", "c", "--move", "t2", "--at", "2")
    assert [row[:2] for row in rows(talk, "topics", "c")] == [["t1", "1-1"], ["t2", "2-3"]]


@pytest.mark.parametrize(
    "words", [["--split", "t1"], ["--at", "2"], ["--split", "t1", "--move", "t2", "--at", "2"], ["--title", "x"]]
)
def test_a_change_is_said_whole(talk: Run, words: list[str]) -> None:
    assert talk("conversations", "topics", "c", *words).exit_code == 64


def test_summaries_are_shown(talk: Run) -> None:
    first, second, whole = rows(talk, "summary", "c")
    assert (first[0], second[0], whole[0]) == ("t1", "t2", "conversation")
    assert "balcony" in first[-1]
    rows(talk, "topics", "c", "--move", "t2", "--at", "2")
    assert [row[1] for row in rows(talk, "summary", "c")] == ["stale"] * 3
    assert "stale" not in [row[1] for row in rows(talk, "summary", "c", "--renew")]


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


def test_each_message_of_a_turn_is_changed_and_shown_with_its_speaker(run: Run) -> None:
    made = rows(run, "add", "d", "I live in Rome.", "--reply", "Noted.", "--author", "ann")[0][1]
    assert run("update", made, "--user", "I live in Oslo, near the sea.").exit_code == 0
    assert [row[2:] for row in rows(run, "show", "d")] == [
        ["ann", "I live in Oslo, near the sea."],
        ["assistant", "Noted."],
    ]
    assert run("update", made, "--system", "").exit_code == 0
    assert [row[2:] for row in rows(run, "show", "d")] == [["ann", "I live in Oslo, near the sea."]]
    assert run("supersede", made, "Ann lives in Oslo.").exit_code == 0
    assert "superseded by" in run("conversations", "show", "d", "--table").stdout
