import unicodedata
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b

import numpy as np
import pytest
import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st

from muisti.core.text.language import QUESTION_WORDS
from muisti.core.text.scripts import unmarked
from muisti.core.text.terms import (
    BESIDE,
    FIELDS,
    MEMO,
    STACK,
    WORD_MAX,
    count_tokens,
    encode_terms,
    fold,
    index_codes,
    index_terms,
    normalise,
    query_terms,
    same_text_hash,
    spans,
    term_code,
    terms_beside,
    token_starts,
    tokenize,
)

# What analysis might trip over: identifiers, joiners, compatibility forms, marks, jamo, scripts without spaces.
HARD = "aB1_-./:+#s ½㎏…㏂ｶﾞé\u0301\u0316\u1100\u1161\u11a8版本の号กำहिन्\u200d\u00adßİﬁ①😀\n"
texts = st.text(st.characters()) | st.text(HARD)  # lone surrogates too
plain = st.text("abcdefgs zéßжω09-./:+#")  # no capitals and no underscore, so no identifiers


def fullwidth(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize(("text", "terms"), [
    ("Running dogs", ["run", "dog"]),
    ("QX-991.", ["qx-991", "qx", "991"]),
    ("getUserName", ["getusernam", "get", "user", "name"]),
    ("HTTPServer", ["httpserver", "http", "server"]),
    ("v2Parser", ["v2parser", "v2", "parser"]),
    ("snake_case", ["snake_cas", "snake", "case"]),
    ("get_userName", ["get_usernam", "get", "user", "name"]),
    ("__init__", ["init"]),
    ("_so_ said x_y", ["so", "said", "x_i"]),
    ("ПолучитьИмя", ["получитьимя", "получить", "имя"]),
    ("APIs GPT4o QX991", ["api", "gpt4o", "qx991"]),
    ("2024-03-15", ["2024-03-15", "2024", "03", "15"]),
    ("v0.9.1 at 10:30", ["v0.9.1", "v0", "9", "1", "at", "10:30", "10", "30"]),
    ("well-known and/or", ["well", "known", "and", "or"]),
    ("x.io/browse/QX-9", ["x.io/browse/qx-9", "x", "io", "brows", "qx-9", "qx", "9"]),
    ("C++ or C#", ["c++", "c", "or", "c#", "c"]),
    (".NET, not asp.net...", [".net", "net", "not", "asp", "net"]),
    ("版本3号", ["版本", "3", "号"]),
    ("使用Python3开发", ["使用", "python3", "开发"]),
    ("黑豹队的防守丢了308分。", ["黑豹", "豹队", "队的", "的防", "防守", "守丢", "丢了", "308", "分"]),
    ("カタカナとｶﾀｶﾅ", ["カタ", "タカ", "カナ", "ナと", "とカ", "カタ", "タカ", "カナ"]),
    ("서울에서 만나요", ["서울", "울에", "에서", "만나", "나요"]),
    ("Python은 3월에", ["python", "은", "3", "월에"]),
    ("หนังสือ", ["หน", "นั", "ัง", "งส", "สื", "ือ"]),
    ("हिन्दी हिंदी भाषा", ["हिंदी", "हिंदी", "भाषा"]),
    ("infor\u00admation", ["inform"]),
    ("... _", []),
    ("Zoë à Málaga, ŁÓDŹ, Smørrebrød", ["zoe", "a", "malaga", "lodz", "smorrebrod"]),
    ("Straße œuvre naïve Đà Nẵng", ["strass", "oeuvr", "naiv", "da", "nang"]),
    ("İstanbul'da ışık", ["istanbul", "da", "isik"]),
    ("Αθήνα ΑΘΗΝΑ", ["αθηνα", "αθηνα"]),
    ("Ёлка йод мой", ["елка", "йод", "мой"]),
    ("مُحَمَّد إلى أحمد مدرسة محـــمد", ["محمد", "الي", "احمد", "مدرسه", "محمد"]),
    ("שָׁלוֹם", ["שלום"]),
    ("٢٠٢٥ ۱۲", ["2025", "12"]),
    ("don’t—QX–991 zero\u200bwidth\ufeff", ["don", "t-qx-991", "t", "qx", "991", "zerowidth"]),
    ("👍🏽 👍 🇩🇪🇫🇷 👩\u200d💻 ☎\ufe0f 1\ufe0f\u20e3", ["👍", "👍", "🇩🇪", "🇫🇷", "👩", "💻", "☎", "1"]),
])  # fmt: skip
def test_a_text_gives_these_terms(text: str, terms: list[str]):
    assert tokenize(text) == terms


@pytest.mark.parametrize(("text", "beside"), [
    ("plain words", []), ("Zoë est à Málaga", ["zoë", "à", "málaga"]), ("İstanbul", []), ("👍🏽 👍", ["👍🏽"]),
    ("京都の桜", ["京", "都", "桜"]), ("桜", []), ("물은 서울에서", ["물", "서"]), ("หนังสือ", []),
])  # fmt: skip
def test_words_with_their_accents_and_characters_of_bigrams_find_a_text_too(text: str, beside: list[str]):
    assert terms_beside(text) == beside


@given(texts)
def test_a_word_is_found_without_its_accents(text: str):
    assert all(set(tokenize(unmarked(term))) <= set(tokenize(text)) for term in terms_beside(text) if len(term) > 1)


@given(plain)
def test_case_does_not_matter_outside_identifiers(text: str):
    assert tokenize(text) == tokenize(text.upper()) == tokenize(text.casefold())


@pytest.mark.parametrize("name", ["getUserName", "HTTPServer", "snake_case", "QX-991", "C#", ".NET", "APIs", "v0.9-RC"])
@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
def test_a_name_is_found_whole_however_its_case_is_written(name: str, change):
    assert tokenize(name)[0] == tokenize(change(name))[0]


@given(texts)
@example("\u1112\u1161\u11ab\uff76\uff9e")
def test_equivalent_forms_give_the_same_terms(text: str):
    terms = tokenize(text)
    assert all(tokenize(unicodedata.normalize(form, text)) == terms for form in ("NFC", "NFD", "NFKC", "NFKD"))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_fullwidth_letters_give_the_same_terms(text: str):
    assert tokenize(fullwidth(text)) == tokenize(text)


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1), max_size=30))
def test_plain_words_become_what_the_stemmer_makes_of_them(words: list[str]):
    assert tokenize(" ".join(words)) == Stemmer.Stemmer("english").stemWords(words)


def test_threads_do_not_spoil_each_others_stems():
    words = [f"{a}{b}{c}nings" for a in "bcdfg" for b in "aeiou" for c in "klmnprst"]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(tokenize, [" ".join(words[n:] + words[:n]) for n in range(40)]))
    expected = Stemmer.Stemmer("english").stemWords(words)
    assert found == [expected[n:] + expected[:n] for n in range(40)]


@given(texts)
def test_spans_give_the_terms_of_tokenize_and_contain_what_gave_them(text: str):
    assert [term for span in spans(text) for term in span.terms] == tokenize(text)
    for start, stop, terms in spans(text):
        assert 0 <= start < stop <= len(text)
        assert set(terms) <= set(tokenize(text[start:stop]))


def test_spans_mark_the_words_of_the_original():
    text = "Ｔｈｅ cafe\u0301 ﬁle QX-9, 版本3号"
    found = [text[span.start : span.stop] for span in spans(text)]
    assert found == ["Ｔｈｅ", "cafe\u0301", "ﬁle", "QX-9", "QX", "9", "版本", "3", "号"]


@pytest.mark.parametrize(("text", "terms"), [
    ("When did Caroline's build fail?", ["carolin", "build", "fail"]),
    ("What is in QX-991", ["qx-991", "qx", "991"]),
    ("isn't it", ["isn"]),
    ("To be, or …", ["to", "be", "or"]),
    ("", []),
])  # fmt: skip
def test_a_question_keeps_its_telling_words(text: str, terms: list[str]):
    assert query_terms(text) == terms


@given(texts)
def test_a_question_asks_for_terms_of_its_text(text: str):
    asked = query_terms(text)
    assert {*asked} <= {*index_terms(text), *terms_beside(text)} and bool(asked) == bool(tokenize(text))


@given(st.text(min_size=1), st.integers(0, len(FIELDS) - 1))
def test_a_code_is_the_field_and_the_hash_of_the_term(term: str, field: int):
    digest = blake2b(term.encode(), digest_size=8).digest()
    assert term_code(term, field).to_bytes(8, "little") == digest[:7] + bytes([field])


@given(st.lists(st.text("abc版")), st.integers(0, len(FIELDS) - 1))
def test_terms_are_encoded_one_by_one(terms: list[str], field: int):
    codes = encode_terms(terms, field)
    assert codes.dtype == np.uint64
    assert codes.tolist() == [term_code(term, field) for term in terms]


def test_codes_are_those_of_stored_indexes():
    """A change here needs another `ANALYZER`."""
    assert [hex(term_code("fox", field)) for field in (0, 2)] == ["0x73521a1407e112", "0x273521a1407e112"]
    words = [f"w{n}" for n in range(MEMO + 100)]  # more than a memo has
    assert tokenize(" ".join(words)) == words == tokenize(" ".join(words))


@pytest.mark.parametrize(("text", "tokens"), [
    ("", 0), ("One, two.", 4), ("don't", 3), ("版本3号。", 5), ("cafe\u0301 हिन्दी", 2), ("a" * WORD_MAX, 1),
    ("a" * (2 * WORD_MAX + 1), 3),
])  # fmt: skip
def test_tokens_are_words_marks_and_cjk_characters(text: str, tokens: int):
    assert count_tokens(text) == tokens


LISTS = [
    "der und die ist wo", "le la les des une est", "the of to is", "getUserName", "a.b:c/d C++ ", "well-known", "\n",
]  # fmt: skip
long = st.lists(st.sampled_from([*LISTS, "x" * 70, "stavba", "Katzen", "running"]), min_size=5).map(" ".join)


@given(texts | long, st.integers(0, len(FIELDS) - 1))
@example("Der Hund und die Katzen sind in dem Haus", 2)
def test_a_text_is_indexed_under_the_codes_of_its_terms(text: str, field: int):
    words, beside = encode_terms(index_terms(text), field), encode_terms(terms_beside(text), field or BESIDE)
    assert index_codes(text, field) == np.concatenate([words, beside]).astype("<u8").tobytes()


@given(st.text(st.characters(max_codepoint=127), max_size=60) | st.text("aB1_.-/:+# \x1c\n", max_size=60))
def test_plain_ascii_has_the_terms_and_tokens_that_it_has_among_other_characters(text: str):
    assert tokenize(text) == [term for span in spans(text) for term in span.terms]
    assert tokenize(f"{text} é") == [*tokenize(text), "e"]
    assert count_tokens(text) == len(token_starts(text)) == count_tokens(f"{text} é") - 1


@given(st.text(HARD, max_size=60) | st.text("a ", min_size=3 * WORD_MAX))
def test_a_cut_at_a_token_start_keeps_the_count(text: str):
    starts = token_starts(text)
    assert len(starts) == count_tokens(text)
    for before, start in enumerate(starts):
        assert (count_tokens(text[:start]), count_tokens(text[start:])) == (before, len(starts) - before)


@given(texts)
def test_normal_forms_are_stable(text: str):
    assert fold(fold(text)) == fold(text)
    assert same_text_hash(normalise(text)) == same_text_hash(text) == same_text_hash(f"\t{text}\n ")


def test_the_same_text_is_recognised_in_other_clothes():
    assert same_text_hash("The café\nopens") == same_text_hash(" THE  cafe\u0301 ｏｐｅｎｓ")
    assert same_text_hash("The café opens") != same_text_hash("The café opened")
    assert same_text_hash("It’s a well–known “co\u00adop”\ufeff") == same_text_hash('it\'s a well-known "coop"')
    assert same_text_hash("résumé") != same_text_hash("resume")
    assert len(same_text_hash("")) == len(same_text_hash("a\ud800b")) == 16
    assert fold("Straße") == fold("STRASSE") and fold("ﬁ") != fold("ｆｉ")
    assert {word.casefold() for word in QUESTION_WORDS} == QUESTION_WORDS
    assert tokenize("a" + "\u0301" * (STACK + 1)) == ["a"]
    assert tokenize("a\ud800b") == ["a", "b"]


@pytest.mark.parametrize(("text", "terms"), [
    ("a" + "\u0301\u0316" * 50_000, 1), ("ｶ" + "ﾞ\u0301" * 50_000, 1), ("aB" * 50_000, 1 + 49_999),
    ("1-" * 50_000, 1 + 50_000), ("a." * 50_000, 50_000), ("_" * 100_000, 0), ("\u00ad" * 100_000, 0),
], ids=["marks", "kana marks", "humps", "joined digits", "joined letters", "underscores", "soft hyphens"])  # fmt: skip
def test_hostile_text_is_analysed_in_linear_time(text: str, terms: int):
    """Anything quadratic would take minutes here."""
    assert len(tokenize(text)) == sum(len(span.terms) for span in spans(text)) == terms
    assert count_tokens(text) <= len(text)
    assert len(normalise(text)) <= len(text)


@given(st.lists(st.sampled_from(["One ", " tWo\n", "\x1c\t", "\x00", "3-4.", "x" * 64])).map("".join))
def test_long_texts_in_ascii_have_the_hash_of_their_normal_form(text: str):
    assert same_text_hash(text) == blake2b(normalise(text).encode(), digest_size=16).digest()
