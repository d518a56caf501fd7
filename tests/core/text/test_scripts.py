"""Scripts of texts: what counts as mostly Latin."""

import pytest

from muisti.core.text.language import mostly_latin


@pytest.mark.parametrize("text", ["Who said that?", "Où est la gare?", "Đường Nguyễn Huệ", "łódź", "2 + 2 = ?", ""])
def test_latin_letters_with_marks_are_latin_and_so_is_a_text_without_letters(text: str):
    assert mostly_latin(text)


@pytest.mark.parametrize("text", ["北京的地铁站在哪里", "Где метро?", "πού είναι", "地下鉄の駅はどこですか metro"])
def test_other_scripts_are_not_latin_even_with_a_latin_word(text: str):
    assert not mostly_latin(text)
