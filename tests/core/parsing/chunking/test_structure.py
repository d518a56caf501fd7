"""Where chunks of structured texts and of code begin and end."""

import pytest

from muisti.core.parsing.chunking.cutting import cut
from muisti.core.parsing.chunking.options import Chunking
from muisti.core.parsing.chunking.units import READ, definitions
from muisti.core.parsing.code.grammars import GrammarMissing
from muisti.core.parsing.pieces import Piece
from muisti.core.text.terms import count_tokens

SMALL = Chunking(size=64, overlap=10)


def sections(lengths: list[int]) -> list[Piece]:
    """Return sections with a heading each, of so many sentences of 10 tokens."""
    found: list[Piece] = []
    for number, length in enumerate(lengths):
        title = f"Section {number}"
        found.append(Piece(text=f"# {title}\n\n", kind="heading", headings=(title,)))
        body = "".join(f"Sentence {one} of section {number} has ten tokens. " for one in range(length))
        found.append(Piece(text=body + "\n\n", headings=(title,)))
    return found


def test_chunks_begin_with_headings_where_they_can():
    cuts = list(cut(sections([5, 5, 5, 5]), SMALL))
    assert [one.text[:9] for one in cuts] == ["# Section"] * 4
    assert [one.headings for one in cuts] == [(f"Section {number}",) for number in range(4)]
    assert all(one.overlap == 0 for one in cuts)


def test_a_heading_is_never_the_end_of_a_chunk():
    for one in cut(sections([3, 9, 1, 14, 6, 2, 30]), SMALL):
        assert not one.text.rstrip().rpartition("\n")[2].startswith("#")


def test_short_sections_share_a_chunk_but_for_the_strategy_of_headings():
    pieces = sections([1, 1, 1])
    assert len(list(cut(pieces, SMALL))) == 1
    assert len(list(cut(pieces, Chunking(strategy="heading", size=64, overlap=10)))) == 3


def test_an_overlap_begins_with_a_sentence():
    body = "".join(f"Sentence number {one} is here. " for one in range(60))
    cuts = list(cut([Piece(text=body)], Chunking(size=64, overlap=20)))
    assert all(one.overlap and one.text.startswith("Sentence") for one in cuts[1:])


def test_a_chunk_knows_the_page_on_which_it_begins():
    pieces = [Piece(text=f"Words of page {page}, which go on " * 20, page=page) for page in (1, 2, 3)]
    cuts = list(cut(pieces, SMALL))
    assert cuts[0].page == 1 and cuts[-1].page == 3
    assert [one.page for one in cuts] == sorted(one.page or 0 for one in cuts)


FUNCTION = "def {name}(x):\n    y = x + 1\n    z = y * 2\n\n    return z - y\n\n\n"


def test_definitions_are_kept_whole_where_they_fit():
    names = [f"name_{number}" for number in range(12)]
    module = "import math\n\n\n" + "".join(FUNCTION.format(name=name) for name in names)
    cuts = list(cut([Piece(text=module, kind="code", language="python")], SMALL))
    for name in names:
        assert sum(FUNCTION.format(name=name).rstrip() in one.text for one in cuts) == 1
    assert {one.symbol for one in cuts} <= {None, *names}


def test_a_large_class_is_cut_between_its_methods():
    methods = "".join(
        f"    def method_{one}(self):\n        return [{one}, {one}, {one}, {one}]\n\n" for one in range(9)
    )
    cuts = list(cut([Piece(text="class Large:\n" + methods, kind="code", language="python")], SMALL))
    assert [one.text.lstrip()[:4] for one in cuts[1:]] == ["def "] * (len(cuts) - 1)
    assert all(one.symbol and one.symbol.startswith("Large.method_") for one in cuts[1:])


@pytest.mark.parametrize(("language", "source", "symbols"), [
    ("python", "@dec\nclass A:\n    async def f(self):\n        def g(): ...\n", ["A", "A.f", "A.f.g"]),
    (
        "typescript",
        "export class A { f() {} }\nexport const h = () => 1\ninterface I { x: 1 }\n",
        ["A", "A.f", "h", "I"],
    ),
    ("javascript", "function f() {}\nconst x = 1, g = function () {}\nclass B {}\n", ["f", "g", "B"]),
    ("go", "package p\n\ntype T struct{}\n\n// F does.\nfunc (t *T) F() {}\nfunc G() {}\n", ["T", "T.F", "G"]),
    ("rust", "impl<T> Display for A<T> { fn f() {} }\n#[test]\nfn t() {}\n", ["A", "A.f", "t"]),
    ("java", "class A { A() {} int f() { return 1; } }\n", ["A", "A.A", "A.f"]),
    ("c", "static int *f(int x) { return 0; }\nstruct s { int a; };\nstruct s y;\n", ["f", "s"]),
])  # fmt: skip
def test_definitions_have_qualified_names(language: str, source: str, symbols: list[str]):
    assert [one.symbol for one in definitions(source, language)] == symbols


def test_comments_and_decorators_belong_to_the_definition_after_them():
    source = "x = 'ä'  # of x\n\n# About f.\n# More.\n@dec\ndef f(): ...\n"
    (found,) = definitions(source, "python")
    assert source[found.start : found.stop] == "# About f.\n# More.\n@dec\ndef f(): ..."


def test_code_without_a_grammar_is_cut_by_lines_unless_syntax_is_demanded():
    code = [Piece(text="MOVE A TO B.\n" * 100, kind="code", language="cobol")]
    assert all(one.text.endswith(".\n") for one in cut(code, SMALL))
    with pytest.raises(GrammarMissing):
        list(cut(code, Chunking(strategy="ast")))


def test_long_lines_of_code_are_cut_and_bounded():
    code = "x=" + "+".join(f"a{one}" for one in range(READ)) + "\n"
    cuts = list(cut([Piece(text=code, kind="code", language="javascript")]))
    assert "".join(one.text[one.overlap :] for one in cuts) == code
    assert max(count_tokens(one.text) for one in cuts) <= 512
