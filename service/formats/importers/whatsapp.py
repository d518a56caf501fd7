"""WhatsApp: an exported chat, a text with a line for each message and the lines that it goes on in.

Lines begin with a date, a time and a name in the form of the phone's language: `[1.3.2025, 09:30:00] Ann: Text` or
`3/1/25, 9:30 AM - Ann: Text`. In which order day, month and year are, all dates of the chat tell together.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import PurePosixPath

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, Unreadable, clean
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import NOTE_MAX, Part, Source

LINE_MAX = 1 << 20  # bytes
LOOKED_AT = 20  # lines of a file, to recognise it
ORDERS = ("dmy", "mdy", "ymd")
BUDDHIST = 2400  # years above count from 543 years earlier
_HIDDEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_HEAD = re.compile(
    r"(?P<open>\[)?\s?(?P<one>\d{1,4})[./-]\s?(?P<two>\d{1,2})[./-]\s?(?P<three>\d{1,4})\.?(?P<before>[^\d\[\]]{0,12}?)"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?(?P<after>[^\d\]:]{0,12}?)"
    r"(?(open)\]\s|\s[-–]\s)(?P<rest>.*)",
    re.DOTALL,
)
_AFTERNOON = re.compile(r"p\.?\s?m\b|nachm|μ\.?μ|下午|晚上|오후|午後|م|บ่าย|đêm|ch\b", re.IGNORECASE)
_MORNING = re.compile(r"a\.?\s?m\b|vorm|π\.?μ|上午|凌晨|早上|오전|午前|ص|sa\b", re.IGNORECASE)
_SAID = re.compile(r"(?P<name>[^:\n]{1,100}):(?:\s|$)(?P<text>.*)", re.DOTALL)
_MEDIA = re.compile(r"<[^<>\n]{1,80}>|[^\n]{1,120}\.(?:jpe?g|png|webp|gif|mp4|opus|pdf|vcf)\s\([^()\n]{1,40}\)")
_NAME = re.compile(
    r".*whatsapp.{0,30}?(?:\s(?:with|mit|con|avec|com|met|med|con el|-)\s|-\s)(?P<name>.+)", re.IGNORECASE
)


def detect(shape: Shape) -> bool:
    if shape.is_many:
        return any(map(_is_chat, shape.members))
    if shape.kind not in ("text", "array"):
        return False
    lines = [line for line in shape.text.splitlines() if line.strip()][:LOOKED_AT]
    heads = [found for line in lines if (found := _HEAD.fullmatch(_HIDDEN.sub("", line))) is not None]
    return bool(heads) and _HIDDEN.sub("", lines[0]) == heads[0].string and any(map(_said, heads))


def _is_chat(name: str) -> bool:
    path = PurePosixPath(name.lower())
    return path.suffix == ".txt" and (path.stem == "_chat" or "whatsapp" in path.stem)


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and not part.name.endswith(".txt"):
                yield Skipped(part.name, "no messages")
                continue
            title = _title(part.name if not part.name.endswith("_chat.txt") else source.name)
            conversation = Conversation(id=f"whatsapp {title}", session="whatsapp", title=title)
            yield from with_object(conversation, _messages(part, conversation))


def _title(name: str) -> str:
    stem = PurePosixPath(name).stem
    found = _NAME.fullmatch(stem)
    return (found["name"] if found else stem).strip() or stem


def _said(head: re.Match[str]) -> re.Match[str] | None:
    """Return the name and the text of a line; None for a notice, which has no name."""
    return _SAID.fullmatch(head["rest"])


@dataclass(slots=True)
class _Line:
    """A message, with the lines that it goes on in."""

    place: str
    head: re.Match[str]
    is_note: bool  # the program says it, and marks it so
    lines: list[str] = field(default_factory=list[str])
    size: int = 0  # characters of the lines


def _lines(part: Part) -> Iterator[_Line | Failed]:
    held: _Line | None = None
    number = 0
    with part.open() as file:
        while data := file.readline(LINE_MAX):
            number += 1
            place = f"{part.name}:{number}"
            try:
                line = data.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                yield Failed(place, "is no UTF-8")
                continue
            bare = _HIDDEN.sub("", line)
            head = _HEAD.fullmatch(bare)
            if head is not None:
                if held is not None:
                    yield held
                held = _Line(place, head, ": \u200e" in line)
            elif held is not None:
                held.size += len(bare)
                if held.size > NOTE_MAX:
                    raise Unreadable(f"{held.place}: the message is longer than {NOTE_MAX:,} characters")
                held.lines.append(bare)
            elif bare.strip():
                yield Failed(place, "is before the first message")
    if held is not None:
        yield held


def _messages(part: Part, conversation: Conversation) -> Iterator[Found]:
    order = _order(part)
    seen: Counter[str] = Counter()
    turn = 0
    for line in _lines(part):
        found = line if isinstance(line, Failed) else _message(line, order, conversation, turn + 1, seen)
        turn += isinstance(found, Item)
        yield found


def _message(line: _Line, order: str, conversation: Conversation, turn: int, seen: Counter[str]) -> Found:
    said = _said(line.head)
    if said is None or line.is_note:
        return Skipped(line.place, "a notice of the chat")
    text = "\n".join([said["text"], *line.lines]).strip()
    if not text:
        return Skipped(line.place, "no text")
    if _MEDIA.fullmatch(text):
        return Skipped(line.place, "a file")
    at, author = _moment(line.head, order), said["name"].strip().removeprefix("~").strip()
    if at is None:
        return Failed(line.place, "its date does not exist")
    digest = sha256(clean(f"{at}\n{author}\n{text}").encode()).hexdigest()[:32]
    seen[digest] += 1
    external = f"{conversation.id}\n{digest}" + (f"\n{seen[digest]}" if seen[digest] > 1 else "")
    found = message(conversation, turn, external, line.place, "user", text, at, {})
    return replace(found, memory={**found.memory, "author": author})


def _order(part: Part) -> str:
    """Return the order of day, month and year: that in which the dates exist and go back in time least often."""
    last: dict[str, datetime | None] = dict.fromkeys(ORDERS)
    wrong: Counter[str] = Counter()
    is_american = False
    for line in _lines(part):
        if isinstance(line, Failed):
            continue
        is_american = is_american or ("/" in line.head[0][:12] and _AFTERNOON.search(line.head["after"]) is not None)
        for order in ORDERS:
            moment = _moment(line.head, order)
            before = last[order]
            wrong[order] += 1_000 if moment is None else before is not None and (moment - before).days < 0
            last[order] = moment or before
    preferred: Sequence[str] = ("mdy", "dmy", "ymd") if is_american else ORDERS
    return min(preferred, key=lambda order: wrong[order])


def _moment(head: re.Match[str], order: str) -> datetime | None:
    """Return the time of a message, None when there is no such day. The chat names no time zone: it counts as UTC."""
    parts = dict(zip(order, (head["one"], head["two"], head["three"]), strict=True))
    if len(parts["y"]) == 3 or max(len(parts["d"]), len(parts["m"])) > 2:
        return None
    year, hour = int(parts["y"]), int(head["hour"])
    year += 2000 if year < 100 else -543 if year > BUDDHIST else 0
    half = head["before"] + " " + head["after"]
    if _AFTERNOON.search(half) and hour < 12:
        hour += 12
    elif _MORNING.search(half) and hour == 12:
        hour = 0
    try:
        return datetime(
            year, int(parts["m"]), int(parts["d"]), hour, int(head["minute"]), int(head["second"] or 0), tzinfo=UTC
        )
    except ValueError:
        return None
