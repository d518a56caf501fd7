"""Blocks of Markdown, and what is left out of them."""

import pytest

from tests.language.prose import blocks


@pytest.mark.parametrize(("markdown", "expected"), [
    (
        "# Head\nFirst line\nsecond line\n\n- one\n  goes on\n- two\n1. three\n",
        [(1, "Head"), (2, "First line\nsecond line"), (5, "one\ngoes on"), (7, "two"), (8, "three")],
    ),
    (
        "| name | meaning |\n| --- | --- |\n| `a|b` | a \\| or b |\n",
        [(1, "name"), (1, "meaning"), (3, "`a|b`"), (3, "a \\| or b")],
    ),
    (
        "Before\n```sh\nrun this. And that\n```\nAfter\n\n    indented code\n\n> Somebody said this.\n",
        [(1, "Before"), (5, "After")],
    ),
    (
        "Return it.\n\n>>> double(2)\n4\n\n\\b\nkey  value\nkey  value\n\nThe end.\n",
        [(1, "Return it."), (10, "The end.")],
    ),
], ids=["paragraphs, headings, items", "cells", "code and quotations", "doctests and preformatted"])  # fmt: skip
def test_blocks_are_those_of_prose(markdown: str, expected: list[tuple[int, str]]):
    assert [(block.line, block.text) for block in blocks(enumerate(markdown.splitlines(), 1))] == expected
