"""Values that other systems keep as text."""

from collections.abc import Mapping
from typing import Any

import msgspec


def pascal(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of .NET with its names in PascalCase; its readers take camelCase as well.

    >>> pascal({"id": 1, "Name": 2})
    {'Id': 1, 'Name': 2}
    """
    return {name[:1].upper() + name[1:]: value for name, value in record.items()}


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
