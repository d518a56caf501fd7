"""Buckets: the fixed part of all spaces to which each belongs by its name, and the units that a database holds.

A database holds buckets whole, except spaces that are placed on their own. Both are units, which have names.
"""

from hashlib import blake2b

BUCKETS = 4096  # fixed for ever: another number would place every space again
EVERYTHING = "*"  # the unit of all buckets that a database says nothing else about
_MARK = "#"  # of a bucket's unit; no name of a space begins with it


def bucket_of(space: str) -> int:
    """Return the bucket of a space, which depends on nothing but its name.

    >>> bucket_of("default"), bucket_of("acme")
    (709, 2754)
    """
    return int.from_bytes(blake2b(space.encode(), digest_size=4).digest(), "little") % BUCKETS


def unit_of(bucket: int) -> str:
    """Return the name of a bucket as a unit.

    >>> unit_of(17)
    '#17'
    """
    return f"{_MARK}{bucket}"


def in_unit(unit: str) -> int | None:
    """Return the bucket that a unit is; None for a space on its own.

    >>> in_unit("#17"), in_unit("acme")
    (17, None)
    """
    return int(unit[1:]) if unit.startswith(_MARK) else None
