"""Read e-mail: the headers that people see, the text of the body, and the names of attachments."""

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from typing import cast

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import Broken, FileTooLarge
from muisti.core.parsing.encodings import text_of
from muisti.core.parsing.formats.html import markup_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block, heading

_SHOWN = ("From", "To", "Cc", "Date")
_FROM_LINE = re.compile(rb"^From \S+ .*\r?\n(?=[A-Za-z][A-Za-z0-9-]*+:)", re.MULTILINE)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
PARTS = 1_000  # of one message
HEADER = 10_000  # characters of a header
DEPTH = 20  # of messages and parts inside each other


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of one message. Raises `Broken` for what has no headers."""
    message = _parsed(bytes(data))
    if not message.keys():
        raise Broken("The file has no headers of an e-mail.")
    about.title = _header(message, "Subject") or None
    yield from _message(message, None, about)


def read_mailbox(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of all messages of a mailbox. The page of a piece is the number of its message."""
    about.pages = 0
    starts = [
        found
        for found in _FROM_LINE.finditer(data)
        if found.start() == 0 or data[found.start() - 2 : found.start()] in (b"\n\n", b"\r\n")
    ]
    if not starts:
        raise Broken("The file has no messages of a mailbox.")
    ends = [found.start() for found in starts[1:]] + [len(data)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        if number > options.max_pages:
            raise FileTooLarge(f"The mailbox has more than {options.max_pages:,} messages.")
        about.pages = number
        message = _QUOTED_FROM.sub(rb"\1", bytes(data[start.end() : end]))
        yield from _message(_parsed(message), number, about)


class _Bounded(policy.EmailPolicy):
    """A policy that keeps the start of a long header, since parsing addresses and parameters takes quadratic time."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return the name and the value of a header."""
        name, value = super().header_source_parse(sourcelines)
        if len(value) < HEADER:
            return name, value
        start = value[:HEADER]
        whole = start[: max(start.rfind(";"), start.rfind(","), 0)] or start  # half a parameter makes the parser fail
        return name, whole.ljust(HEADER)


_POLICY = _Bounded()


def _parsed(data: bytes) -> EmailMessage:
    return cast(EmailMessage, BytesParser(policy=_POLICY).parsebytes(data))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, TypeError, IndexError, AttributeError):  # the parser of headers raises them for damaged ones
        return ""


def _message(message: EmailMessage, number: int | None, about: About, depth: int = 0) -> Iterator[Piece]:
    outline = Outline()
    long = dict.fromkeys(name for name, value in message.raw_items() if len(value) >= HEADER)
    if long:
        about.notes.append(f"The first {HEADER:,} characters were read of the headers {', '.join([*long][:20])}.")
    if subject := _header(message, "Subject"):
        yield heading(outline, 1, subject, number)
    shown = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
    if shown:
        yield block(outline, "\n".join(shown), page=number)
    if (body := message.get_body(("plain", "html"))) is not None:
        yield from _text(body, outline, number)
    attached: list[str] = []
    for part in _attachments(message):
        if part.get_content_type() == "message/rfc822" and depth < DEPTH:
            for inner in cast(list[EmailMessage], part.get_payload() if part.is_multipart() else []):
                yield from _message(inner, number, about, depth + 1)
        elif _is_inline(part):
            yield from _text(part, outline, number)
        else:
            attached.append(part.get_filename() or f"one without a name ({part.get_content_type()})")
    if attached:
        yield block(outline, "Attachments: " + ", ".join(attached), "note", number)
        about.notes.append("The text of attachments was not read: " + ", ".join(attached[:20]) + ".")


def _attachments(message: EmailMessage) -> Iterator[EmailMessage]:
    if message.is_multipart():
        for part, _ in zip(message.iter_attachments(), range(PARTS), strict=False):
            yield part


def _is_inline(part: EmailMessage) -> bool:
    """Return whether a part is text that mail programs show within the message, such as text after a picture."""
    shown = part.get_content_type() in ("text/plain", "text/html")
    return shown and not part.is_attachment() and part.get_filename() is None


def _text(body: MIMEPart, outline: Outline, number: int | None) -> Iterator[Piece]:
    payload = body.get_payload(decode=True)
    text = text_of(payload if isinstance(payload, bytes) else b"", body.get_content_charset())
    if body.get_content_type() == "text/html":
        yield from markup_pieces(text, outline, number)
    elif text.strip():
        yield block(outline, text.replace("\r\n", "\n").strip(), page=number)
