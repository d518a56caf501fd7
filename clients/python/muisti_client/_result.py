"""Base of the results, and their decoding."""

from datetime import datetime
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import msgspec

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

    def __repr__(self) -> str:
        found = ((name, getattr(self, name)) for name in self.__struct_fields__)
        shown = (f"{name}={_shown(value)}" for name, value in found if value not in (None, "", [], {}))
        return f"{type(self).__name__}({', '.join(shown)})"


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


@cache
def _decoder(kind: type[R]) -> msgspec.json.Decoder[R]:
    with _describing:  # two threads that describe one type to msgspec 0.22 at the same moment can crash it
        return msgspec.json.Decoder(kind)
