"""Answers of an endpoint for embeddings, read and checked: their order, their number, and every vector in them."""

import base64
import binascii
from typing import Any

import msgspec
import numpy as np

from muisti.core.embedding.vectors import Vectors
from muisti.core.model.decoding import decoder


class BadAnswer(Exception):
    """The answer is not what was asked for. The message quotes nothing of it."""


class _Item(msgspec.Struct):
    index: int
    embedding: list[float] | str


class _Answer(msgspec.Struct):
    data: list[_Item]


def read(body: bytes, count: int, dimensions: int | None) -> Vectors:
    """Return the unit-length vectors of an answer for `count` texts, in the order of the texts.

    `dimensions` is how many components each must have; None takes any number that all have.

    Raises:
        BadAnswer: it is no such answer, or a vector lacks components, is not finite, or has no length.
    """
    try:
        items = decoder(_Answer).decode(body).data
    except msgspec.MsgspecError:
        raise BadAnswer("answered with something that is no list of embeddings") from None
    if sorted(item.index for item in items) != list(range(count)):
        raise BadAnswer(f"answered with {len(items)} embeddings, or other places than those of the {count} texts")
    rows = [_row(item.embedding) for item in sorted(items, key=lambda item: item.index)]
    wanted = dimensions if dimensions is not None else len(rows[0])
    for row in rows:
        if len(row) != wanted or not wanted:
            raise BadAnswer(f"answered with vectors of {len(row)} dimensions instead of {wanted}")
    return _normal(np.stack(rows))


def _row(embedding: list[float] | str) -> Any:
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
        except (binascii.Error, ValueError):
            raise BadAnswer("answered with embeddings that are not base64 of 32-bit numbers") from None
    return np.array(embedding, np.float64)


def _normal(rows: np.ndarray) -> Vectors:
    """Return rows of length 1."""
    wide = rows.astype(np.float64)
    with np.errstate(over="ignore"):  # then the length is infinite, and refused
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise BadAnswer("answered with vectors that are not finite, or have no length")
    return (wide / lengths).astype(np.float32)
