"""Base of the results, and their decoding."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from . import _html as html

if TYPE_CHECKING:
    from ._wire import Reply

SHOWN = 60  # characters of a text that `repr` shows
R = TypeVar("R", bound="Result")
_describing = Lock()


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Part of an answer of the API, with its fields as attributes. Fields that this version does not know are ignored.

    Times are aware datetimes.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them: times as RFC 3339, parts as dictionaries."""
        return msgspec.to_builtins(self)

    def _repr_html_(self) -> str:
        """Return the fields as a table, for a notebook."""
        return html.table_of(self)

    def __repr__(self) -> str:
        found = ((name, getattr(self, name)) for name in self.__struct_fields__)
        shown = (f"{name}={_shown(value)}" for name, value in found if value not in (None, "", [], {}))
        return f"{type(self).__name__}({', '.join(shown)})"


class Rows(list[R]):
    """A list of results, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return html.rows_of(self)


def _shown(value: Any) -> str:
    if isinstance(value, str) and len(value) > SHOWN:
        return repr(f"{value[:SHOWN]}…")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list) and len(value) > 3:
        return f"[{', '.join(map(_shown, value[:3]))}, … {len(value)} in all]"
    return repr(value)


def read(body: bytes, kind: type[R]) -> R:
    """Decode an answer."""
    return _decoder(kind).decode(body)


def read_any(reply: Reply, kinds: Sequence[type[R]]) -> Any:
    """Decode an answer as the first type that it fits; None when it is empty, its JSON when no type is given."""
    if not reply.body or not kinds:
        return reply.data
    for kind in kinds[:-1]:
        with suppress(msgspec.ValidationError):
            return read(reply.body, kind)
    return read(reply.body, kinds[-1])


@cache
def _decoder(kind: type[R]) -> msgspec.json.Decoder[R]:
    with _describing:  # two threads that describe one type to msgspec 0.22 at the same moment can crash it
        return msgspec.json.Decoder(kind)
