"""Judged relations: reading both forms of the set, and scores."""

import json
from pathlib import Path

import pytest

from loadtests.quality.relations import score, sentences
from muisti.service.evaluation.dataset import DatasetError

TOKENS = ["Oslo", ",", "Norway", ",", "is", "Ann", "'s", "home", "."]
LINE = {
    "tokens": TOKENS,
    "entities": [
        {"start": 0, "end": 1, "type": "Loc"},
        {"start": 2, "end": 3, "type": "Loc"},
        {"start": 5, "end": 6, "type": "Peop"},
    ],
    "relations": [{"head": 0, "tail": 1, "type": "Located_In"}, {"head": 2, "tail": 0, "type": "Live_In"}],
}
TAGS = {0: "B-Loc", 2: "B-Loc", 5: "B-Peop"}
LINKS = {0: ("['Located_In']", "[2]"), 5: ("['Live_In']", "[0]")}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    lines, columns = tmp_path / "a.jsonl", tmp_path / "a.txt"
    lines.write_text(json.dumps(LINE) + "\n")
    rows = [
        "\t".join((str(at), token, TAGS.get(at, "O"), *LINKS.get(at, ("['N']", f"[{at}]"))))
        for at, token in enumerate(TOKENS)
    ]
    columns.write_text("\n".join(["#doc 1", *rows]))
    return lines, columns


def test_both_forms_are_the_same_sentences(files: tuple[Path, Path]):
    one, other = (sentences(path) for path in files)
    assert one == other
    assert one[0].text.strip() == "Oslo, Norway, is Ann's home."
    assert {one[0].text[a:b] + kind + one[0].text[c:d] for a, b, kind, c, d in one[0].relations} == {
        "Oslolocated_inNorway",
        "Annlives_inOslo",
    }


def test_scores_count_both_spans_the_kind_and_the_direction(files: tuple[Path, Path]):
    (judged,) = sentences(files[0])
    assert score([judged.relations], [judged]).f1 == 1
    turned = {(c, d, kind, a, b) for a, b, kind, c, d in judged.relations}
    assert score([turned], [judged]).f1 == 0
    half = score([{next(iter(judged.relations))}], [judged])
    assert (half.precision, half.recall) == (1.0, 0.5)


def test_another_form_is_refused(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"tokens": []}\n')
    with pytest.raises(DatasetError, match=r"a\.jsonl"):
        sentences(tmp_path / "a.jsonl")
