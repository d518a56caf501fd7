"""The request headers that carry meaning, read once and strictly."""

import re
from typing import Annotated

import msgspec
from litestar.params import HeaderParameter

from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import RequestKey, Seq
from muisti.service.schemas.errors import HttpError

SEQ = "Muisti-Seq"
MIN_SEQ = "Muisti-Min-Seq"
FRESHNESS = "Muisti-Freshness"
REPLAYED = "Idempotent-Replayed"
FLAGS = "Muisti-Flags"

_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"\s*{_TAG}(?:\s*,\s*{_TAG})*\s*")
_FRESHNESS = re.compile(r"session|strong|bounded\s*;\s*max-age=(?P<age>[0-9]{1,7})(?P<unit>ms|s)")
_SEQ = re.compile(r"(?P<epoch>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(?P<number>[0-9]{1,18})")

IfMatchHeader = Annotated[
    str | None,
    HeaderParameter(
        name="If-Match", description="ETags, one of which must be the memory's; or `*`. Another version gives 412."
    ),
]
IfNoneMatchHeader = Annotated[
    str | None, HeaderParameter(name="If-None-Match", description="ETags; when the memory still has one, 304.")
]
IdempotencyKeyHeader = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        description="1 to 255 visible ASCII characters. A repetition gets the first answer, and nothing is done twice.",
    ),
]


class _Every(frozenset[str]):
    """The set of all tags, which `*` names."""

    def __contains__(self, _: object) -> bool:
        return True


def etags(header: str) -> frozenset[str]:
    """Return the tags in a list of ETags, weak ones with their W/; every tag for `*`.

    >>> sorted(etags('"a.1", W/"b.2"'))
    ['"a.1"', 'W/"b.2"']

    Raises:
        HttpError: this is no list of tags.
    """
    if header.strip() == "*":
        return _Every()
    if not _TAGS.fullmatch(header):
        raise HttpError("malformed_header", 'an ETag looks like "{id}.{version}", with its quotation marks; or send *')
    return frozenset(re.findall(_TAG, header))


def is_known(header: str | None, etag: str) -> bool:
    """Tell whether If-None-Match says that the caller has this version."""
    if header is None:
        return False
    known = etags(header)
    return etag in known or f"W/{etag}" in known


def not_with_key(key: RequestKey | None) -> None:
    """Raise `InvalidInput` when a batch that is not atomic comes with an Idempotency-Key."""
    if key is not None:
        raise InvalidInput.at(
            "$.atomic",
            "false and an Idempotency-Key exclude each other: several writes cannot be replayed as one; "
            "send atomic=true, or on_conflict=reject without the key",
        )


def min_seq(header: str) -> Seq:
    """Read the point of history that Muisti-Min-Seq names.

    Raises:
        HttpError: the header is no such point.
    """
    return point(header, MIN_SEQ)


def point(text: str, name: str) -> Seq:
    """Read a point of history from `text`, the value of the header or parameter `name`.

    Raises:
        HttpError: the text is no such point.
    """
    match = _SEQ.fullmatch(text)
    if match is None:
        raise HttpError("malformed_header", f"{name} looks like {{epoch}}:{{number}}, as {SEQ} gave it")
    return Seq(match["epoch"], int(match["number"]))


class Freshness(msgspec.Struct, frozen=True):
    """Freshness of an answer. `strong`: ask the primary. `max_age`: seconds that the answer may be behind."""

    strong: bool = False
    max_age: float = 0.0


def freshness(header: str | None) -> Freshness:
    """Read Muisti-Freshness.

    >>> freshness("bounded;max-age=500ms").max_age, freshness("strong").strong
    (0.5, True)

    Raises:
        HttpError: the header has none of the three forms.
    """
    if header is None:
        return Freshness()
    match = _FRESHNESS.fullmatch(header.strip())
    if match is None:
        raise HttpError("malformed_header", f"{FRESHNESS} is session, strong, or bounded;max-age=500ms (or 2s)")
    age = match["age"]
    return Freshness(
        strong=header.strip() == "strong",
        max_age=0.0 if age is None else int(age) / (1000 if match["unit"] == "ms" else 1),
    )
