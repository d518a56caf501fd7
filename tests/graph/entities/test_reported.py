"""Names that a model tells, placed in the text: exactly, without overlaps, and never where they are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.recogniser import WINDOW, Reported, mentions, windows
from muisti.core.model.choices import MENTION_SOURCES

TEXT = """Ann met Ann Lee at Acme Corp. Annie stayed in Oslo, and Ann left.
```
Bob = Acme Corp
```
Bob wrote get_name()."""
WORDS = ["Ann", "Ann Lee", "Acme", "Acme Corp", "Oslo", "Bob", "Zoe", "東京", "C++", "", " ", "a", "met", "get_name"]
NAMES = st.lists(st.builds(Reported, st.sampled_from(WORDS) | st.text(max_size=4), st.just("person")), max_size=8)
TEXTS = st.lists(st.sampled_from([*WORDS, ". ", " ", "\n", "```\n", "`", "| "]) | st.text(max_size=4), max_size=20)


def found(text: str, *reported: tuple[str, str], speakers: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    every, _ = mentions(text, [Reported(name, kind) for name, kind in reported], speakers)  # type: ignore[arg-type]
    return [(text[one.start : one.stop], one.kind, one.source) for one in every]


def test_a_name_counts_wherever_it_stands_the_longest_first():
    assert found(TEXT, ("Ann", "person"), ("Ann Lee", "person"), ("Acme Corp", "organisation"), ("Oslo", "place")) == [
        ("Ann", "person", "endpoint"), ("Ann Lee", "person", "endpoint"), ("Acme Corp", "organisation", "endpoint"),
        ("Oslo", "place", "endpoint"), ("Ann", "person", "endpoint"), ("get_name()", "symbol", "rule"),
    ]  # fmt: skip


def test_what_stands_nowhere_is_dropped_and_counted():
    reported = [
        Reported(name, "person") for name in ("Zoe", "ann", "Anni", "", "  ", "!", "Ann  Lee", "x" * 300, " Oslo ")
    ]
    every, dropped = mentions(TEXT, reported, ())
    assert [TEXT[one.start : one.stop] for one in every if one.source == "endpoint"] == ["Oslo"]
    assert dropped == 8


def test_code_is_not_read_and_rules_come_first():
    text = "Ann wrote this.\n```python\nsecret = load_everything(path)\n```\nBob read it."
    assert [text[start:stop] for start, stop in windows(text)] == ["Ann wrote this.", "Bob read it."]
    assert [one for one in found(TEXT, ("Bob", "person"), ("get_name", "product")) if one[0] != "get_name()"] == [
        ("Bob", "person", "endpoint")
    ]
    assert found("Mel saw Mel's car", ("Mel", "organisation"), speakers=("Mel",))[0] == ("Mel", "person", "speaker")


@pytest.mark.parametrize(
    ("text", "name"), [("私は東京に行った", "東京"), ("ไปกรุงเทพมา", "กรุงเทพ"), ("I use C++ daily", "C++")]
)
def test_names_of_other_scripts_and_with_signs_are_found(text: str, name: str):
    assert (name, "other", "endpoint") in found(text, (name, "other"))


@given(TEXTS.map("".join), NAMES)
def test_mentions_are_in_order_apart_and_spelled_as_reported(text: str, reported: list[Reported]):
    every, dropped = mentions(text, reported, ["Ann"])
    assert 0 <= dropped <= len(reported)
    spelled = {one.name.strip() for one in reported}
    for one, after in zip(every, [*every[1:], None], strict=False):
        assert 0 <= one.start < one.stop <= len(text)
        assert after is None or one.stop <= after.start
        assert one.source in MENTION_SOURCES
        assert one.source != "endpoint" or text[one.start : one.stop] in spelled


@given(TEXTS.map("".join), st.integers(1, 400))
def test_windows_are_bounded_and_apart(text: str, times: int):
    bounds = windows(text * times)
    assert all(0 < stop - start <= WINDOW for start, stop in bounds)
    assert all(one[1] <= other[0] for one, other in zip(bounds, bounds[1:], strict=False))
