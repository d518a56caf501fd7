"""Markdown of strangers as HTML that does nothing: no scripts, styles, forms, frames, and no images."""

from functools import cache

import nh3
from markdown_it import MarkdownIt

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "s", "del"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "code": {"class"}}
SCHEMES = {"http", "https", "mailto"}


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])


def safe_html(text: str) -> str:
    """Return the text as HTML. Raw HTML is shown as text; images become their description.

    >>> safe_html("**bold** <script>alert(1)</script>")
    '<p><strong>bold</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\\n'
    >>> safe_html("[x](javascript:alert)")
    '<p>[x](javascript:alert)</p>\\n'
    """
    return nh3.clean(
        _reader().render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        set_tag_attribute_values={"pre": {"tabindex": "0"}},  # it scrolls, so the keyboard has to reach it
        link_rel="noopener noreferrer nofollow",
    )
