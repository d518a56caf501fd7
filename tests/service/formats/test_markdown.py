"""Notes in Markdown: what is written is read again, and what is strange in them is refused with its line."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.service.formats.markdown import (
    CARRIED,
    TIMES,
    BadFrontMatter,
    memory_of,
    note_of,
    path_of,
    read_fields,
    write,
)

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | NUMBERS
    | WORDS
    | st.sampled_from(["yes", "no", "0x10", "1e3", "012", "12:30", "~", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
MEMORIES = st.fixed_dictionaries({"id": st.uuids().map(str), "content": WORDS.filter(str.strip)}, optional={
    **{name: WORDS for name in ("category", "key", "author", "reason", "source")},
    **{name: st.just("2026-05-01T12:00:00.123456Z") for name in TIMES}, "type": st.sampled_from(["procedure", "guard"]),
    "tags": st.lists(WORDS, min_size=1, max_size=3),
    "derived_from": st.lists(st.uuids().map(str), min_size=1, max_size=2),
    "metadata": st.dictionaries(WORDS, VALUES, min_size=1, max_size=4),
})  # fmt: skip


@given(MEMORIES)
def test_a_note_is_the_memory_that_it_was_written_from(memory: dict[str, Any]):
    fields, text = read_fields(note_of(memory))
    assert fields["muisti"] == memory["id"]
    assert memory_of(fields, text) == {name: memory[name] for name in ("content", *CARRIED) if name in memory}
    folder, name = path_of(memory)
    assert all(part and "/" not in part and not part.startswith(".") for part in (folder or "x", name))


@given(st.dictionaries(WORDS, VALUES, max_size=4), WORDS)
def test_front_matter_is_read_as_it_was_written(fields: dict[str, Any], text: str):
    assert read_fields(write(fields, text)) == (fields, text)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("a: 1\nb: [", 4),  # torn: seen at its end
        ("a: &x [1]\nb: *x", 2), ("a: 1\nb: !!python/object:os.system {}", 3), ("- a\n- b", 2),
        ("[" * 100 + "]" * 100, 2), ("a: \x07", 2), ("x: " + "y" * 70_000, 1),
    ],
)  # fmt: skip
def test_what_is_no_front_matter_is_refused_with_its_line(fields: str, line: int):
    with pytest.raises(BadFrontMatter) as refused:
        read_fields(f"---\n{fields}\n---\nText")
    assert refused.value.line == line


def test_a_text_between_rules_is_a_text():
    assert read_fields("Text\n---\na: 1\n---\n") == ({}, "Text\n---\na: 1\n---\n")
    assert read_fields("---\nno end") == ({}, "---\nno end")
    assert read_fields("---\r\na: yes\r\n---\r\nText") == ({"a": "yes"}, "Text")
