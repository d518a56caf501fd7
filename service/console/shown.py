"""Values as people read them: times, numbers, ids, Markdown. Pure functions, which templates use as filters."""

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from muisti.service.console.markdown import safe_html


def base64_of(content: bytes) -> str:
    return base64.b64encode(content).decode()


def time(at: str | None, missing: str = "never") -> Markup:
    """Return a time element. A script writes it in the reader's zone; its title keeps the UTC.

    >>> str(time("2026-05-01T12:00:00.5+00:00"))
    '<time datetime="2026-05-01T12:00:00.500Z" title="2026-05-01 12:00:00 UTC">2026-05-01 12:00 UTC</time>'
    """
    if at is None:
        return Markup("<span>{}</span>").format(missing)
    read = datetime.fromisoformat(at).astimezone(UTC)
    return Markup('<time datetime="{}" title="{} UTC">{} UTC</time>').format(
        read.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        read.strftime("%Y-%m-%d %H:%M:%S"),
        read.strftime("%Y-%m-%d %H:%M"),
    )


def number(value: float) -> str:
    """Return a number with thousands separated.

    >>> number(1234567), number(0.25)
    ('1,234,567', '0.25')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"


def size(value: int) -> str:
    """Return a number of bytes with its unit.

    >>> size(900), size(1_500_000)
    ('900 B', '1.5 MB')
    """
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= bytes_:
            return f"{value / bytes_:.1f} {unit}"
    return f"{value} B"


def plural(value: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> plural(1, "memory", "memories"), plural(2000, "space")
    ('1 memory', '2,000 spaces')
    """
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def short(text: str, length: int = 80) -> str:
    """Return the first line of a text, cut at a number of characters.

    >>> short("one two three", 8)
    'one two…'
    """
    line = text.strip().partition("\n")[0]
    cut = line if len(line) <= length else line[: length - 1].rstrip() + "…"
    return cut if cut.endswith("…") or len(text.strip()) == len(line) else cut + " …"


def segment(name: str) -> str:
    """Return a name as one segment of a path.

    >>> segment("a/b c")
    'a%2Fb%20c'
    """
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


def markdown(text: str) -> Markup:
    """Return a text in Markdown as HTML without anything that acts."""
    return Markup(safe_html(text))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "time": time,
    "number": number,
    "size": size,
    "plural": plural,
    "short": short,
    "segment": segment,
    "markdown": markdown,
}
