"""Read e-mail: the headers that people see, all bodies, calendar entries, and attachments of formats that are read."""

import binascii
import io
import re
from collections.abc import Callable, Iterator
from email import policy
from email.header import decode_header
from email.message import EmailMessage
from email.parser import BytesParser
from typing import cast
from zipfile import BadZipFile

from msgspec import structs

from muisti.core.model.unreadable import Broken, Encrypted, FileTooLarge, Unreadable
from muisti.core.model.values import is_blank
from muisti.core.parsing.containers import ENCRYPTED, inside_container
from muisti.core.parsing.detect import HEAD, STREAMED, Format, detect, signature_of
from muisti.core.parsing.encodings import text_of
from muisti.core.parsing.formats import READERS
from muisti.core.parsing.formats.calendar import calendar_pieces
from muisti.core.parsing.formats.html import decode, markup_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block, heading
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.zipped import format_of_zip

_SHOWN = ("From", "To", "Cc", "Date")
_FROM_LINE = re.compile(rb"^From \S+ .*\r?\n(?=[A-Za-z][A-Za-z0-9-]*+:)", re.MULTILINE)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_COUNTED = re.compile(
    rb"(\d{1,10})[ \t]*\r?\n(?=[A-Za-z][A-Za-z0-9-]*+:)"
)  # bytes of the message, as Apple Mail keeps it
_BLANKS = re.compile(r"\s+")
PARTS = 1_000  # of one message
HEADER = 10_000  # characters of a header
DEPTH = 20  # of messages and parts inside each other
ATTACHED = 100  # attachments of a file that are read
NAMED = 20  # attachments that a note lists
_ALTERNATIVES = frozenset({"text/plain", "text/html", "text/enriched", "text/watch-html", "text/x-amp-html"})
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_LOCKED = re.compile(r"-----BEGIN PGP MESSAGE-----[^-]*+(?:-----END PGP MESSAGE-----)?")
_UUENCODED = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n((?:[!-`][ -`]{0,61}\n)*+)`?\n?end$", re.MULTILINE)
_FOR_PROGRAMS = frozenset({"text/css", "text/javascript", "application/javascript", "application/x-javascript"})
_MEDIA = ("image/", "audio/", "video/", "font/")
_NEVER = frozenset({Format.ZIP, Format.TAR, Format.COMPRESSED, Format.UNKNOWN, Format.PNG, Format.JPEG, Format.TIFF})


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of one message. Raises `Broken` for what has no headers."""
    counted = _COUNTED.match(data)
    message = _parsed(bytes(data if counted is None else data[counted.end() : counted.end() + int(counted[1])]))
    if not message.keys():
        raise Broken("The file has no headers of an e-mail.")
    yield from message_pieces(message, options, about)


def message_pieces(message: EmailMessage, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a message that is parsed already."""
    about.title = _header(message, "Subject") or None
    reader = _Reading(options, about)
    yield from reader.message(message, None)
    reader.end()


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
    reader = _Reading(options, about)
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        if number > options.max_pages:
            raise FileTooLarge(f"The mailbox has more than {options.max_pages:,} messages.")
        about.pages = number
        message = _QUOTED_FROM.sub(rb"\1", bytes(data[start.end() : end]))
        yield from reader.message(_parsed(message), number)
    reader.end()


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
    """Return a header in words. Bytes that are not ASCII, and words of an encoding that is unknown, are guessed."""
    try:
        shown = str(message.get(name, ""))
    except (ValueError, TypeError, IndexError, AttributeError, LookupError):  # of damaged ones
        shown = ""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    if "\ufffd" in shown or "=?" in shown or (raw and not shown) or not str(raw).isascii():
        shown = _words(str(raw)) or shown
    return " ".join(shown.split())


def _words(raw: str) -> str:
    try:
        parts = decode_header(raw)
    except (ValueError, TypeError, LookupError):
        parts = [(raw, None)]
    return "".join(
        text_of(part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape"), charset)
        for part, charset in parts
    )


class _Reading:
    """The reading of the messages of one file, which counts what is attached to all of them."""

    def __init__(self, options: Options, about: About) -> None:
        self._options, self._about = options, about
        self._attached = 0
        self._unread: list[str] = []

    def end(self) -> None:
        """Name the attachments that were not read."""
        if self._unread:
            more = f" and {len(self._unread) - NAMED} more" if len(self._unread) > NAMED else ""
            listed = ", ".join(self._unread[:NAMED])
            self._about.note(f"The text of attachments was not read: {listed}{more}.")

    def message(self, message: EmailMessage, number: int | None, depth: int = 0) -> Iterator[Piece]:
        """Yield the headers, the bodies and the attachments of a message."""
        outline = Outline()
        long = dict.fromkeys(name for name, value in message.raw_items() if len(value) >= HEADER)
        if long:
            self._about.note(f"The first {HEADER:,} characters were read of the headers {', '.join([*long][:20])}.")
        if subject := _header(message, "Subject"):
            yield heading(outline, 1, subject, number)
        shown = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
        if shown:
            yield block(outline, "\n".join(shown), page=number)
        names: list[str] = []
        for count, part in enumerate(_leaves(message)):
            if count == PARTS:
                self._about.note(f"A message has more than {PARTS:,} parts; the first were read.")
                break
            yield from self._part(part, outline, number, depth, names)
        if names:
            yield block(outline, "Attachments: " + ", ".join(names), "note", number)

    def _part(
        self, part: EmailMessage, outline: Outline, number: int | None, depth: int, names: list[str]
    ) -> Iterator[Piece]:
        kind = part.get_content_type()
        if kind in ("message/rfc822", "message/global"):
            if depth >= DEPTH:
                self._unread.append(f"messages inside {DEPTH} others")
                return
            for inner in cast(list[EmailMessage], part.get_payload() if part.is_multipart() else []):
                yield from self.message(inner, number, depth + 1)
            return
        data = _payload(part)
        if kind in _SEALED:
            names.append(name := _file_name(part) or "smime.p7m")
            self._unread.append(f"{name} (sealed by S/MIME)")
        elif kind == "message/external-body":
            address = part.get_param("url") or part.get_param("name") or part.get_param("access-type") or ""
            self._unread.append(f"one that is kept elsewhere ({str(address)[:200]})")
        elif kind in ("text/calendar", "application/ics"):
            yield from calendar_pieces(text_of(data, part.get_content_charset(), self._about.note), outline, number)
        elif kind.startswith(("text/", "message/", "multipart/")) and kind != "text/rtf" and _is_inline(part):
            yield from self._text(part, data, outline, number, depth)
        elif kind not in _SIGNATURES and kind != "application/pgp-encrypted":
            name = _file_name(part)
            names.append(name or f"one without a name ({kind})")
            form = detect(data[:HEAD], name, kind)
            if form in STREAMED and kind.startswith(_MEDIA):
                form = Format.UNKNOWN
            yield from self._attachment(names[-1], form, data, number, depth)

    def _text(
        self, part: EmailMessage, data: bytes, outline: Outline, number: int | None, depth: int
    ) -> Iterator[Piece]:
        charset, note = part.get_content_charset() or self._options.encoding, self._about.note
        if part.get_content_type() in _FOR_PROGRAMS:
            self._about.leave_out("Text for programs in a message (CSS, JavaScript)", len(data.split()))
            return
        if part.get_content_type() in ("text/html", "text/enriched"):  # both write tags
            yield from markup_pieces(decode(data, self._about, label=charset), outline, self._about, number)
            return
        text = text_of(data, charset, note).replace("\r\n", "\n")
        if str(part.get_param("format", "")).lower() == "flowed":
            text = _unflowed(text, str(part.get_param("delsp", "")).lower() == "yes")
        text = self._unlocked(text)
        files = [(found[1], found[2]) for found in _UUENCODED.finditer(text)]
        text = _UUENCODED.sub("", text).strip()
        if text:
            yield block(outline, text, page=number)
        if part.get_content_type() == "message/partial":
            note(f"A message is one part of {part.get_param('total') or 'several'}, and the others are elsewhere.")
        for name, lines in files:
            data = b"".join(map(_uudecoded, lines.splitlines()))
            yield from self._attachment(name.strip(), detect(data[:HEAD], name.strip()), data, number, depth)

    def _unlocked(self, text: str) -> str:
        """Return a text without what PGP encrypts, which is named."""
        text, count = _LOCKED.subn("", text)
        if count:
            self._about.note("Text that is encrypted by PGP was not read.")
        return text

    def _attachment(self, name: str, form: Format, data: bytes, number: int | None, depth: int) -> Iterator[Piece]:
        """Yield what is in an attachment under a heading with its name, where its format is read."""
        self._attached += 1
        if form is Format.EMAIL and depth < DEPTH:
            yield from self.message(_parsed(data), number, depth + 1)
            return
        about = About(more_time=self._about.more_time)
        titled = False
        try:
            reader = _reader_of(data, form) if self._attached <= ATTACHED else None
            if reader is None or _LOCKED.match(data[:HEAD].decode("latin-1")):
                what = signature_of(data[:HEAD]) if reader is None else "encrypted by PGP"
                self._unread.append(f"{name} ({what})" if what else name)
                return
            for piece in reader(data, self._options, about):
                if not titled and not is_blank(piece.text):
                    titled = True
                    yield heading(Outline(), 1, name, number)
                yield structs.replace(piece, page=number, headings=(name, *piece.headings))
        except Unreadable as refusal:
            about.note(str(refusal))
        if not titled and not about.notes:
            about.note("it holds no text.")
        for note in about.notes:
            self._about.note(f"Attachment {name}: {note}")


Read = Callable[[bytes, Options, About], Iterator[Piece]]


def _reader_of(data: bytes, form: Format) -> Read | None:
    """Return the reader of an attachment; None for pictures, archives and what is not read."""
    if form is Format.ZIP:
        try:
            form = format_of_zip(io.BytesIO(data))
        except BadZipFile as error:
            raise Broken("Its ZIP directory is missing or damaged.") from error
    elif form is Format.UNKNOWN and (held := inside_container(data[:HEAD], io.BytesIO(data))) is not None:
        if held[0] == ENCRYPTED:
            raise Encrypted("it is encrypted.")
        form = held[0] if isinstance(held[0], Format) else form
    if form in _NEVER or not data.strip():
        return None
    return _plain if form in STREAMED else READERS[form]()


def _plain(data: bytes, options: Options, about: About) -> Iterator[Piece]:
    if text := text_of(data, options.encoding, about.note).strip():
        yield block(Outline(), text)


def _uudecoded(line: str) -> bytes:
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        return b""


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yield the parts of a message that hold something, of alternatives the plain text, else the last one.

    An alternative may be a group of parts, such as a page with its pictures, or text beside a calendar entry.
    """
    waiting = [message]
    while waiting:
        part = waiting.pop()
        kind = part.get_content_type()
        if not part.is_multipart() or part.get_content_maintype() == "message":
            yield part
            continue
        inner = cast(list[EmailMessage], part.get_payload())
        waiting += reversed(_chosen(inner) if kind == "multipart/alternative" else inner)


def _chosen(alternatives: list[EmailMessage]) -> list[EmailMessage]:
    """Return the alternative that is read, and those beside it which say something else."""
    texts = [one for one in alternatives if one.get_content_type() in _ALTERNATIVES or one.is_multipart()]
    plain = [one for one in texts if one.get_content_type() == "text/plain" and _payload(one).strip()]
    pages = [one for one in texts if one.get_content_type() == "text/html"]
    best = next(iter([*plain, *pages, *texts[-1:]]), None)
    passed = {id(one) for one in texts}
    more = [leaf for one in texts if one is not best and one.is_multipart() for leaf in _leaves(one)]
    more = [leaf for leaf in more if leaf.get_content_type() not in _ALTERNATIVES or _file_name(leaf)]
    return [*([best] if best is not None else []), *(one for one in alternatives if id(one) not in passed), *more]


def _payload(part: EmailMessage) -> bytes:
    if part.is_multipart():
        inner = cast(list[EmailMessage], part.get_payload())
        return b"\n".join(one.as_bytes() for one in inner[:PARTS])
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _file_name(part: EmailMessage) -> str:
    try:
        name = part.get_filename() or ""
    except (ValueError, TypeError, IndexError, AttributeError, LookupError):
        return ""
    return _BLANKS.sub(" ", _words(name) if "=?" in name or not name.isascii() else name).strip()[:200]


def _is_inline(part: EmailMessage) -> bool:
    """Return whether a part is text that mail programs show within the message, such as text after a picture."""
    return not part.is_attachment() and not _file_name(part)


def _unflowed(text: str, deleting: bool) -> str:
    """Return text whose lines that end in a space go on in the next one, of the same depth of quotation."""
    out: list[str] = []
    quoted, open_ = "", False
    for line in text.split("\n"):
        bare = line.lstrip(">")
        marks, bare = line[: len(line) - len(bare)], bare.removeprefix(" ")
        flows = bare.endswith(" ") and bare != "-- "
        kept = bare[:-1] if flows and deleting else bare
        if open_ and marks == quoted and bare != "-- ":
            out[-1] += kept
        else:
            out.append(f"{marks} {kept}" if marks else kept)
        quoted, open_ = marks, flows
    return "\n".join(line.rstrip() for line in out)
