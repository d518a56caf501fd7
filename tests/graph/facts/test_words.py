"""Words of the rules, and the sentences of which they are part."""

from muisti.core.graph.facts.lexicon import words
from muisti.core.graph.facts.reading import sentences
from tests.graph.facts.saying import mention


def _texts(text: str) -> list[str]:
    return [word.text for word in words(text, 0, len(text))]


def test_contractions_are_the_words_that_they_stand_for():
    assert _texts("I’m sure they're in; don't, can’t, I'd") == (
        ["i", "am", "sure", "they", "are", "in", ";", "do", "not", ",", "can", "not", ",", "i", "would"]
    )
    assert _texts("Ann's state-of-the-art AT&T") == ["ann", "'s", "state-of-the-art", "at&t"]
    text = "Zoë isn't here"
    assert [text[word.start : word.stop] for word in words(text, 0, len(text))] == ["Zoë", "isn't", "isn't", "here"]
    assert [one.asks for one in sentences("Who?\n```\nx = 1\n```\nMe.", [])] == [True, False]


def test_abbreviations_and_names_do_not_end_a_sentence():
    text = "Dr. Ann met John F. Kennedy Jr. here. Bob left."
    names = [mention(text, "John F. Kennedy Jr.", "person"), mention(text, "Bob", "person")]
    found = [*sentences(text, names)]
    assert [(one.words[0].text, len(one.spans)) for one in found] == [("dr", 1), ("bob", 1)]
    assert [found[0].words[at].text for at in range(found[0].spans[0].first, found[0].spans[0].last)] == (
        ["john", "f", ".", "kennedy", "jr", "."]
    )
