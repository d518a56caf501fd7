"""Changes to JSON that a person wrote: the value is as asked, and every other sign is where it was."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.service.connect.jsonc import Unreadable, append, drop, put, read
from tests.examples import few

COMMENTED = """\
// Settings of mine.
{
\t"theme": "One Dark", // dark at night
\t/* servers
\t   that I use */
\t"context_servers": {
\t\t// files
\t\t"files": {"command": "npx", "args": ["-y", "files"],},
\t},
\t"vim_mode": true, // last
}
"""
ENTRY = {"url": "http://127.0.0.1:8321/mcp"}

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=5)
spaces = st.sampled_from(["", " ", "\n  ", "\r\n\t", "// note, [1] {\n", "/* a, \n b */"])


@st.composite
def commented(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    """An object, and a text of it with spaces, comments and commas at the end anywhere."""
    value = draw(objects)

    def gap() -> str:
        return draw(spaces)

    def written(part: object) -> str:
        if isinstance(part, dict):
            return around("{}", [f"{json.dumps(name)}{gap()}:{gap()}{written(one)}" for name, one in part.items()])
        return around("[]", [*map(written, part)]) if isinstance(part, list) else json.dumps(part)

    def around(ends: str, parts: list[str]) -> str:
        last = "," if parts and draw(st.booleans()) else ""
        return ends[0] + gap() + f"{gap()},{gap()}".join(parts) + last + gap() + ends[1]

    return gap() + written(value) + gap(), value


@few
@given(commented())
def test_it_reads_what_is_there(given_: tuple[str, dict[str, object]]):
    text, value = given_
    assert read(text) == value


@few
@given(commented(), st.text(max_size=5), st.text(max_size=5), values)
def test_what_is_put_in_is_there_and_taken_out_is_gone(
    given_: tuple[str, dict[str, object]], holder: str, name: str, new: object
):
    text, value = given_
    held = value.get(holder, {})
    if not isinstance(held, dict):
        with pytest.raises(Unreadable):
            put(text, [holder, name], new)
        return
    changed = put(text, [holder, name], new)
    assert read(changed) == {**value, holder: {**held, name: new}}
    assert notes(changed) == notes(text)
    assert put(changed, [holder, name], new) == changed
    without = {key: one for key, one in held.items() if key != name}
    assert read(drop(changed, [holder, name])) == {**value, holder: without}


@few
@given(commented(), st.text(max_size=5), values)
def test_a_list_gets_one_more_and_loses_it(given_: tuple[str, dict[str, object]], name: str, new: object):
    text, value = given_
    held = value.get(name, [])
    if isinstance(held, list):
        changed = append(text, [name], new)
        assert read(changed) == {**value, name: [*held, new]}
        assert read(drop(changed, [name, len(held)])) == {**value, name: held}


def notes(text: str) -> list[str]:
    """The comments, outside strings."""
    found = re.findall(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', text, re.DOTALL)
    return [one for one in found if one]


def test_a_member_is_added_as_its_neighbours_are_written():
    changed = put(COMMENTED, ["context_servers", "muisti"], ENTRY)
    added = '\t\t"muisti": {\n\t\t\t"url": "http://127.0.0.1:8321/mcp"\n\t\t},\n'
    files = '"args": ["-y", "files"],},\n'
    assert changed == COMMENTED.replace(files, files + added)
    assert drop(changed, ["context_servers", "muisti"]) == COMMENTED


@pytest.mark.parametrize(("before", "after"), [
    ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'), ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
    ('{"x": 1}', '{"x": 1, "a": {"b": 1}}'),
    ('{\n    "x": 1 // why\n}', '{\n    "x": 1, // why\n    "a": {\n        "b": 1\n    }\n}'),
    ('{\r\n  "a": {}\r\n}', '{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}'),
    ('{\n  "a": {\n    // none yet\n  }\n}', '{\n  "a": {\n    // none yet\n    "b": 1\n  }\n}'),
    ('\ufeff{\n  "a": {"b": 2}\n}', '\ufeff{\n  "a": {"b": 1}\n}'),
])  # fmt: skip
def test_it_looks_as_if_written_by_hand(before: str, after: str):
    assert put(before, ["a", "b"], 1) == after


@pytest.mark.parametrize(("text", "line"), [
    ('{"a": 1', 1), ('{\n"a" 1}', 2), ('{\n\n"a": "b\n"}', 3), ("{} {}", 1), ('{"a": nul}', 1), ("[" * 5000, 1),
    ('{"a": "\\x"}', 1), ("{'a': 1}", 1),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_line(text: str, line: int):
    with pytest.raises(Unreadable, match=f"line {line}:"):
        put(text, ["a"], 1)
