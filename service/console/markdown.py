"""Markdown of strangers as HTML that does nothing: no scripts, styles, forms, frames, and no images."""

import re
from functools import cache

import nh3
from markdown_it import MarkdownIt

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
