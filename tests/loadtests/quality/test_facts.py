"""The evaluation of facts on sets of a few texts."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from loadtests.quality.facts import main

SENTENCE = {
    "tokens": ["Oslo", ",", "Norway", "was", "cold", "."],
    "entities": [{"start": 0, "end": 1, "type": "Loc"}, {"start": 2, "end": 3, "type": "Loc"}],
    "relations": [{"head": 0, "tail": 1, "type": "Located_In"}],
}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    _set(
        tmp_path / "prefeval", [("p", "I prefer tea.", "all", {"topic": "a"}), ("q", "So what.", "all", {"topic": "a"})]
    )
    said = {"session": "s", "speaker": "Ann", "turn": 1}
    _set(tmp_path / "locomo", [(f"{group}/1", "Ann: I love tea.", group, said) for group in ("a", "b", "c")])
    (tmp_path / "relations_conll04").mkdir()
    (tmp_path / "relations_conll04" / "dev.jsonl").write_text(json.dumps(SENTENCE))
    return tmp_path


def _set(folder: Path, rows: list[tuple[str, str, str, dict[str, object]]]) -> None:
    folder.mkdir()
    lines = [json.dumps({"id": id_, "text": text, "group": group, "meta": meta}) for id_, text, group, meta in rows]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    (folder / "queries.jsonl").write_text(json.dumps({"id": "q", "text": "what?", "group": rows[0][2]}))
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\nq\t{rows[0][0]}\t1\n")


def test_a_table_of_what_is_found(sets: Path):
    entities = sets / "entities"
    entities.write_text('[[0, 1, "Loc"], [2, 3, "Loc"]]\n')
    test = sets / "relations_conll04" / "dev.jsonl"
    done = CliRunner().invoke(main, [str(sets), "--test", str(test), "--beside", "other", str(entities), "--read", "1"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert sum("1 of 2 | 0.500" in line for line in lines) == 1
    assert any("entities of other" in line and "F1 1.000" in line for line in lines)
    assert any("others | 1 facts in 1 turns" in line for line in lines)
    assert lines[-1].endswith("'I love tea'")


def test_entities_for_another_number_of_sentences_are_refused(sets: Path):
    (sets / "entities").write_text("[]\n[]\n")
    test = sets / "relations_conll04" / "dev.jsonl"
    done = CliRunner().invoke(main, [str(sets), "--test", str(test), "--beside", "other", str(sets / "entities")])
    assert done.exit_code == 1
    assert "2 lines for 1 sentences" in done.output
