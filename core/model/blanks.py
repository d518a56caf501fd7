"""Tells whether a text shows nothing: it is empty, or white space and characters that Unicode lets nobody see."""

import re

# White space and Default_Ignorable_Code_Point.
_SEEN = re.compile(
    "[^\\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def is_blank(text: str) -> bool:
    r"""Tell whether a text shows nothing.

    >>> is_blank(" \u200b\ufeff"), is_blank("\u200bword")
    (True, False)
    """
    return _SEEN.search(text) is None
