"""Time zones: names of the IANA database, and offsets such as `+09:00`."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from muisti.core.model.errors import InvalidInput
from muisti.core.support.regex import regex

NAME_MAX = 64
_NAME = regex(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_OFFSET = regex(r"([+-])(\d\d):([0-5]\d)")
_DAY_HOURS = 24


def zone_named(name: str | None) -> tzinfo:
    """Return the zone of a name or an offset; UTC for None.

    Raises:
        InvalidInput: there is no such zone.

    >>> zone_named("+09:00").utcoffset(None), zone_named(None).tzname(None)
    (datetime.timedelta(seconds=32400), 'UTC')
    """
    if name is None or name == "UTC":
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset is not None and int(offset[2]) < _DAY_HOURS:
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(ahead if offset[1] == "+" else -ahead)
    if len(name) <= NAME_MAX and _NAME.fullmatch(name):
        with suppress(KeyError, OSError, ValueError):  # unknown; a folder of zones; a file that is none
            return ZoneInfo(name)
    raise InvalidInput.at("$.time_zone", f"{name[:NAME_MAX]!r} is no time zone; give Europe/Helsinki or +02:00")


def zone_of(name: str | None, reference: datetime | None) -> str | None:
    """Return the stated zone, once it is known to exist; else the offset of a stated moment, if it has one.

    Raises:
        InvalidInput: there is no such zone.

    >>> zone_of(None, datetime.fromisoformat("2026-05-01T08:00:00+09:00")), zone_of("UTC", None)
    ('+09:00', 'UTC')
    """
    if name is not None:
        zone_named(name)
    elif reference is not None and reference.utcoffset():
        return reference.isoformat()[-6:]
    return name
