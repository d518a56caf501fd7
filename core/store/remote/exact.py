"""Floats that arrive as they were sent, even when the server's parser of decimals is inexact.

sqld reads the floats of a request with an error in the last place. Every parser is exact for a decimal of at most 15
digits and a small exponent, since it takes one correctly rounded step. Any other float goes as the integers m and e
of m * 2**e, which SQL multiplies without rounding.
"""

import re
from collections.abc import Iterator, Sequence

from muisti.core.store.database import Scalar

DIGITS = 15
EXPONENT = 22  # 10**22 is the largest power of ten that a float holds exactly
PRODUCT = "(? * pow(2.0, ?))"

_PARTS = re.compile(r"('(?:[^']|'')*'|\"[^\"]*\"|\?)")  # a quoted stretch may contain a question mark


def is_plain(value: float) -> bool:
    """Return whether every parser reads the decimal form of a finite float exactly.

    >>> [is_plain(v) for v in (0.1, -2.5e-9, 1e22, 0.1 + 0.2, 1e23)]
    [True, True, True, False, False]
    """
    mantissa, _, exponent = f"{value:.{DIGITS - 1}e}".partition("e")
    digits = mantissa.lstrip("-").replace(".", "").rstrip("0")
    return float(f"{mantissa}e{exponent}") == value and abs(int(exponent) - max(len(digits) - 1, 0)) <= EXPONENT


def halves(value: float) -> tuple[int, int]:
    """Return integers m and e with m * 2**e equal to a finite float.

    >>> halves(0.75), halves(-1e300)[0] * 2 ** halves(-1e300)[1] == int(-1e300)
    ((3, -2), True)
    """
    above, below = value.as_integer_ratio()
    if below > 1:
        return above, 1 - below.bit_length()
    shift = max(above.bit_length() - 53, 0)
    return above >> shift, shift


def exact(sql: str, args: Sequence[Scalar]) -> tuple[str, Sequence[Scalar]]:
    """Replace each float that is not plain with a product of integers, in the statement and its values.

    >>> exact("SELECT ?, '?', ?", (1, 0.1 + 0.2))
    ("SELECT ?, '?', (? * pow(2.0, ?))", (1, 1351079888211149, -52))

    Raises:
        ValueError: a float is infinite.
    """
    if all(not isinstance(arg, float) or is_nan(arg) or is_plain(_finite(arg)) for arg in args):
        return sql, args
    given = iter(args)
    pieces, sent = list[str](), list[Scalar]()
    for piece in _PARTS.split(sql):
        pieces.append(_placed(given, sent) if piece == "?" else piece)
    return "".join(pieces), tuple(sent)


def is_nan(value: float) -> bool:
    """Return whether a float is NaN, which SQLite stores as NULL."""
    return value != value


def _placed(given: Iterator[Scalar], sent: list[Scalar]) -> str:
    """Return the SQL in place of the next placeholder, and append its values to `sent`."""
    arg = next(given)
    if isinstance(arg, float) and not is_nan(arg) and not is_plain(arg):
        sent.extend(halves(arg))
        return PRODUCT
    sent.append(arg)
    return "?"


def _finite(value: float) -> float:
    if value in (float("inf"), float("-inf")):
        raise ValueError("an infinite float cannot be stored")
    return value
