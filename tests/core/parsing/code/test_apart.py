"""Source code is read in a process of its own, and hostile code is stored as plain text."""

import subprocess
import sys

import pytest

from muisti.core.parsing.chunking.cutting import cut
from muisti.core.parsing.code import apart, reading
from muisti.core.parsing.code.apart import Stretch, headers
from muisti.core.parsing.code.grammars import GRAMMARS, TooIntricate, definitions, parse
from muisti.core.parsing.pieces import Piece

BUNDLED = [name for name, grammar in GRAMMARS.items() if grammar.bundled]
PYTHON = "import a\n\nclass A(B):\n    def f(self, x): return self.g(x)\n"
# Texts that each made a parser take seconds, or memory without end.
STEEP = {"python": "<!--", "javascript": "->", "typescript": "->", "tsx": "->"} | {
    "c": "|!", "java": "|!", "go": "<!", "rust": "!]-"
}  # fmt: skip


def test_another_process_reads_what_this_one_would():
    assert apart.definitions(PYTHON, "python") == definitions(PYTHON, "python")
    assert apart.names([PYTHON, "é = 1", PYTHON], "python") == [found := reading.names(PYTHON, "python"), [], found]
    assert apart.read("a.py", PYTHON, "python") == reading.read("a.py", PYTHON, "python")
    assert apart.definitions("", "python") == []


@pytest.mark.parametrize("language", BUNDLED)
def test_code_with_too_many_faults_is_given_up(language: str):
    hostile = STEEP[language] * 4_000
    with pytest.raises(TooIntricate):
        parse(hostile, language)
    assert list(definitions("x = 1\n", language)) == []  # the parser reads on
    with pytest.raises(TooIntricate):
        apart.read("a", hostile, language)
    stretches = [Stretch(text, language, "a.b") for text in (hostile[:9_000], "", "x" * 30_000)]
    assert {*headers(stretches).values()} == {"b. b. ", ""}


def test_a_text_that_ends_the_process_harms_nothing():
    with pytest.raises(TooIntricate):
        apart.definitions("a<b," * 15_000, "typescript")
    assert [one.symbol for one in apart.definitions("class A {}", "typescript")] == ["A"]


def test_a_text_that_ends_the_process_costs_no_other_text_its_names():
    found = apart.names(["class A {}", "a<b," * 15_000, "class B {}"], "typescript")
    assert found == [["A"], [], ["B"]]


def test_code_that_is_given_up_is_plain_text_with_a_note():
    notes: list[str] = []
    text = "<!--" * 4_000
    found = [*cut([Piece(text=text, kind="code", language="python")], note=notes.append)]
    assert "".join(one.text[one.overlap :] for one in found) == text
    assert {(one.kind, one.language) for one in found} == {("text", None)}
    assert len(notes) == 1
    assert "plain text" in notes[0]


def test_a_process_that_reads_code_loads_no_grammar():
    code = "import sys; from muisti.core.parsing.code import apart, grammars; grammars.is_available('go');"
    code += f"print(*apart.names([{PYTHON!r}], 'python'), *sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.startswith("['A', 'f']")
    assert "tree_sitter" not in found.split()
