"""Rules for the values of settings: switches, sizes, numbers, names and lists."""

import re
from collections.abc import Callable
from decimal import Decimal

import msgspec

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SWITCH = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


class Rule(msgspec.Struct, frozen=True):
    """The purpose of a setting and the values that it accepts, in words, and how to read them.

    `read` raises ValueError for any other value.
    """

    description: str
    expected: str
    read: Callable[[object], object]


def text(value: object) -> str:
    """Read any text that is not blank. Raises ValueError."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value


def _switch(value: object) -> bool:
    answer = _SWITCH.get(str(value).strip().lower())
    if answer is None:
        raise ValueError
    return answer


def parse_bytes(value: object) -> int:
    """Read a number of bytes: `MB` is 1000², `MiB` is 1024²; a bare number is bytes.

    >>> [parse_bytes(v) for v in (4096, "4096", "512MB", "1 GiB", "1.5 kB")]
    [4096, 4096, 512000000, 1073741824, 1500]

    Raises:
        ValueError: this is no size above zero.
    """
    parts = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)", str(value).strip())
    size = int(Decimal(parts[1]) * _UNITS.get(parts[2].lower(), 0)) if parts else 0
    if size < 1 or isinstance(value, bool):
        raise ValueError
    return size


def size(description: str) -> Rule:
    """Make the rule of a setting that is a number of bytes."""
    return Rule(description, "a size above zero such as 512MB or 1GiB, or a number of bytes", parse_bytes)


def on_off(description: str) -> Rule:
    """Make the rule of a setting that is on or off."""
    return Rule(description, "on or off", _switch)


def whole(low: int, high: int, description: str) -> Rule:
    """Make the rule of a setting that is a whole number from `low` to `high`."""

    def read(value: object) -> int:
        digits = re.fullmatch(r"[0-9]{1,9}", str(value).strip())  # str(True) has none
        if not digits or not low <= int(digits[0]) <= high:
            raise ValueError
        return int(digits[0])

    return Rule(description, f"a whole number from {low} to {high}", read)


def amount(high: int, description: str, low: float = 0) -> Rule:
    """Make the rule of a setting that is a number from `low` to `high`."""

    def read(value: object) -> float:
        number = float(str(value))
        if not low <= number <= high:  # refuses NaN too
            raise ValueError
        return number

    return Rule(description, f"a number from {low:g} to {high}", read)


def one_of(names: tuple[str, ...], description: str) -> Rule:
    """Make the rule of a setting that is one of these names, in upper or lower case."""

    def read(value: object) -> str:
        if str(value).lower() not in names:
            raise ValueError
        return str(value).lower()

    return Rule(description, f"one of {', '.join(names)}", read)


def names_in(listed: str | None) -> tuple[str, ...]:
    """Split a list such as a,b,c into its names.

    >>> names_in("a, b"), names_in(None)
    (('a', 'b'), ())
    """
    return tuple(name for item in (listed or "").split(",") if (name := item.strip()))


def list_of(form: re.Pattern[str], description: str) -> Rule:
    """Make the rule of a setting that is a list of names of this form; its value is one text."""

    def read(value: object) -> str:
        names = names_in(text(value))
        if not names or not all(form.fullmatch(name) for name in names):
            raise ValueError
        return ",".join(names)

    return Rule(description, "a list such as a,b,c", read)
