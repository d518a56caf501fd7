"""Wrong values of options and arguments, in one line that says what was given and what is expected."""

from collections.abc import Iterable
from importlib import import_module
from math import isfinite
from typing import Any, NoReturn

import click

STDIN = "-"  # as a text or a file: standard input
MEANT = 3  # words that are suggested for a wrong one
SHOWN = 60  # characters of a wrong value


def refuse(value: object, expected: str, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
    """Raise the usage error of a wrong value. `expected` describes good ones: a whole number from 1 to 100."""
    raise click.BadParameter(f"is {shown(value)}; expected {expected}", ctx, param)


def shown(value: object) -> str:
    """Return a value as messages show it: in quotes, and not too long.

    >>> shown("abc"), len(shown("x" * 500))
    ("'abc'", 62)
    """
    text = str(value)
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def one_of(words: Iterable[object]) -> str:
    """Return the words in a phrase.

    >>> one_of(["low", "high"]), one_of(["on"])
    ('one of low, high', 'on')
    """
    named = [str(word) for word in words]
    return named[0] if len(named) == 1 else f"one of {', '.join(named)}"


def near(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words that may be meant: equal but for case and marks, else longer or shorter, else alike.

    >>> near("VS Code", ["vscode", "codex"]), near("claude", ["claude-code", "claude-desktop", "codex"])
    (['vscode'], ['claude-code', 'claude-desktop'])
    >>> near("cursr", ["cursor", "codex"]), near("emacs", ["cursor", "codex"])
    (['cursor'], [])
    """
    spelt = {name: _letters(name) for name in known}
    given = _letters(word)
    same = [name for name, letters in spelt.items() if letters == given]
    part = [
        name
        for name, letters in spelt.items()
        if len(given) > 2 and (letters.startswith(given) or given.startswith(letters))
    ]
    alike = import_module("difflib").get_close_matches(given, spelt.values(), n=MEANT)
    return (same or part)[:MEANT] or [name for name, letters in spelt.items() if letters in alike]


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word.casefold()))


def line_of(error: click.BadParameter) -> str:
    """Return the message of a wrong value in one line, with the name of the option or argument."""
    message = " ".join(error.format_message().split()) if error.param is None else " ".join(error.message.split())
    name = _name(error)
    if name is None:
        return message
    return f"{name} {message}" if message.startswith("is ") else f"{name}: {message}"


def _name(error: click.BadParameter) -> str | None:
    param = error.param
    if param is None:
        return None
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or param.name or "").upper()


class Whole(click.IntRange):
    """A whole number within bounds."""

    def _describe_range(self) -> str:
        return super()._describe_range() if _bounds(self) else ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            refuse(value, f"a whole number{_bounds(self)}", param, ctx)


class Number(click.FloatRange):
    """A finite number within bounds."""

    def _describe_range(self) -> str:
        return super()._describe_range() if _bounds(self) else ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = super().convert(value, param, ctx)
        except click.BadParameter:
            number = None
        if number is None or not isfinite(number):
            refuse(value, f"a number{_bounds(self)}", param, ctx)
        return number


class OneOf(click.Choice[Any]):
    """One of some words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            refuse(value, f"{one_of(self.choices)}{self.advice(str(value))}", param, ctx)

    def advice(self, word: str) -> str:
        """Return the end of the message about a wrong word: the words that may be meant."""
        meant = near(word, map(str, self.choices))
        return f". Did you mean {' or '.join(meant)}?" if meant else ""


def _bounds(kind: click.IntRange | click.FloatRange) -> str:
    """Return the bounds of a range in words.

    >>> _bounds(click.IntRange(1, 100)), _bounds(click.FloatRange(0, min_open=True)), _bounds(click.IntRange())
    (' from 1 to 100', ' above 0', '')
    """
    low = None if kind.min is None else f"{kind.min:,g}" if isinstance(kind.min, float) else f"{kind.min:,}"
    high = None if kind.max is None else f"{kind.max:,g}" if isinstance(kind.max, float) else f"{kind.max:,}"
    if low and high and not (kind.min_open or kind.max_open):
        return f" from {low} to {high}"
    least = low and (f" above {low}" if kind.min_open else f" of {low} or more")
    most = high and (f" below {high}" if kind.max_open else f" of {high} or less")
    return " and".join(bound for bound in (least, most) if bound)
