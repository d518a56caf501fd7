"""Grammars load one by one, and a missing one is a clear error."""

import subprocess
import sys
from threading import Thread

import pytest

from muisti.core.parsing.code import grammars
from muisti.core.parsing.code.grammars import GRAMMARS, GrammarMissing, is_available, language_of, parse

BUNDLED = [name for name, grammar in GRAMMARS.items() if grammar.bundled]


@pytest.mark.parametrize("language", BUNDLED)
def test_each_bundled_language_parses_and_owns_its_endings(language: str):
    assert is_available(language)
    assert parse(b"", language).root_node.end_byte == 0
    assert {language_of(f"a/b{ending}") for ending in GRAMMARS[language].endings} == {language}


def test_an_ending_belongs_to_one_language():
    endings = [ending for grammar in GRAMMARS.values() for ending in grammar.endings]
    assert len(endings) == len(set(endings))


def test_offsets_count_bytes():
    assert parse("s = 'ä'\nf()", "python").root_node.children[1].start_byte == 9


def test_a_lone_surrogate_is_parsed():
    assert parse("s = '\ud800'\nf()", "python").root_node.child_count == 2


def test_broken_and_deep_code_gives_a_tree():
    assert parse("def def (", "python").root_node.has_error
    assert parse("(" * 100_000, "python").root_node.end_byte == 100_000


def test_an_unknown_language_is_refused_with_those_that_are_known():
    with pytest.raises(GrammarMissing, match="known language.*python"):
        parse("x", "cobol")


def test_a_language_of_the_extra_names_it(monkeypatch: pytest.MonkeyPatch):
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


def test_nothing_loads_before_it_is_used():
    code = "import sys; from muisti.core.parsing.code import grammars; grammars.is_available('go'); "
    code += "print('tree_sitter' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
