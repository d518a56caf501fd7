"""Names of symbols in queries, recognised by their shape."""

import re

_SYMBOL = re.compile(r"[^\W\d][\w$]*+(?:(?:\.|::|#)[^\W\d][\w$]*+)*+(?:\(\))?")
_SHAPE = re.compile(r"[.:#(_]|[a-z\d][A-Z]|[A-Z]{2}[a-z]")  # what words of prose do not have


def symbol_of(text: str) -> str | None:
    """Return the symbol that a query names by its shape, None for other queries.

    >>> symbol_of("HTTPClient::send()"), symbol_of("max_size"), symbol_of("send"), symbol_of("who is Ann?")
    ('HTTPClient.send', 'max_size', None, None)
    """
    text = text.strip().strip("`")
    if not _SYMBOL.fullmatch(text) or not _SHAPE.search(text):
        return None
    return text.removesuffix("()").replace("::", ".").replace("#", ".")
