"""Read MSG, the messages of Outlook, as the e-mails that they were."""

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime

from muisti.core.parsing.encodings import codec_of, text_of
from muisti.core.parsing.formats import rtf
from muisti.core.parsing.formats.compound import Compound
from muisti.core.parsing.formats.mail import HEADER, message_pieces
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.pieces import Piece

DEPTH = 20  # of messages inside each other
_SUBJECT, _BODY, _PAGE, _RTF = 0x0037, 0x1000, 0x1013, 0x1009
_SENDER, _ADDRESS, _SMTP, _TO, _CC = 0x0C1A, 0x0C1F, 0x5D01, 0x0E04, 0x0E03
_SENT, _RECEIVED, _PAGE_CODE, _CODE = 0x0039, 0x0E06, 0x3FDE, 0x3FFD
_LONG_NAME, _NAME, _DATA, _TYPE, _SHOWN = 0x3707, 0x3704, 0x3701, 0x370E, 0x3001
_PEOPLE = ("From", "To", "Cc")
_WIDE, _NARROW, _BYTES, _STORAGE = "001f", "001e", "0102", "000d"
_OCTETS = ("application", "octet-stream")
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


class _Policy(EmailPolicy):
    """A policy that gives headers of people as they are: Outlook lists names without addresses."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the value of a header."""
        return value if name in _PEOPLE else super().header_fetch_parse(name, value)


_POLICY = _Policy()


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a message. Raises what readers of its attachments raise."""
    message = _Message(Compound(data, about.note), "", options, about).mail()
    yield from message_pieces(message, options, about)


class _Message:
    """A message in a compound file, or one that is attached to another."""

    def __init__(self, container: Compound, storage: str, options: Options, about: About, depth: int = 0) -> None:
        self._container, self._storage, self._depth = container, storage, depth
        self._options, self._about = options, about
        self._numbers = self._properties()
        page = struct.unpack("<I", self._numbers.get(_PAGE_CODE, self._numbers.get(_CODE, bytes(8)))[:4])[0]
        self._codec = options.encoding or codec_of(f"cp{page}")

    def _properties(self) -> dict[int, bytes]:
        """Return the properties of a fixed size."""
        data = self._container.stream(self._path("__properties_version1.0"))
        start = 32 if not self._storage else 24
        return {data[at + 2] | data[at + 3] << 8: data[at + 8 : at + 16] for at in range(start, len(data) - 15, 16)}

    def _path(self, name: str, inside: str = "") -> str:
        return "/".join(part for part in (self._storage, inside, name) if part)

    def _text(self, number: int, inside: str = "") -> str:
        name = f"__substg1.0_{number:04x}"
        if wide := self._container.stream(self._path(name + _WIDE, inside)):
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        return text_of(self._container.stream(self._path(name + _NARROW, inside)), self._codec).rstrip("\0")

    def _bytes(self, number: int, inside: str = "") -> bytes:
        return self._container.stream(self._path(f"__substg1.0_{number:04x}{_BYTES}", inside))

    def mail(self) -> EmailMessage:
        """Return the message as an e-mail."""
        mail = EmailMessage(_POLICY)
        sender, address = self._text(_SENDER), self._text(_SMTP) or self._text(_ADDRESS)
        headers = {
            "Subject": self._text(_SUBJECT),
            "From": f"{sender} <{address}>" if "@" in address and address != sender else sender or address,
            "To": self._text(_TO),
            "Cc": self._text(_CC),
            "Date": self._date(),
        }
        for name, value in headers.items():
            if value := " ".join(value.split())[: HEADER - 1]:
                mail.set_raw(name, value)
        self._add_body(mail)
        for name in self._container.below(self._storage):
            if name.startswith("__attach_version1.0_"):
                self._attach(mail, name)
        return mail

    def _date(self) -> str:
        for number in (_SENT, _RECEIVED):
            if ticks := int.from_bytes(self._numbers.get(number, b""), "little"):
                try:
                    return format_datetime(_EPOCH + timedelta(microseconds=ticks // 10))
                except OverflowError:
                    continue
        return ""

    def _add_body(self, mail: EmailMessage) -> None:
        """Add the text; else the page; else what the text with formats says."""
        if (text := self._text(_BODY)).strip():
            mail.set_content(_sendable(text))
        elif (page := self._bytes(_PAGE) or self._text(_PAGE).encode("utf-8", "replace")).strip():
            mail.set_content(page, "text", "html")
        elif packed := self._bytes(_RTF):
            about = About()
            mail.set_content(_sendable("".join(one.text for one in rtf.read(unpacked(packed), self._options, about))))
            for note in about.notes:
                self._about.note(note)

    def _attach(self, mail: EmailMessage, inside: str) -> None:
        storage = self._path(f"__substg1.0_{_DATA:04x}{_STORAGE}", inside)
        if f"{storage}/__properties_version1.0" in self._container and self._depth < DEPTH:
            inner = _Message(self._container, storage, self._options, self._about, self._depth + 1)
            mail.add_attachment(inner.mail())
            return
        name = self._text(_LONG_NAME, inside) or self._text(_NAME, inside) or self._text(_SHOWN, inside)
        kind = self._text(_TYPE, inside).lower().partition("/")
        main, sub = (kind[0], kind[2]) if kind[0].isalpha() and kind[2].isascii() and kind[2] else _OCTETS
        mail.add_attachment(
            self._bytes(_DATA, inside), main, sub, filename=" ".join(_sendable(name).split()) or "unnamed"
        )


def _sendable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def unpacked(data: bytes) -> bytes:
    """Return RTF that Outlook packed: literals, and references to the last 4,096 bytes."""
    if data[8:12] == b"MELA":
        return data[16:]
    window = bytearray(4096)
    window[: len(_DICTIONARY)] = _DICTIONARY
    out, write, at = bytearray(), len(_DICTIONARY), 16
    while at < len(data):
        flags = data[at]
        at += 1
        for bit in range(8):
            if flags >> bit & 1:
                reference = int.from_bytes(data[at : at + 2])
                at += 2
                start = reference >> 4
                if start == write or at > len(data):
                    return bytes(out)
                for step in range((reference & 15) + 2):
                    byte = window[(start + step) % 4096]
                    window[write] = byte
                    write = (write + 1) % 4096
                    out.append(byte)
            elif at < len(data):
                window[write] = data[at]
                write = (write + 1) % 4096
                out.append(data[at])
                at += 1
    return bytes(out)
