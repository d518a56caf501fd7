"""Comments of other languages than Python."""

from tests.language.marked import MARKS, comments


def test_comments_on_their_own_lines_and_between_marks_are_read():
    shell = "#!/bin/sh\n# First line\n# goes on.\nrun  # no block of its own\n\n# Another.\n"
    found = [(block.line, block.text) for block in comments(shell, MARKS[".sh"])]
    assert found == [(2, "First line\ngoes on."), (6, "Another.")]
    source = "/** Returns it.\n *\n * In full. */\nint x;\n// Here.\n"
    assert [block.text for block in comments(source, MARKS[".c"])] == ["Returns it.", "In full.", "Here."]
