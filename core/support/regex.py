"""Regular expressions of modules, each compiled at its first use: all of them took a fifth of a start."""

import re
from typing import AnyStr, cast

_USED = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class Regex:
    """An expression that is not compiled yet; then the methods of the pattern are its own, and as fast."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        pattern = re.compile(self._text, self._flags)
        self.__dict__.update({used: getattr(pattern, used) for used in _USED})
        return getattr(pattern, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return an expression that is compiled when it is first used. A test compiles all.

    >>> regex("[aeiou]+").sub("-", "queue")
    'q-'
    """
    return cast("re.Pattern[AnyStr]", Regex(text, flags))
