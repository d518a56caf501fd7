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


def test_docstrings_come_with_their_lines_and_without_doctests():
    found = [[(block.line, block.text) for block in one] for one in python.docstrings(ast.parse(SOURCE))]
    assert found == [[(1, "Module."), (3, "More of it.")], [(14, "What it does.")]]


def test_comments_of_following_lines_are_one():
    found = [(block.line, block.text) for block in python.comments(SOURCE)]
    assert found == [(5, "One comment\nof two lines."), (9, "trailing"), (19, "inside")]


def test_help_of_options_is_read_with_what_is_filled_in():
    assert [(block.line, block.text) for block in python.helps(ast.parse(SOURCE))] == [(12, "Say CODE words.")]
