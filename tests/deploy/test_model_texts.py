"""The model's build: nothing that it will be judged on, nothing that its licence forbids, goes into its training."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.model import packages
from deploy.model.decontaminate import RUN, Contamination
from deploy.model.html_pairs import html_pairs
from deploy.model.packages import LicenceRefused, Source
from deploy.model.values import Kind, Pair

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=4), max_size=30)


def shares_a_run(left: list[str], right: list[str]) -> bool:
    runs = {tuple(left[at : at + RUN]) for at in range(len(left) - RUN + 1)}
    return any(tuple(right[at : at + RUN]) in runs for at in range(len(right) - RUN + 1))


@given(WORDS, WORDS, WORDS)
def test_a_text_is_contaminated_exactly_when_it_shares_nine_words_in_a_row(judged, before, after):
    contamination = Contamination([" ".join(judged)])
    for text in (before, before + judged[3:15] + after):
        assert contamination.touches(", ".join(text).upper()) == shares_a_run(judged, text)


def test_a_pair_goes_when_either_side_is_contaminated_and_a_folder_without_judged_data_is_no_clean_bill(tmp_path: Path):
    run = "one two three four five six seven eight nine"
    clean, dirty = "something else", f"so: {run}, and more"
    pairs = [Pair(Kind.CODE, clean, clean), Pair(Kind.CODE, dirty, clean), Pair(Kind.CODE, clean, dirty)]
    assert Contamination([run]).clean(pairs) == pairs[:1]
    with pytest.raises(ValueError, match="no text to decontaminate against"):
        Contamination.of_folder(tmp_path)


@pytest.mark.parametrize("licence", ["GPL-2+", "LGPL-3.0", "CC-BY-NC-4.0", "Proprietary", "", "MIT or GPL-2"])
def test_texts_without_a_permissive_licence_are_refused(licence, tmp_path):
    with pytest.raises(LicenceRefused):
        packages.licence_of(Source("debian", "some-doc", "1.0", "html", licence), tmp_path)


def test_every_source_is_pinned_and_has_a_reader_or_is_the_teachers():
    for source in packages.listed():
        assert source.version
        assert source.registry in ("python", "npm", "debian", "pypi")
        if source.registry == "debian":
            assert packages.licence_of(source, Path()) == source.licence


def test_pages_in_another_language_are_left_out():
    body = "<h1>Starting the server</h1><p>" + "The server listens on a port that the settings name. " * 3 + "</p>"
    pages = [(f"{lang}.html", f'<html lang="{lang}">{body}'.encode()) for lang in ("fr", "tr", "en", "en-GB")]
    assert html_pairs(pages[:2], random.Random(1)) == ([], [])
    pairs, passages = html_pairs(pages[1:3], random.Random(1))
    assert pairs
    assert passages
    assert html_pairs(pages[3:], random.Random(1))[0]
