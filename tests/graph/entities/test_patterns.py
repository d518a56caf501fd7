"""Identifiers, symbols, quoted titles and times by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.recogniser import forms, times, titles
from muisti.core.model.choices import EntityKind


@pytest.mark.parametrize(("text", "name", "kind"), [
    ("see https://example.org/a?b=c.", "https://example.org/a?b=c", "identifier"),
    ("in core/text/when.py there", "core/text/when.py", "identifier"),
    ("the file setup.cfg is", "setup.cfg", "identifier"),
    ("under ~/notes/today.", "~/notes/today", "identifier"),
    ("since v2.11 it works", "v2.11", "identifier"),
    ("needs numpy 2.4.6 now", "2.4.6", "identifier"),
    ("fixed ABC-123 today", "ABC-123", "identifier"),
    ("closes #4711", "#4711", "identifier"),
    ("in commit d7e1cce9", "d7e1cce9", "identifier"),
    ("write to ann@example.org please", "ann@example.org", "identifier"),
    ("call get_user_name first", "get_user_name", "symbol"),
    ("the getUserName hook", "getUserName", "symbol"),
    ("os.path.join() joins", "os.path.join()", "symbol"),
    ("with `Engine.seen_by` one", "Engine.seen_by", "symbol"),
    ("pass --dry-run to it", "--dry-run", "symbol"),
])  # fmt: skip
def test_what_has_a_form_is_found_whole(text: str, name: str, kind: EntityKind):
    assert [(text[one.start : one.stop], one.kind) for one in forms(text, 0, len(text))] == [(name, kind)]


@pytest.mark.parametrize(
    "text",
    ["an iPhone and/or 3/4 of it", "COVID-19 in UTF-8", "at 10.30 for 1.5 hours", "a well-known word", "`x = y + 1`"],
)
def test_what_only_looks_so_is_not_found(text: str):
    assert [*forms(text, 0, len(text))] == []


@pytest.mark.parametrize(("text", "found"), [
    ('I loved "Becoming Nicole" a lot', ["Becoming Nicole"]),
    ("watched “The Lord of the Rings” again", ["The Lord of the Rings"]),
    ('"Brave" by Sara is nice', ["Brave"]),
    ("our group, 'Night Owls', met", ["Night Owls"]),
    ('"Wow" she said', []),
    ('She said "Turn on the light." to me', []),
    ('he is "so funny"', []),
    ("it's Ann's and the dogs' own", []),
    ('we read "1984" by Orwell, and "12.5" is a size', ["1984"]),
    ('<text font-family="Avant Garde" x="193.99">', []),
])  # fmt: skip
def test_quoted_titles(text: str, found: list[str]):
    assert [text[one.start : one.stop] for one in titles(text, 0, len(text))] == found


def test_times_are_those_that_are_certain():
    text = "May we meet on Friday or in June 2025?"
    assert [text[one.start : one.stop] for one in times(text, 0, len(text))] == ["Friday", "June 2025"]


@given(st.text(max_size=60), st.integers(0, 30))
def test_places_are_inside_the_stretch(text: str, start: int):
    stop = max(start, len(text) - 3)
    for one in (*forms(text, start, stop), *titles(text, start, stop)):
        assert start <= one.start < one.stop <= stop
