"""Grammars load one by one, and a missing one is a clear error."""

from threading import Thread

import pytest

from muisti.core.parsing.code import grammars
from muisti.core.parsing.code.grammars import GRAMMARS, GrammarMissing, is_available, language_of, parse

BUNDLED = [name for name, grammar in GRAMMARS.items() if grammar.bundled]


def test_each_bundled_language_parses_and_owns_its_endings():
    for language in BUNDLED:
        assert is_available(language)
        assert parse(b"", language).root_node.end_byte == 0
        assert {language_of(f"a/b{ending}") for ending in GRAMMARS[language].endings} == {language}
    endings = [ending for grammar in GRAMMARS.values() for ending in grammar.endings]
    assert len(endings) == len(set(endings))


def test_offsets_count_bytes_and_broken_or_deep_code_gives_a_tree():
    assert parse("s = 'ä'\nf()", "python").root_node.children[1].start_byte == 9
    assert parse("s = '\ud800'\nf()", "python").root_node.child_count == 2
    assert parse("def def (", "python").root_node.has_error
    assert parse("(" * 100_000, "python").root_node.end_byte == 100_000


def test_a_missing_grammar_is_refused_with_those_that_are_known_or_its_extra(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(GrammarMissing, match="known language.*python"):
        parse("x", "cobol")
    absent = grammars.Grammar("absent", "language", (".absent",), bundled=False)
    monkeypatch.setattr(grammars, "GRAMMARS", {**GRAMMARS, "absent": absent})
    assert not is_available("absent")
    with pytest.raises(GrammarMissing, match=r"muisti\[grammars\]"):
        parse("x", "absent")


def test_threads_have_parsers_of_their_own():
    found: list[object] = []
    threads = [Thread(target=lambda: found.append(grammars._parser("python"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is not found[1]
    assert grammars._parser("python") is grammars._parser("python")
