"""Words are those of the `tokenizers` library, for every character."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from muisti.core.embedding.bert_words import words

NORMALIZER, CUTTER = BertNormalizer(), BertPreTokenizer()
PLANES = (0, 1, 2, 3, 14, 15)
OF_ANOTHER_FORM = {0x11938}  # the library does not decompose it


def of_library(text: str) -> list[str]:
    return [word for word, _ in CUTTER.pre_tokenize_str(NORMALIZER.normalize_str(text))]


def test_every_character_is_kept_dropped_or_cut_as_by_the_library():
    """Apart from capitals that are newer than this Python, which have no lower case here."""
    strange: set[int] = set()
    for plane in PLANES:
        for start in range(plane << 16, (plane + 1) << 16, 256):
            block = [chr(one) for one in range(start, start + 256) if not 0xD800 <= one < 0xE000]
            if words(" ".join(f"x{one}y" for one in block)) != of_library(" ".join(f"x{one}y" for one in block)):
                strange |= {ord(one) for one in block if words(f"x{one}y") != of_library(f"x{one}y")}
    assert [hex(one) for one in strange - OF_ANOTHER_FORM if unicodedata.category(chr(one)) != "Cn"] == []


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=12))
def test_a_text_has_the_words_that_the_library_finds(text: str):
    assert words(text) == of_library(text)
