"""Blocks of Markdown, and what is left out of them."""

from tests.language.prose import blocks


def texts(markdown: str) -> list[tuple[int, str]]:
    return [(block.line, block.text) for block in blocks(enumerate(markdown.splitlines(), 1))]


def test_paragraphs_headings_and_items_are_blocks_of_their_own():
    markdown = "# Head\nFirst line\nsecond line\n\n- one\n  goes on\n- two\n1. three\n"
    assert texts(markdown) == [
        (1, "Head"),
        (2, "First line\nsecond line"),
        (5, "one\ngoes on"),
        (7, "two"),
        (8, "three"),
    ]


def test_cells_of_tables_are_blocks_and_code_may_hold_a_bar():
    markdown = "| name | meaning |\n| --- | --- |\n| `a|b` | a \\| or b |\n"
    assert texts(markdown) == [(1, "name"), (1, "meaning"), (3, "`a|b`"), (3, "a \\| or b")]


def test_code_and_quotations_are_left_out():
    markdown = "Before\n```sh\nrun this. And that\n```\nAfter\n\n    indented code\n\n> Somebody said this.\n"
    assert texts(markdown) == [(1, "Before"), (5, "After")]


def test_doctests_and_preformatted_paragraphs_are_left_out():
    text = "Return it.\n\n>>> double(2)\n4\n\n\\b\nkey  value\nkey  value\n\nThe end.\n"
    assert texts(text) == [(1, "Return it."), (10, "The end.")]
