"""The ratchet: findings may move and fall, never grow."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.language import ratchet

COUNTS = st.dictionaries(
    st.sampled_from(["docs", "comments"]),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(1, 9), min_size=1),
)


@given(COUNTS, COUNTS)
def test_growth_one_way_is_a_fall_the_other_way(now: ratchet.Counts, allowed: ratchet.Counts):
    assert bool(ratchet.compare(now, allowed).grown) == ratchet.compare(allowed, now).fallen


def test_a_file_that_is_moved_takes_its_findings_along_and_growth_names_the_files_that_have_more():
    assert ratchet.compare({"docs": {"b": 3}}, {"docs": {"a": 3}}) == ratchet.Verdict({}, fallen=False)
    verdict = ratchet.compare({"docs": {"a": 2, "b": 5, "c": 1}}, {"docs": {"a": 2, "b": 4, "c": 1}})
    assert verdict == ratchet.Verdict({"docs": ["b"]}, fallen=False)


@given(COUNTS)
def test_what_is_saved_is_loaded_and_neither_grows_nor_falls(tmp_path_factory, counts: ratchet.Counts):
    path: Path = tmp_path_factory.mktemp("ratchet") / "allowed.json"
    assert ratchet.load(path) == {}
    ratchet.save(path, counts)
    assert ratchet.load(path) == counts
    assert ratchet.compare(counts, counts) == ratchet.Verdict({}, fallen=False)
