"""Prose of Python files."""

import ast

from tests.language import python

SOURCE = '''"""Module.

More of it.
"""
# One comment
# of two lines.

# ruff: noqa
x = 1  # trailing


@option("--x", help="Say " f"{x} words.")
def double(x):
    """What it does.

    >>> double(2)
    4
    """
    # inside
    return x * 2  # noqa: ERA001
'''


def test_docstrings_comments_and_helps_come_with_their_lines_and_without_doctests():
    tree = ast.parse(SOURCE)
    found = [[(block.line, block.text) for block in one] for one in python.docstrings(tree)]
    assert found == [[(1, "Module."), (3, "More of it.")], [(14, "What it does.")]]
    comments = [(block.line, block.text) for block in python.comments(SOURCE)]
    assert comments == [(5, "One comment\nof two lines."), (9, "trailing"), (19, "inside")]
    assert [(block.line, block.text) for block in python.helps(tree)] == [(12, "Say CODE words.")]
