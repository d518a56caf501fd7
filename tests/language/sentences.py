"""Sentences and their words, without inline code, quotations and the addresses of links."""

import re
from collections.abc import Iterator

# Links keep their text, HTML comments nothing.
_REDUCED = (
    (re.compile(r"<!--.*?-->", re.DOTALL), ""),
    (re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL), "CODE"),
    (re.compile(r"\"[^\"]*\"|“[^”]*”", re.DOTALL), "QUOTE"),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"https?://\S+[^\s.,;:)]"), "URL"),
)
# Short forms that no sentence ends with, and those that may end one.
_NEVER_LAST = {"e.g.", "i.e.", "cf.", "vs.", "approx.", "no.", "fig.", "p.", "pp.", "dr.", "mr.", "mrs.", "st."}
_MAY_BE_LAST = {"etc.", "…", "..."}
_END = re.compile(r"[.!?…]+[\"')\]”*_]*(?=\s)")
_INITIAL = re.compile(r"[A-Z]\.")


def plain(text: str) -> str:
    """Return the text with one word in place of each inline code and quotation; lines keep their numbers."""
    for pattern, word in _REDUCED:
        text = pattern.sub(lambda found, word=word: _in_place(found, word), text)
    return text


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence of a plain text, with the offset of its first letter."""
    start = 0
    for end in _END.finditer(text):
        if _ends(text, start, end):
            yield from _stripped(text, start, end.end())
            start = end.end()
    yield from _stripped(text, start, len(text))


def words(sentence: str) -> list[str]:
    """Return the parts between spaces that have a letter or a digit."""
    return [word for word in sentence.split() if any(character.isalnum() for character in word)]


def _in_place(found: re.Match[str], word: str) -> str:
    lines = found[0].count("\n") - found.expand(word).count("\n")
    return found.expand(word) + "\n" * lines


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    before = text[start : end.end()].split()
    last = before[-1].lstrip("(['\"“*_") if before else ""
    if last.lower() in _NEVER_LAST or _INITIAL.fullmatch(last):
        return False
    open_ended = last.lower() in _MAY_BE_LAST or last.endswith(("…", "..."))
    return not (open_ended and text[end.end() :].lstrip()[:1].islower())


def _stripped(text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
    sentence = text[start:stop]
    if sentence.strip():
        yield start + len(sentence) - len(sentence.lstrip()), sentence.strip()
