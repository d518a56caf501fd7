"""Change one entry of a mapping in a YAML file that a person wrote; comments, order and spaces stay as they are.

Only lines are put in or taken out. The result is read again, and refused unless it is what was meant: what is written
in an unusual way stays untouched.
"""

import re
from collections.abc import Sequence
from typing import Any

import yaml

from muisti.service.connect.jsonc import Unreadable

_EMPTY = re.compile(r"(?:\{\s*\}|~|null)?\s*(#.*)?")


def read(text: str) -> Any:
    """Read the value of a text; an empty file is an empty mapping.

    Raises:
        Unreadable: naming the line.
    """
    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        raise Unreadable(f"{line}{getattr(error, 'problem', None) or 'it cannot be read'}") from error


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a mapping put under two names.

    >>> print(put("servers: # mine\\n  a: 1\\n", ["servers", "b"], {"c": ["d"]}), end="")
    servers: # mine
      a: 1
      b:
        c:
        - d

    Raises:
        Unreadable: the text is no YAML, or is written so that it cannot be changed safely.
    """
    holder, name = path
    before = read(text)
    inside = before.get(holder) if isinstance(before, dict) else None
    if not isinstance(before, dict) or not isinstance(inside, dict | None):
        raise Unreadable(f"{holder} is no mapping")
    if inside and inside.get(name) == value:
        return text
    wanted = {**before, holder: {**(inside or {}), name: value}}
    lines = drop(text, path).splitlines(keepends=True) if inside and name in inside else text.splitlines(keepends=True)
    at = _line(lines, holder, "")
    if at is None:
        lines, at = [*_ended(lines), f"{holder}:\n"], len(lines)
    elif _EMPTY.fullmatch(lines[at].partition(":")[2].strip()):
        lines[at] = re.sub(r":\s*(?:\{\s*\}|~|null)", ":", lines[at].rstrip("\r\n")) + "\n"
    end = _end(lines, at, "")
    children = [line for line in lines[at + 1 : end] if line.strip() and not line.lstrip().startswith("#")]
    indent = _indent(children[0]) if children else "  "
    entry = yaml.safe_dump({name: value}, sort_keys=False, allow_unicode=True, width=1_000)
    written = [f"{indent}{line}\n" for line in entry.splitlines()]
    return _checked("".join([*_ended(lines[:end]), *written, *lines[end:]]), wanted)


def drop(text: str, path: Sequence[str]) -> str:
    """Return the text without that name; unchanged when there is none.

    Raises:
        Unreadable: as `put`.
    """
    wanted = read(text)
    *outer, name = path
    inside = wanted.get(outer[0]) if outer and isinstance(wanted, dict) else wanted
    if not isinstance(inside, dict) or name not in inside:
        return text
    inside.pop(name)
    lines = text.splitlines(keepends=True)
    start, stop, indent = 0, len(lines), ""
    if outer:
        at = _line(lines, outer[0], "")
        start, stop = (0, 0) if at is None else (at + 1, _end(lines, at, ""))
        indent = next((_indent(line) for line in lines[start:stop] if line.strip() and line.lstrip()[0] != "#"), "")
    at = _line(lines[start:stop], name, indent)
    if at is None:
        raise Unreadable(f"{name} is not on a line of its own")
    end = _end(lines[:stop], start + at, indent)
    if outer and not inside:
        wanted[outer[0]] = None
    return _checked("".join([*lines[: start + at], *lines[end:]]), wanted)


def _line(lines: Sequence[str], name: str, indent: str) -> int | None:
    """Return the number of the line that begins the value of a name."""
    begins = re.compile(rf"{indent}(['\"]?){re.escape(name)}\1\s*:(?=\s|$)")
    return next((at for at, line in enumerate(lines) if begins.match(line)), None)


def _end(lines: Sequence[str], at: int, indent: str) -> int:
    """Return the number behind the last line of the value that begins at a line."""
    end = at + 1
    for number in range(at + 1, len(lines)):
        line = lines[number]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(_indent(line)) < len(indent) or (_indent(line) == indent and not line.lstrip().startswith("- ")):
            break
        end = number + 1
    return end


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _ended(lines: Sequence[str]) -> list[str]:
    """Return the lines, the last of which ends."""
    return [*lines[:-1], lines[-1] if lines[-1].endswith("\n") else lines[-1] + "\n"] if lines else []


def _checked(text: str, wanted: dict[str, Any]) -> str:
    """Return the text if it reads as what was meant, where nothing is as good as an empty mapping."""
    kept, meant = ({name: one for name, one in value.items() if one is not None} for value in (read(text), wanted))
    if kept != meant:
        raise Unreadable("it is written in an unusual way; add the entry by hand, as --print shows it")
    return text
