"""The options of `muisti search`: each reaches the service, and what comes back is printed."""

import json
from typing import Any

import pytest

from tests.service.cli.test_cli import Run, added, for_a_person


def hits(run: Run, *words: str) -> list[dict[str, Any]]:
    done = run("search", *words, "--all", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["hits"]


def test_a_memory_is_the_query_by_its_id_or_the_end_of_it(run: Run):
    one = added(run, "a red house")["id"]
    two = added(run, "a red car", "--on-conflict", "keep")["id"]
    for name in (one, one[-8:]):
        assert [hit["memory"]["id"] for hit in hits(run, "--similar-to", name)] == [two]


def test_what_was_expected_is_explained_beside_the_hits(run: Run):
    rule = added(run, "a red house", "--category", "rules", "--key", "house")["id"]
    gone = added(run, "a red car", "--on-conflict", "keep")["id"]
    run("delete", gone)
    done = run("search", "red", "--category", "notes", "--why-not", "rules/house", "--why-not", gone[-8:])
    assert done.exit_code == 0 and f"{rule}: filter. The filter excludes it, by category." in done.stderr
    assert f"{gone}: deleted." in done.stderr
    told = json.loads(run("search", "red", "--why-not", rule, "--json").stdout)["explained"]
    assert [(one["id"], one["reason"], one["rank"]) for one in told] == [(rule, "found", 1)]
    assert run("search", "red", "--in", "a", "--why-not", rule).exit_code == 64


def test_groups_diversity_neighbours_and_scores_are_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch):
    for turn, category in enumerate(("a", "b", "a")):
        words = ("--category", category, "--metadata", json.dumps({"session": "s", "turn": turn}), "--author", "Ann")
        added(run, f"the red house {turn}", *words, "--on-conflict", "keep")
    assert {hit["group"]["value"] for hit in hits(run, "red house", "--group-by", "category")} == {"a", "b"}
    (first, *_) = hits(run, "red house", "--context-window", "1", "--diversity", "0.5", "--explain")
    assert first["context"]["before"] or first["context"]["after"]
    assert first["explain"]["novelty"]["relevance"] == 1
    assert hits(run, "red house", "--min-score", "1") == []
    for_a_person(monkeypatch)
    shown = run(
        "search", "red house 1", "--context-window", "1", "--group-by", "category", "--limit", "1", "--all"
    ).stdout
    assert "Ann: the red house 0" in shown and "best of" in shown


def test_signals_presets_and_tags_are_asked_for(run: Run):
    added(run, "the red house", "--tag", "home")
    added(run, "the red car", "--on-conflict", "keep")
    (first, *_) = hits(run, "red", "--signal", "tag=0.5", "--signal", "recency=0.2", "--boost-tag", "home", "--explain")
    assert first["memory"]["tags"] == ["home"]
    assert first["explain"]["signals"]["tag"]["weight"] == 0.5 and first["explain"]["decay"]["weight"] == 0.2
    words = ("--preset", "tag-focused", "--boost-tag", "home=0.7", "--tag-rule", "average", "--explain")
    (first, *_) = hits(run, "red", *words)
    assert first["explain"]["signals"]["tag"]["score"] == 0.7
    assert "sentence=Ranked by" in run("search", "red", *words, "--all").stdout
    for wrong in (("--signal", "tag=much"), ("--signal", "luck=1"), ("--preset", "best"), ("--diversity", "2")):
        assert run("search", "red", *wrong).exit_code == 64, wrong


def test_the_reading_of_a_query_is_told_and_applied_when_asked(run: Run):
    added(run, "the red house", "--tag", "home")
    added(run, "notes tagged home are red", "--on-conflict", "keep")
    auto = run("search", "notes tagged home", "--mode", "auto", "--all")
    assert auto.stdout.count("\n") == 1 and 'Read as tags: Asks for memories with the tag "home"' in auto.stderr
    told = run("search", "notes tagged home", "--intent", "--all")
    assert told.stdout.count("\n") == 2 and "Not applied." in told.stderr


def test_several_spaces_are_searched_together(run: Run, monkeypatch: pytest.MonkeyPatch):
    added(run, "we deploy on Fridays", "--space", "web")
    added(run, "we deploy on Mondays", "--space", "company")
    both = ("--in", "web", "--in", "company=0.5")
    assert [hit["memory"]["space"] for hit in hits(run, "when do we deploy?", *both)] == ["web", "company"]
    chain = hits(run, "when do we deploy?", "--inherit", "web,company")
    assert [hit["memory"]["space"] for hit in chain] == ["web", "company"]
    run("policy", "--inherits", "company", "--space", "web")
    assert "inherits\tcompany" in run("policy", "--space", "web").stdout
    assert hits(run, "when do we deploy?", "--inherited", "--space", "web") == chain
    assert run("search", "x", "--in", "web", "--inherited").exit_code == 64
    assert run("search", "x", "--in", "missing").exit_code == 1
    for_a_person(monkeypatch)
    assert "in company" in run("search", "when do we deploy?", *both, "--all").stdout
