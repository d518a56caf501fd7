"""The script of a text: whether its letters are mostly Latin ones."""

import re

_LATIN = re.compile("[A-Za-zªº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff]")


def mostly_latin(text: str) -> bool:
    """Return whether at least half of the letters of a text are of the Latin script; true also without any letters.

    >>> mostly_latin("Où est la gare?"), mostly_latin("北京的地铁站在哪里 (metro)"), mostly_latin("2 + 2")
    (True, False, True)
    """
    return 2 * len(_LATIN.findall(text)) >= sum(map(str.isalpha, text))
