"""Values of a database as JSON, bit by bit: floats in hexadecimal, bytes in base 64."""

import base64
from typing import Any

Scalar = str | int | float | bytes | None


def told(value: Scalar) -> Any:
    """Convert a value of SQLite to one that JSON can represent, without loss.

    >>> told(0.5), told(b"a"), told(7)
    ({'float': '0x1.0000000000000p-1'}, {'bytes': 'YQ=='}, 7)
    """
    if isinstance(value, float):
        return {"float": value.hex()}
    return {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def heard(value: Any) -> Scalar:
    """The value again.

    >>> [heard(told(value)) for value in (0.5, b"a", 7, None, "x")]
    [0.5, b'a', 7, None, 'x']
    """
    if not isinstance(value, dict):
        return value
    return float.fromhex(value["float"]) if "float" in value else base64.b64decode(value["bytes"])
