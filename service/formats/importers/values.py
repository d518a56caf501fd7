"""Values that other systems keep as text."""

from typing import Any

import msgspec


def json_list(value: object) -> Any:
    """Decode a list that is kept as JSON; a text that is no JSON stays a text.

    >>> json_list('["a"]'), json_list("a, b"), json_list(None)
    (['a'], 'a, b', None)
    """
    if not isinstance(value, str | bytes):
        return value
    try:
        found = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return value if isinstance(value, str) else None
    return found if isinstance(found, list) else value
