"""The count of refusals and reviews that ordinary texts cause, on a meeting of a few lines."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from loadtests.quality.reviews import main

MEETING = "Ann: The upload limit is 5 MB.\nBob: Is it 9 MB?\nAnn: The upload limit is 9 MB.\nBob: The door is blue."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = [MEETING, "The archive is in Turku.", "The archive moved from Turku to Oulu."]
    corpus = [{"id": str(place), "text": text, "group": "m"} for place, text in enumerate(texts)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in corpus))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"id": "q", "text": "door", "group": "m"}) + "\n")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t0\t1\n")
    return tmp_path


def counted(*arguments: str) -> list[str]:
    (*_, row) = CliRunner().invoke(main, arguments, catch_exceptions=False).output.splitlines()
    return [cell.strip() for cell in row.split("|")[2:6]]


def test_a_text_is_added_whole_or_as_its_turns(folder: Path):
    assert counted(str(folder)) == ["3", "0", "0", "1"]  # texts, duplicates, contradictions, reviews
    assert counted(str(folder), "--turns", "100") == ["6", "0", "1", "1"]
    assert counted(str(folder), "--turns", "2") == ["2", "0", "0", "0"]
