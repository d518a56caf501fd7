"""Read calendars and contacts: what, when, where and who. E-mails hold some too."""

import quopri
import re
from collections.abc import Iterator

from muisti.core.parsing.encodings import text_of
from muisti.core.parsing.parsed import About, Options, Outline, block, heading
from muisti.core.parsing.pieces import Piece

# Names of properties, as they are shown; those that need no name are empty.
_SHOWN = {
    "SUMMARY": "", "FN": "", "DESCRIPTION": "", "NOTE": "", "DTSTART": "Starts", "DTEND": "Ends", "DUE": "Due",
    "LOCATION": "Place", "ORGANIZER": "Organiser", "RRULE": "Repeats", "EXDATE": "Except", "RDATE": "Also",
    "N": "Name", "ORG": "Organisation", "TEL": "Telephone", "ADR": "Address", "BDAY": "Birthday", "EMAIL": "E-mail",
    "URL": "URL", "GEO": "Position",
}  # fmt: skip
_AROUND = frozenset({"VCALENDAR", "VTIMEZONE", "STANDARD", "DAYLIGHT", "VALARM"})  # parts that are no entries
_TITLES = ("SUMMARY", "FN")
# Properties that only programs use.
_UNSEEN = frozenset({
    "UID", "DTSTAMP", "SEQUENCE", "PRODID", "VERSION", "CALSCALE", "METHOD", "CREATED", "LAST-MODIFIED", "TRANSP",
    "REV", "TZ", "CLIENTPIDMAP", "MAILER", "SORT-STRING", "PROFILE", "LABEL", "REQUEST-STATUS", "CLASS",
})  # fmt: skip
_PROPERTY = re.compile(r"(?:[\w-]++\.)?([A-Za-z0-9-]++)((?:;(?:[^:\";]|\"[^\"]*+\")*+)*+):(.*)", re.DOTALL)
_COMMON_NAME = re.compile(r";CN=\"?([^;\":]*)", re.IGNORECASE)
_ZONE = re.compile(r";TZID=\"?/?([^;\":]*)", re.IGNORECASE)
_TYPE = re.compile(r";(?:TYPE=)?\"?(home|work|cell|fax|pager)\b", re.IGNORECASE)
_CHARSET = re.compile(r";CHARSET=\"?([^;\":]*)", re.IGNORECASE)
_QUOTED = re.compile(r";(?:ENCODING=)?QUOTED-PRINTABLE(?:;|$)", re.IGNORECASE)
_ENCODED = re.compile(r";(?:ENCODING=\"?(?:B|BASE64)\"?|BASE64)(?:;|$)", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_ESCAPED = re.compile(r"\\(.)")
_NAMED = 20  # properties that a note lists


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the entries of a calendar, or contacts, each under a heading."""
    reading = _Reading(text_of(bytes(data), options.encoding, about.note))
    for lines in reading.entries():
        outline = Outline()
        if reading.title:
            yield heading(outline, 1, reading.title)
        if lines:
            yield block(outline, "\n".join(lines))
    about.title = reading.name
    if reading.pictures:
        about.note(f"Pictures, sounds and keys in the file were left out: {reading.pictures}.")
    if reading.unread:
        listed = ", ".join([*reading.unread][:_NAMED])
        about.note(f"Properties of programs were left out: {listed}.")


def calendar_pieces(text: str, outline: Outline, number: int | None) -> Iterator[Piece]:
    """Yield the entries of a calendar in an e-mail."""
    reading = _Reading(text)
    for lines in reading.entries():
        title = [reading.title] if reading.title else []
        yield block(outline, "\n".join([*title, *lines]), page=number)


class _Reading:
    """The reading of a calendar. `title` is that of the last entry, `name` that of the calendar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.title = ""
        self.name: str | None = None
        self.pictures = 0
        self.unread: dict[str, None] = {}

    def entries(self) -> Iterator[list[str]]:
        """Yield the lines of each entry."""
        lines: list[str] = []
        inside: list[str] = []
        self.title = ""
        for line in _lines(self._text):
            found = _PROPERTY.fullmatch(line.strip())
            if found is None:
                continue
            name, parameters, value = found[1].upper(), found[2], found[3]
            if name == "BEGIN":
                inside.append(value.strip().upper())
            elif name == "END":
                ended = inside.pop() if inside else ""
                if ended not in _AROUND and inside in ([], ["VCALENDAR"]) and (lines or self.title):
                    yield lines
                    lines, self.title = [], ""
            elif inside:
                lines += self._shown(inside[-1], name, parameters, value)
        if lines or self.title:
            yield lines

    def _shown(self, inside: str, name: str, parameters: str, value: str) -> Iterator[str]:
        """Yield the line of a property, where people read it."""
        if _ENCODED.search(parameters) or value.startswith("data:"):
            self.pictures += 1
            return
        text = _decoded(value, parameters).strip()
        if inside == "VCALENDAR":
            self.name = text if name in ("X-WR-CALNAME", "NAME") else self.name
            if name in ("X-WR-CALDESC", "DESCRIPTION") and text:
                yield text
        elif inside == "VALARM" and name in ("SUMMARY", "DESCRIPTION") and text:
            yield f"Reminder: {text}"
        elif inside in _AROUND:
            return
        elif name.startswith("X-") and text:
            self.unread[name] = None
        elif name in _TITLES and not self.title:
            self.title = " ".join(text.split())
        elif name not in _UNSEEN and text.strip("; ,"):
            label = _SHOWN.get(name, name.capitalize().replace("-", " "))
            shown = _with_parameters(name, text, parameters)
            yield f"{label}: {shown}" if label else shown


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of properties, of which long ones are folded, or broken where they are quoted."""
    parts: list[str] = []
    for line in _FOLD.sub("", text).splitlines():
        goes_on = line.endswith("=") and bool(parts or _QUOTED.search(line.partition(":")[0]))
        parts.append(line[:-1] if goes_on else line)
        if not goes_on:
            yield "".join(parts)
            parts = []
    yield "".join(parts)


def _decoded(value: str, parameters: str) -> str:
    if _QUOTED.search(parameters):
        charset = _CHARSET.search(parameters)
        value = text_of(quopri.decodestring(value.encode("utf-8", "replace")), charset[1] if charset else None)
    return _ESCAPED.sub(_unescaped, value)


def _with_parameters(name: str, text: str, parameters: str) -> str:
    """Return the text of a property with what its parameters say to people: a name, a time zone, a kind of number."""
    if (person := _COMMON_NAME.search(parameters)) and text.lower().startswith("mailto:"):
        return f"{person[1]} <{text[7:]}>"
    if name in ("N", "ADR", "ORG"):
        return ", ".join(part.strip() for part in text.split(";") if part.strip())
    if (zone := _ZONE.search(parameters)) and _MOMENT.fullmatch(text):
        return f"{_moment(text)} {zone[1]}"
    if kinds := [*dict.fromkeys(kind.lower() for kind in _TYPE.findall(parameters))]:
        return f"{text} ({', '.join(kinds)})"
    return _moment(text)


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
