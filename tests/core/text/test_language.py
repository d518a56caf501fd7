"""Texts in languages other than English are found by other forms of their words; English is unaffected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.query.query import Query
from muisti.core.text.language import ENGLISH, LANGUAGES, function_words, language_of
from muisti.core.text.terms import index_terms, query_terms, tokenize
from tests.core.fakes import SPACE, add

STORED = {
    "german": ("Die Katzen schlafen auf dem Dach und nicht im Haus.", "Wo ist die Katze, auf dem Dach?", "katz"),
    "french": ("Les chevaux mangent dans la prairie avec les vaches.", "Où est la vache dans les prairies?", "vach"),
    "spanish": ("Los libros que me gustan están en la biblioteca.", "¿En qué biblioteca está el libro?", "libr"),
    "russian": ("Мои ключи лежат на столе в кухне, и они не новые.", "Где мой ключ и кто его взял?", "ключ"),
    "finnish": ("Avaimet ovat pöydällä, mutta minä en ole siellä.", "Missä on minun avain ja mikä se on?", "avaim"),
}


@pytest.mark.parametrize("language", STORED)
def test_the_language_is_told_by_its_function_words(language: str):
    assert all(len(function_words(one)) > 30 for one in LANGUAGES)
    for text in STORED[language][:2]:
        assert language_of(text.casefold().replace(",", "").replace("¿", "").rstrip(".?").split()) == language


@pytest.mark.parametrize("language", [name for name in STORED if name != "finnish"])
def test_another_form_of_a_word_finds_the_memory(engine: Engine, language: str):
    stored, asked, stem = STORED[language]
    assert stem in index_terms(stored) and stem in query_terms(asked)
    (id_,) = add(engine, stored)
    add(engine, *(text for text, _, _ in STORED.values() if text != stored))
    hits = engine.owner.read.search(SPACE, Query(text=asked, mode="keyword")).hits
    assert hits[0].memory.id == id_


@given(st.text())
def test_no_term_of_a_text_is_lost(text: str):
    plain, indexed = tokenize(text), index_terms(text)
    assert indexed[: len(plain)] == plain


@given(st.lists(st.sampled_from(sorted(function_words(ENGLISH)) + ["lamp", "Berlin", "run"]), max_size=30))
def test_english_texts_have_the_terms_of_english(words: list[str]):
    text = " ".join(words)
    if 3 * sum(word in function_words(ENGLISH) for word in words) >= len(words):
        assert index_terms(text) == tokenize(text)
