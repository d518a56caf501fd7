"""Read the entries of a calendar in an e-mail: what, when, where and who."""

import re
from collections.abc import Iterator

from muisti.core.parsing.parsed import Outline, block
from muisti.core.parsing.pieces import Piece

_EVENT = {"SUMMARY": "", "DTSTART": "Starts", "DTEND": "Ends", "DUE": "Due", "LOCATION": "Place",
          "ORGANIZER": "Organiser", "ATTENDEE": "Attendee", "DESCRIPTION": "", "STATUS": "Status", "COMMENT": "Comment",
          "RRULE": "Repeats"}  # fmt: skip
_ENTRIES = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_PROPERTY = re.compile(r"([A-Z-]+)((?:;[^:\"]*(?:\"[^\"]*\"[^:\"]*)*)?):(.*)")
_COMMON_NAME = re.compile(r";CN=\"?([^;\":]*)", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_ESCAPED = re.compile(r"\\(.)")


def calendar_pieces(text: str, outline: Outline, number: int | None) -> Iterator[Piece]:
    """Yield the entries of a calendar: what, when, where and who."""
    lines: list[str] = []
    inside: list[str] = []
    for line in _FOLD.sub("", text).splitlines():
        found = _PROPERTY.fullmatch(line.strip())
        if found is None:
            continue
        name, parameters, value = found[1], found[2], _ESCAPED.sub(_unescaped, found[3])
        if name == "BEGIN":
            inside.append(value)
        elif name == "END":
            ended = inside.pop() if inside else ""
            if ended in _ENTRIES and lines:
                yield block(outline, "\n".join(lines), page=number)
                lines = []
        elif name in _EVENT and inside and inside[-1] in _ENTRIES and value.strip():
            person = _COMMON_NAME.search(parameters)
            shown = f"{person[1]} <{value[7:]}>" if person and value.lower().startswith("mailto:") else value
            lines.append(f"{_EVENT[name]}: {_moment(shown)}" if _EVENT[name] else value)
    if lines:
        yield block(outline, "\n".join(lines), page=number)


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] in "nN" else found[1]


def _moment(value: str) -> str:
    """Return a moment of a calendar in the usual form.

    >>> _moment("20240503T093000Z"), _moment("20240503"), _moment("Room 4")
    ('2024-05-03 09:30 UTC', '2024-05-03', 'Room 4')
    """
    found = _MOMENT.fullmatch(value)
    if found is None:
        return value
    time = f" {found[4]}:{found[5]}{' UTC' if found[6] else ''}" if found[4] else ""
    return f"{found[1]}-{found[2]}-{found[3]}{time}"
