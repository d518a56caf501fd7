"""Documentation in HTML: headings and their sections, terms and their definitions, sentences and their paragraphs."""

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from deploy.model.prose import inverse_cloze, neighbours
from deploy.model.values import Kind, Pair, Passage
from deploy.model.words import is_english, one_line, sentences

HEADINGS = {"h1", "h2", "h3", "h4", "h5"}
BLOCKS = {"p", "li", "dd", "dt", "td", "th", "pre", "div", "blockquote", "tr", "table"} | HEADINGS
SILENT = {"script", "style", "nav", "header", "footer", "head", "button", "svg", "noscript"}
FOREIGN = re.compile(rb"<html[^>]*\slang=[\"'](?!en)", re.IGNORECASE)
LONGEST_SECTION = 1_500  # characters
PAGES_PER_PACKAGE = 1_200


@dataclass(slots=True)
class Section:
    heading: str
    paragraphs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Page:
    sections: list[Section] = field(default_factory=list)
    definitions: list[tuple[str, str]] = field(default_factory=list)


class _Reader(HTMLParser):
    """Collects a page's blocks of text. Text inside `SILENT` elements is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._text: list[str] = []
        self._block = ""
        self._silent = 0
        self._term = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self._silent += 1
        elif tag in BLOCKS:
            self._close()
            self._block = tag

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in BLOCKS:
            self._close()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._text.append(data)

    def _close(self) -> None:
        text = one_line("".join(self._text)).rstrip("¶#")
        self._text.clear()
        block, self._block = self._block, "div"
        if not text:
            return
        if block in HEADINGS:
            self.page.sections.append(Section(text.lstrip("0123456789. ")))
        elif block == "dt":
            self._term = text
        elif block == "dd" and self._term:
            self.page.definitions.append((self._term, text))
            self._add(text)
            self._term = ""
        elif block != "pre":
            self._add(text)

    def _add(self, text: str) -> None:
        if self.page.sections and len(text) > 20:
            self.page.sections[-1].paragraphs.append(text)


def read_page(html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.page


def html_pairs(files: Iterable[tuple[str, bytes]], chance: random.Random) -> tuple[list[Pair], list[Passage]]:
    """Pairs of a documentation package, and its paragraphs as passages to ask about."""
    pages = [data for name, data in files if _is_read(name, data)]
    chance.shuffle(pages)
    pairs: list[Pair] = []
    passages: list[Passage] = []
    seen: set[str] = set()
    for data in pages[:PAGES_PER_PACKAGE]:
        page = read_page(data.decode(errors="replace"))
        for paragraph in _fresh_paragraphs(page, seen):
            parts = sentences(paragraph)
            if len(parts) >= 2:
                passages.append(Passage(tuple(parts[:8])))
        pairs += _page_pairs(page, seen, chance)
    return pairs, passages


def _is_read(name: str, data: bytes) -> bool:
    """Return whether a page is read: it declares English or no language, and is no index."""
    return (
        name.endswith((".html", ".html.en"))
        and not FOREIGN.search(data)
        and not any(
            part in name
            for part in ("genindex", "py-modindex", "search.html", "/_sources/", "/_modules/", "all.html", "matrix")
        )
    )


def _fresh_paragraphs(page: Page, seen: set[str]) -> Iterator[str]:
    for section in page.sections:
        section.paragraphs = [text for text in section.paragraphs if text not in seen and is_english(text)]
        seen.update(section.paragraphs)
        yield from (text for text in section.paragraphs if len(text) > 80)


def _page_pairs(page: Page, seen: set[str], chance: random.Random) -> Iterator[Pair]:
    title = page.sections[0].heading if page.sections else ""
    for section in page.sections:
        body = " ".join(section.paragraphs)
        key = f"# {section.heading} {body[:80]}"
        if len(body) < 80 or len(section.heading) < 4 or key in seen:
            continue
        seen.add(key)
        asked = f"{section.heading} {title}" if title != section.heading and chance.random() < 0.3 else section.heading
        yield Pair(Kind.DOCUMENTATION, asked[:200], body[:LONGEST_SECTION])
        yield from inverse_cloze(section.paragraphs, Kind.DOCUMENTATION, chance)
        yield from neighbours(section.paragraphs, Kind.DOCUMENTATION, chance)
    for term, meaning in page.definitions:
        if 3 < len(term) < 120 and len(meaning) > 40 and f"{term}: {meaning}" not in seen and is_english(meaning):
            seen.add(f"{term}: {meaning}")
            yield Pair(Kind.DOCUMENTATION, term, meaning[:LONGEST_SECTION])
