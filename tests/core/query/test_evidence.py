"""Evidence: what raises and lowers it, its thresholds, and what an answer says and holds back."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from msgspec.structs import replace

from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Thresholds
from muisti.core.query.evidence import KEYWORD, Calibration, Entry, Signals, enough, known_share, read, strength, write

shares = st.floats(0, 1)


def columns(size: int):
    return arrays.arrays(np.float64, size, elements=shares)


@st.composite
def signals(draw: st.DrawFn) -> Signals:
    size = draw(st.integers(1, 16))
    memories = np.sort(draw(arrays.arrays(np.int64, size, elements=st.integers(0, 12))))
    return Signals(
        memories=memories, covered=draw(columns(size)), lexical=draw(columns(size)), pairs=draw(columns(size)),
        cosine=draw(columns(size)), persons=draw(columns(size)), known=draw(shares), there=draw(shares),
    )  # fmt: skip


def plain(given: Signals) -> float:
    """The formula, written out."""
    rows = zip(given.memories, given.covered, given.lexical, given.pairs, given.cosine, given.persons, strict=True)
    best: dict[int, float] = {}
    covered, near = 0.0, 0.0
    for memory, c, a, bg, x, m in rows:
        best[memory] = max(best.get(memory, -9.0), (a + 0.6 * bg + 0.75 * x) * (1 + 0.4 * m))
        covered, near = max(covered, c + bg), max(near, x)
    ranked = sorted(best.values(), reverse=True)
    return given.there * given.known**0.75 * (covered + ranked[0] - ranked[:10][-1]) + 0.75 * near


@given(signals(), st.randoms())
def test_the_strength_is_the_formula_whatever_the_order_of_the_candidates(given: Signals, random):
    order = np.array(random.sample(range(len(given.memories)), len(given.memories)))
    names = ("memories", "covered", "lexical", "pairs", "cosine", "persons")
    shuffled = replace(given, **{name: getattr(given, name)[order] for name in names})
    assert strength(given) == pytest.approx(plain(given))
    assert strength(shuffled) == pytest.approx(plain(given))


@given(signals())
def test_a_mode_without_meaning_or_without_words_has_a_strength_too(given: Signals):
    assert strength(replace(given, cosine=None)) >= 0
    by_meaning = replace(given, covered=None, lexical=None, pairs=None)
    assert strength(by_meaning) == strength(replace(by_meaning, known=0.0, there=0.0))
    assert strength(Signals(memories=np.empty(0, np.int64))) == 0


@given(st.floats(0, 50), st.integers(0, 20), st.integers(0, 1_000_000))
def test_the_known_share_is_a_share(mass: float, unknown: int, rows: int):
    assert 0 <= known_share(mass, unknown, rows) <= 1
    assert known_share(mass, unknown + 1, rows) <= known_share(mass, unknown, rows)


@pytest.mark.parametrize(("evidence", "wanted", "given"), [
    ("none", None, True), ("none", "weak", False), ("weak", "weak", True), ("weak", "strong", False),
    ("strong", "strong", True), ("uncalibrated", "strong", True),
])  # fmt: skip
def test_an_answer_is_held_back_below_what_is_wanted(evidence, wanted, given):
    assert enough(evidence, wanted) is given


HYBRID = Thresholds(0.5, 1.0)
FITTED = Entry(generation="model-a", modes={"hybrid": HYBRID})


def test_thresholds_hold_for_the_model_and_the_space_that_they_were_fitted_with():
    own = replace(FITTED, space="notes", modes={"hybrid": Thresholds(0.1, 0.2)})
    for entries, asked, level in (
        ([FITTED], (0.7, "hybrid", "model-a", "default"), "weak"),
        ([FITTED], (0.7, "hybrid", "model-b", "default"), "uncalibrated"),
        ([FITTED], (0.7, "semantic", "model-a", "default"), "uncalibrated"),
        ([FITTED, own], (0.3, "hybrid", "model-a", "notes"), "strong"),
        ([FITTED, own], (0.3, "hybrid", "model-a", "default"), "none"),
        ([], (KEYWORD.strong, "keyword", None, "default"), "strong"),  # search by words needs no model
        *(([], (0.0, mode, "model-b", "default"), "none") for mode in ("hybrid", "semantic", "keyword")),
    ):
        assert Calibration(entries).level(*asked) == level


def test_a_file_keeps_other_entries_and_replaces_its_own(tmp_path: Path):
    path = tmp_path / "evidence.json"
    other = replace(FITTED, generation="model-b")
    for entry in (FITTED, other, replace(FITTED, modes={"hybrid": Thresholds(0.6, 1.1)})):
        write(path, entry)
    found = {entry.generation: entry for entry in read(path)}
    assert found == {"model-b": other, "model-a": replace(FITTED, modes={"hybrid": Thresholds(0.6, 1.1)})}


@pytest.mark.parametrize("text", ["", "{}", json.dumps([{"generation": 3}]), '[{"modes": {"recent": {}}}]'])
def test_a_file_that_is_no_calibration_is_refused_by_name(tmp_path: Path, text: str):
    path = tmp_path / "evidence.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="evidence.json"):
        read(path)
