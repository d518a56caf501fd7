"""The meter of evidence: its levels meet at the thresholds, and without thresholds it says so."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.hits import Thresholds
from muisti.service.pages.asking.hits import meter


@given(st.floats(0, 4), st.floats(0.01, 1), st.floats(0.01, 1))
def test_the_bar_passes_a_threshold_when_the_level_is_reached(strength: float, weak: float, more: float):
    ends = Thresholds(weak, weak + more)
    level = ends.level(strength)
    made = meter(
        {
            "evidence": level,
            "strength": strength,
            "thresholds": {"weak": weak, "strong": weak + more},
            "strategy": "hybrid",
        }
    )
    assert made["known"] and 0 <= float(made["weak"]) <= float(made["strong"]) <= 1000 and float(made["width"]) <= 1000
    assert (float(made["width"]) >= float(made["weak"]) - 0.1) or level == "none"
    assert (float(made["width"]) <= float(made["strong"]) + 0.1) or level == "strong"


@pytest.mark.parametrize(
    ("level", "strategy"), [("uncalibrated", "hybrid"), ("strong", "metadata"), ("none", "recent")]
)
def test_without_thresholds_nothing_is_measured(level: Any, strategy: str):
    made = meter({"evidence": level, "strength": 1.0, "thresholds": None, "strategy": strategy})
    assert not made["known"] and ("calibrate" in made["told"]) == (level == "uncalibrated")


def test_evidence_that_is_weak_by_its_words_says_so():
    found = {"evidence": "weak", "strength": 0.1, "thresholds": {"weak": 0.5, "strong": 1.0}, "strategy": "hybrid"}
    assert "every word" in meter(found)["told"]
