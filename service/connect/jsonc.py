"""Change one value of a JSON file that a person wrote; comments, order, spaces and commas at the end stay as they are.

The parser finds where values begin and end, and only the text of the changed value is touched. Libraries that read JSON
with comments rewrite the whole text, without comments or with spaces of their own.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)?(?=\r?\n)")
BLANK = "\ufeff \t\r\n"
_DEPTH_MAX = 200


class Unreadable(Exception):
    """A file is not in its format, or has a value of another type where the new value belongs."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A value, from `start` to `end`. `parts` are the members or items: name, where it begins, its value."""

    start: int
    end: int
    value: Any
    parts: "tuple[tuple[str | int, int, _Node], ...]" = ()


def read(text: str) -> Any:
    """Read the value of a text; an empty file is an empty object.

    >>> read('{"a": [1, 2,], // two\\n}')
    {'a': [1, 2]}

    Raises:
        Unreadable: naming the line.
    """
    return _tree(text).value


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value put under these names; missing objects on the way are added.

    >>> print(put('{\\n    "a": 1 // one\\n}', ["b"], {"c": 2}))
    {
        "a": 1, // one
        "b": {
            "c": 2
        }
    }

    Raises:
        Unreadable: the text is no JSON, or a name on the way holds something else than an object.
    """
    if not text.strip(BLANK):
        text = "{}\n"
    node = _tree(text)
    if not isinstance(node.value, dict):
        raise Unreadable("the file holds no JSON object")
    for depth, name in enumerate(path):
        child = _part(node, name)
        if child is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(text, node, name, value)
        if depth + 1 == len(path):
            if child.value == value:
                return text
            written = _written(value, _indent(text, child.start), text)
            return text[: child.start] + written + text[child.end :]
        if not isinstance(child.value, dict):
            raise Unreadable(f"{'.'.join(path[: depth + 1])} is no object")
        node = child
    return text


def append(text: str, path: Sequence[str], item: Any) -> str:
    """Return the text with one more item at the end of a list, which is added when it is missing.

    >>> append('{"a": [1]}', ["a"], 2)
    '{"a": [1, 2]}'

    Raises:
        Unreadable: as `put`, or there is something else than a list.
    """
    node: _Node | None = _tree(text)
    for name in path:
        node = _part(node, name) if node else None
    if node is None:
        return put(text, path, [item])
    if not isinstance(node.value, list):
        raise Unreadable(f"{'.'.join(path)} is no list")
    return _insert(text, node, None, item)


def drop(text: str, path: Sequence[str | int]) -> str:
    """Return the text without a member or an item; unchanged when there is none.

    >>> drop('{"a": 1, "b": [1, 2]}', ["b", 0]), drop('{"a": 1, "b": 2}', ["b"])
    ('{"a": 1, "b": [2]}', '{"a": 1}')

    Raises:
        Unreadable: naming the line.
    """
    node = _tree(text)
    for name in path[:-1]:
        child = _part(node, name)
        if child is None:
            return text
        node = child
    names = [name for name, _, _ in node.parts]
    if path[-1] not in names:
        return text
    at = len(names) - 1 - names[::-1].index(path[-1])
    _, start, value = node.parts[at]
    after = _skipped(text, value.end)
    end = after + 1 if text[after] == "," else value.end
    if at and text[after] != ",":  # it is the last: the comma before it has nothing to part any more
        comma = _skipped(text, node.parts[at - 1][2].end)
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    return _cut(text, start, end)


def _cut(text: str, start: int, end: int) -> str:
    """Return the text without that stretch, and without its line when nothing else is on it."""
    spaces = len(text[:start].rstrip(" \t"))
    rest = re.match(r"([ \t]*)(\r?\n)?", text[end:])
    assert rest  # it matches nothing too
    begins = spaces == 0 or text[spaces - 1] == "\n"
    if begins and rest[2]:
        return text[:spaces] + text[end + rest.end() :]
    if begins or spaces == start:
        return text[:start] + text[end + len(rest[1]) :]
    return text[:spaces] + text[end:]


def _skipped(text: str, at: int) -> int:
    """Return the position behind the white space and comments that begin there."""
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _part(node: _Node, name: str | int) -> _Node | None:
    return next((value for key, _, value in reversed(node.parts) if key == name), None)


def _insert(text: str, node: _Node, name: str | None, value: Any) -> str:
    head = "" if name is None else json.dumps(name, ensure_ascii=False) + ": "
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    base = _indent(text, node.start)
    if not node.parts:
        inner, inside = base + _unit(text), text[node.start + 1 : node.end - 1].rstrip()
        member = f"{end_of_line}{inner}{head}{_written(value, inner, text)}{end_of_line}{base}"
        return text[: node.start + 1] + inside + member + text[node.end - 1 :]
    _, start, last = node.parts[-1]
    if "\n" not in text[node.start : node.end]:
        return f"{text[: last.end]}, {head}{json.dumps(value, ensure_ascii=False)}{text[last.end :]}"
    indent = _indent(text, start) if text[:start].rstrip(" \t").endswith("\n") else base + _unit(text)
    after = _skipped(text, last.end)
    comma = text[after] == ","
    at = after + 1 if comma else last.end
    rest = _REST_OF_LINE.match(text, at)
    here = rest.end() if rest else at
    member = f"{end_of_line}{indent}{head}{_written(value, indent, text)}" + ("," if comma else "")
    return text[: last.end] + ("" if comma else ",") + text[last.end : here] + member + text[here:]


def _written(value: Any, indent: str, text: str) -> str:
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    return json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", end_of_line + indent)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return one step of indentation, taken from the first indented line."""
    found = re.search(r"^([ \t]+)[^ \t\r\n/*]", text, re.MULTILINE)
    return found[1] if found else "  "


def _tree(text: str) -> _Node:
    return _Reader(text).whole() if text.strip(BLANK) else _Node(0, 2, {})


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def whole(self) -> _Node:
        node = self._value()
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("expected the end of the file")
        return node

    def _value(self) -> _Node:
        self._skip()
        start, first = self._at, self._text[self._at : self._at + 1]
        if first and first in "{[":
            return self._container(start, "}" if first == "{" else "]")
        if first == '"':
            value = self._string()
            return _Node(start, self._at, value)
        scalar = _SCALAR.match(self._text, start)
        if scalar is None:
            raise self._wrong("expected a value")
        self._at = scalar.end()
        return _Node(start, self._at, json.loads(scalar[0]))

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise self._wrong("a string does not end on its line")
        try:
            value = json.loads(found[0])
        except ValueError as error:
            raise self._wrong(f"a string has a character that is not allowed:  {error}") from error
        self._at = found.end()
        return value

    def _container(self, start: int, close: str) -> _Node:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._wrong("nested too deeply")
        self._at += 1
        parts: list[tuple[str | int, int, _Node]] = []
        while not self._next_is(close):
            begins = self._at
            name = self._name() if close == "}" else len(parts)
            parts.append((name, begins, self._value()))
            if not self._next_is(",", take=True) and not self._next_is(close):
                raise self._wrong(f"expected ',' or {close!r}")
        self._at += 1
        self._depth -= 1
        values = {name: node.value for name, _, node in parts} if close == "}" else [node.value for *_, node in parts]
        return _Node(start, self._at, values, tuple(parts))

    def _name(self) -> str:
        if not self._next_is('"'):
            raise self._wrong("expected a name in double quotes")
        name = self._string()
        if not self._next_is(":", take=True):
            raise self._wrong("expected ':'")
        return name

    def _next_is(self, sign: str, take: bool = False) -> bool:
        self._skip()
        found = self._text[self._at : self._at + 1] == sign
        self._at += found and take
        return found

    def _skip(self) -> None:
        self._at = _skipped(self._text, self._at)

    def _wrong(self, what: str) -> Unreadable:
        line = self._text.count("\n", 0, self._at) + 1
        return Unreadable(f"line {line}: {what}")
