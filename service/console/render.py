"""Draws pages from templates: values are escaped, names that are missing are errors."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import nh3
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from muisti.service.console.commands import typed
from muisti.service.console.filter_form import FIELDS

# Values as people read them: times, numbers, ids, Markdown. Pure functions, which templates use as filters

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "s", "del"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "code": {"class"}}
SCHEMES = {"http", "https", "mailto"}
CELLS = 4  # of a table, for each character of a text
# Each sign of a text that is escaped makes nh3 look at the rest of the text, up to the next tag or comment.
_PIECES = re.compile(r"<[^<>]*+>|(?:[^<>&]|&[^<>&;]*+;?+){1,1000}+")
_TAG_MAX = 4_000  # characters; a longer tag keeps its name only


@cache
def _reader(*more: str) -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["strikethrough", *more])


def safe_html(text: str) -> str:
    """Return the text as HTML, in time that its length bounds. Raw HTML is shown as text, images as their description.

    >>> safe_html("**bold** <script>alert(1)</script>")
    '<p><strong>bold</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\\n'
    >>> safe_html("[x](javascript:alert)")
    '<p>[x](javascript:alert)</p>\\n'
    """
    reader = _reader("table") if _cells(text) <= CELLS * len(text) else _reader()
    return nh3.clean(
        _PIECES.sub(_cut, reader.render(text)),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        set_tag_attribute_values={"pre": {"tabindex": "0"}},  # it scrolls, so the keyboard has to reach it
        link_rel="noopener noreferrer nofollow",
    )


def _cells(text: str) -> int:
    """Return at least the number of cells of the tables of a text: a short row gets all the columns of its table."""
    lines = text.splitlines()
    return len(lines) * max((line.count("|") for line in lines if not line.strip("|:->\t ")), default=0)


def _cut(piece: re.Match[str]) -> str:
    """Return a piece of HTML: a long text ends in a comment, which nh3 removes; a long tag loses its attributes."""
    found = piece[0]
    if found.startswith("<"):
        return found if len(found) < _TAG_MAX else f"{found.partition(' ')[0]}>"
    return f"{found}<!---->" if len(found) >= 1000 else found


def time(at: str | None, missing: str = "never") -> Markup:
    """Return a time element. A script writes it in the reader's zone; its title keeps the UTC.

    >>> str(time("2026-05-01T12:00:00.5+00:00"))
    '<time datetime="2026-05-01T12:00:00.500Z" title="2026-05-01 12:00:00 UTC">2026-05-01 12:00 UTC</time>'
    """
    if at is None:
        return Markup("<span>{}</span>").format(missing)
    read = datetime.fromisoformat(at).astimezone(UTC)
    return _time(read, f"{read:%Y-%m-%d %H:%M} UTC")


def _time(at: datetime, said: str, mark: str = "") -> Markup:
    exact = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    element = Markup('<time datetime="{}" title="{} UTC"{}>{}</time>')
    return element.format(exact, f"{at:%Y-%m-%d %H:%M:%S}", Markup(mark), said)


_SPANS = ((365 * 86_400, "y"), (30 * 86_400, "mo"), (86_400, "d"), (3_600, "h"), (60, "min"))


def ago(at: str, now: datetime | None = None) -> Markup:
    """Return a time element that says how long ago it was; its title is the date in UTC.

    >>> str(ago("2026-05-01T12:00:00Z", datetime(2026, 5, 3, 13, tzinfo=UTC)))
    '<time datetime="2026-05-01T12:00:00.000Z" title="2026-05-01 12:00:00 UTC" data-ago>2 d ago</time>'
    """
    read = datetime.fromisoformat(at).astimezone(UTC)
    seconds = ((now or datetime.now(UTC)) - read).total_seconds()
    said = next((f"{int(seconds // each)} {unit} ago" for each, unit in _SPANS if seconds >= each), "just now")
    return _time(read, said, " data-ago")


def number(value: float) -> str:
    """Return a number with thousands separated.

    >>> number(1234567), number(0.25), number(9500.0)
    ('1,234,567', '0.25', '9,500')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


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


TITLES: Mapping[str, str] = {one.name: one.title for one in FIELDS} | {"url": "Address"}
_NAME = re.compile(r"[a-z]\w*")


def label(path: str) -> str:
    """Return the field that a path of the API names, as forms call it.

    >>> label("$.valid_to"), label("$.tags[2]"), label("$.events"), label("$")
    ('Valid until', 'Tags', 'Events', 'The form')
    """
    name = next(iter(_NAME.findall(path)), "the form")
    return TITLES.get(name) or name.replace("_", " ").capitalize()


def markdown(text: str) -> Markup:
    """Return a text in Markdown as HTML without anything that acts."""
    return Markup(safe_html(text))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "time": time,
    "ago": ago,
    "number": number,
    "size": size,
    "plural": plural,
    "short": short,
    "segment": segment,
    "label": label,
    "typed": typed,
    "markdown": markdown,
}


MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATIC = "/console/static"


@dataclass(frozen=True, slots=True)
class View:
    """A page to draw: a template, the values that it shows, and the block that htmx gets instead of the page."""

    template: str
    model: Mapping[str, Any] = field(default_factory=dict[str, Any])
    block: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the console as it is sent. `url` changes with its content; `integrity` is its SHA-384 (SRI)."""

    content: bytes
    media: str
    url: str
    integrity: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return the files of the console by their name, those of other projects as `vendor/NAME`."""
    root = resources.files("muisti.service.console").joinpath("static")
    found = {one.name: one for one in root.iterdir() if one.is_file()}
    found |= {f"vendor/{one.name}": one for one in root.joinpath("vendor").iterdir()}
    return {name: _asset(name, one.read_bytes()) for name, one in found.items() if PurePosixPath(name).suffix in MEDIA}


def _asset(name: str, content: bytes) -> Asset:
    mark = hashlib.sha256(content).hexdigest()[:12]
    integrity = "sha384-" + base64.b64encode(hashlib.sha384(content).digest()).decode()
    return Asset(content, MEDIA[PurePosixPath(name).suffix], f"{STATIC}/{name}?v={mark}", integrity)


@cache
def environment() -> Environment:
    """Return the templates, with the functions and filters that they may use."""
    made = Environment(
        loader=PackageLoader("muisti.service.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= FILTERS
    made.globals["asset"] = lambda name: assets()[name]
    made.policies["json.dumps_function"] = json.dumps
    return made


def warm() -> None:
    """Read all files and compile all templates, so that no request does it on the event loop."""
    assets()
    for name in environment().list_templates():
        environment().get_template(name)


def draw(view: View, shared: Mapping[str, Any], *, part: bool) -> str:
    """Return the HTML of a view; with `part` its block alone, if it names one."""
    template = environment().get_template(view.template)
    values = {**shared, **view.model}
    if part and view.block is not None:
        return "".join(template.blocks[view.block](template.new_context(values)))
    return template.render(values)
