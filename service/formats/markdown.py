"""Turns a memory into a note in Markdown, with its fields in the front matter, and back. See docs/how-to/export.md.

Front matter is fields in YAML, between lines of `---`, before a text. Only the YAML that notes need is read: plain
values, lists and maps. Times stay texts. So do values that only some readers take for a number or a truth value (`yes`,
`0x10`, `12:30`). Anchors and tags are refused: with them a small file can expand to a large one or to unexpected types.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

import yaml

from muisti.core.model.fields import FIELDS
from muisti.core.text.terms import composed

LENGTH_MAX = 65_536  # characters of the fields
DEPTH_MAX = 20
_FENCED = re.compile(r"---[ \t]*\r?\n(?P<fields>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"[^\W\d][\w -]{0,99}:[ \t]")
_TIME = "tag:yaml.org,2002:timestamp"
_PLAIN = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(?:0|[1-9][0-9]{0,18})", list("-+0123456789")),
    "float": (
        r"[-+]?(?:[0-9]{1,20}\.[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?|[-+]?[0-9]{1,20}[eE][-+]?[0-9]{1,3}",
        list("-+.0123456789"),
    ),
}


class BadFrontMatter(ValueError):
    """The fields cannot be read; `line` counts from the beginning of the text, from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Moment(str):
    """A time, written as such and not as a text in quotes."""


class _Loader(yaml.CSafeLoader):
    yaml_implicit_resolvers: dict[str, Any] = {}


class _Dumper(yaml.CSafeDumper):
    """Quotes texts that our reader or other readers of YAML would take for another type."""


for _kind, (_pattern, _first) in _PLAIN.items():
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_pattern})$"), _first)
_Dumper.add_representer(Moment, lambda dumper, value: dumper.represent_scalar(_TIME, str(value)))


def read_fields(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields, none where there is no front matter, and the text behind them.

    Raises:
        BadFrontMatter: the fields cannot be read.

    >>> read_fields("---\\ntags: [a, b]\\nat: 2026-01-01\\n---\\nText")
    ({'tags': ['a', 'b'], 'at': '2026-01-01'}, 'Text')
    """
    fenced = _FENCED.match(text)
    if fenced is None:
        return {}, text
    fields = fenced["fields"]
    if len(fields) > LENGTH_MAX:
        raise BadFrontMatter(1, f"the fields have more than {LENGTH_MAX:,} characters")
    try:
        _check(fields)
        found = yaml.load(fields, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadFrontMatter(2 + (mark.line if mark else 0), error.problem or "is no YAML") from None
    except yaml.YAMLError as error:
        raise BadFrontMatter(2, f"is no YAML ({str(error).splitlines()[0]})") from None
    if found is None:
        return {}, text[fenced.end() :]
    if not isinstance(found, dict):
        raise BadFrontMatter(2, "has no names of fields")
    return {str(name): value for name, value in cast(dict[object, Any], found).items()}, text[fenced.end() :]


def read_plainly(text: str) -> tuple[dict[str, Any], str]:
    """Return what is certain of fields that are no YAML, as other readers of notes do, and the text behind them.

    A line `name: value` gives a text. All lines are in `front_matter`, so that none is lost.

    >>> read_plainly("---\\ntitle: Re: offer\\nkey: `C:\\\\x`\\n---\\nText")[0]["title"]
    'Re: offer'
    """
    fenced = _FENCED.match(text)
    if fenced is None:
        return {}, text
    pairs = (line.partition(":") for line in fenced["fields"].splitlines() if _PAIR.match(line))
    fields = {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}
    return {**fields, "front_matter": fenced["fields"]}, text[fenced.end() :]


def write(fields: Mapping[str, Any], text: str) -> str:
    """Return the text with fields before it. `read` is the inverse."""
    listed = yaml.dump(
        dict(fields), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 20, default_flow_style=False
    )
    return f"---\n{listed}---\n{text}"


def _check(fields: str) -> None:
    """Raise `BadFrontMatter` at anchors, tags and deep nesting."""
    depth = 0
    for event in yaml.parse(fields, _Loader):
        line = 2 + event.start_mark.line
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BadFrontMatter(line, "has an anchor, which is not supported")
        if getattr(event, "tag", None):
            raise BadFrontMatter(line, f"has the tag {str(event.tag)[:40]}, which is not supported")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_MAX:
            raise BadFrontMatter(line, "is nested too deeply")


ID = "muisti"  # the field that says that a note is ours
TIMES = ("event_at", "valid_from", "valid_to", "created_at", "updated_at", "expires_at")
# The fields of a note, in their order; `space`, `version`, `trust` and `tokens` are not carried.
CARRIED = (
    "category", "key", "type", "status", "importance", "author", "reason", "source", "source_class", "tags", *TIMES,
    "kind", "parent_id", "supersedes", "derived_from", "metadata", "session", "conversation", "topic",
    "turn", "document", "position", "structure", "anchors",
)  # fmt: skip
USUAL = {field.name: field.usual for field in FIELDS if field.usual}
NAME_LENGTH = 60
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]%]+')


def note_of(memory: Mapping[str, Any]) -> str:
    """Return the note of an exported memory, without fields that are empty or have their default."""
    values = {name: memory[name] for name in CARRIED if memory.get(name) not in (None, [], {}, USUAL.get(name))}
    fields = {name: Moment(value) if name in TIMES else value for name, value in values.items()}
    return write({ID: memory["id"], **fields}, f"\n{memory['content']}\n")


def memory_of(fields: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the API's fields of the memory in a note of ours."""
    end = "\r\n" if text.startswith("\r\n") else "\n"
    content = text.removeprefix(end).removesuffix(end)
    return {"content": content, **{name: fields[name] for name in CARRIED if fields.get(name) is not None}}


def path_of(memory: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the folder and the name, without suffix, of a memory's note. Every file system accepts both."""
    category = _name(str(memory.get("category") or ""))
    first = str(memory["content"]).strip().partition("\n")[0]
    return category or None, _name(str(memory.get("key") or "") or first) or "memory"


def _name(text: str) -> str:
    """Turn a text into a name of a file: short, not hidden, and reserved by no operating system."""
    plain = _FORBIDDEN.sub(" ", composed(text))
    name = " ".join(plain.split())[:NAME_LENGTH].strip(" .")
    return f"{name} -" if re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d|templates", name) else name
