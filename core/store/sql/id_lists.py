"""A list of ids as one value of a statement: a JSON array of hexadecimal digits."""

import json
from collections.abc import Sequence

IDS = "(SELECT unhex(value) FROM json_each(?))"  # reads what `id_list` makes


def id_list(ids: Sequence[bytes]) -> str:
    """Return ids as the value that `IDS` reads.

    >>> id_list([b"a", b"b"])
    '["61", "62"]'
    """
    return json.dumps([one.hex() for one in ids])
