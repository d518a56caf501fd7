"""Scripts of texts: what counts as mostly Latin."""

from muisti.core.text.language import mostly_latin


def test_letters_with_marks_are_latin_and_other_scripts_are_not_even_with_a_latin_word():
    for text in ("Who said that?", "Où est la gare?", "Đường Nguyễn Huệ", "łódź", "2 + 2 = ?", ""):
        assert mostly_latin(text), text
    for text in ("北京的地铁站在哪里", "Где метро?", "πού είναι", "地下鉄の駅はどこですか metro"):
        assert not mostly_latin(text), text
