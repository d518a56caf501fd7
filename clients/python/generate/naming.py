"""Names that clients give to operations and their parameters."""

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any

METHODS = ("get", "put", "post", "patch", "delete")


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield method, path and operation of everything that can be called."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def name_of(operation: Mapping[str, Any]) -> str:
    """Return the name of the client's method for an operation.

    >>> name_of({"operationId": "listMemories"})
    'list_memories'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", operation["operationId"]).lower()


def argument(name: str) -> str:
    """Return the name of the method's argument for a parameter.

    >>> [argument(name) for name in ("If-Match", "Muisti-Min-Seq", "from")]
    ['if_match', 'muisti_min_seq', 'from_']
    """
    found = re.sub(r"\W", "_", name).lower()
    return f"{found}_" if keyword.iskeyword(found) else found
