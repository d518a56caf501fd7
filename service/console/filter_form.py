"""The filter form of the list of memories: what a URL says, as filters of the API. Pure functions."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from muisti.core.model import choices
from muisti.core.model.choices import TYPES
from muisti.core.model.values import Kind

# Fields of a memory in a form: their text as a person types it, and as the API takes it. Pure functions

STATUSES: tuple[str, ...] = get_args(choices.Status)
IMPORTANCE: tuple[str, ...] = get_args(choices.Importance)
SOURCE_CLASSES: tuple[str, ...] = get_args(choices.SourceClass)
KINDS: tuple[str, ...] = get_args(Kind)
CHANGES: tuple[str, ...] = get_args(choices.ChangeKind)

GAP = "\n\n"  # between both messages of a turn
Form = Literal["text", "line", "choice", "tags", "json"]
Typed = Mapping[str, str]


class Field(NamedTuple):
    """A field that a person fills in. `more` puts it behind "More fields"."""

    name: str
    title: str
    form: Form = "line"
    choices: tuple[str, ...] = ()
    hint: str = ""
    more: bool = True


FIELDS = (
    Field("content", "Content", "text", hint="Markdown is rendered.", more=False),
    Field("category", "Category", hint="Like a folder.", more=False),
    Field("key", "Key", hint="Category and key together are a unique address.", more=False),
    Field("tags", "Tags", "tags", hint="Separated by commas.", more=False),
    Field("type", "Type", "choice", TYPES, more=False),
    Field("importance", "Importance", "choice", IMPORTANCE, more=False),
    Field("status", "Status", "choice", STATUSES),
    Field("author", "Author", hint="Who said it."),
    Field("reason", "Reason", hint="Why it is worth remembering."),
    Field("source", "Source", hint="Where it comes from: a file, a URL, a meeting."),
    Field("source_class", "Kind of source", "choice", SOURCE_CLASSES),
    Field("event_at", "Happened at", hint="Such as 2026-05-01 or 2026-05-01T12:00:00Z."),
    Field("valid_from", "Valid from"),
    Field("valid_to", "Valid until"),
    Field("expires_at", "Expires at"),
    Field("metadata", "Metadata", "json", hint="An object in JSON."),
)
# Of a turn with a reply these take the place of its content.
MESSAGES = (
    Field("user", "Said", "text", hint="What the author says.", more=False),
    Field("system", "Reply", "text", hint="Empty removes the reply.", more=False),
)
USUAL: Typed = {"type": "fact", "importance": "medium", "status": "active", "source_class": "unknown"}


class Unreadable(ValueError):
    """A field whose text cannot be sent. `path` names it as the API would."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def inputs_of(memory: Mapping[str, Any]) -> Sequence[Field]:
    """Return the fields of the form that changes a memory."""
    return FIELDS if _reply_at(memory) is None else (*MESSAGES, *(one for one in FIELDS if one.name != "content"))


def typed(memory: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a memory as texts.

    >>> found = typed({"content": "Tea", "tags": ["a", "b"], "metadata": {}, "category": None})
    >>> found["content"], found["tags"], found["metadata"], found["category"]
    ('Tea', 'a, b', '', '')
    """
    texts = {one.name: _typed(memory.get(one.name), one.form) for one in FIELDS}
    at = _reply_at(memory)
    if at is not None:
        texts |= {"user": memory["content"][:at].removesuffix(GAP), "system": memory["content"][at:]}
    return texts


def given(form: Mapping[str, Any]) -> dict[str, str]:
    """Return what a form sends, with the line ends that it has in memories; what is absent is empty.

    >>> given({"content": "a\\r\\nb"})["content"]
    'a\\nb'
    """
    texts = {one.name: plain(str(form.get(one.name, ""))) for one in FIELDS}
    said = {one.name: plain(str(form[one.name])) for one in MESSAGES if one.name in form}
    return {**texts, **said, "content": GAP.join(said.values())} if said else texts


def plain(text: str) -> str:
    """Return a text without the carriage returns that forms add."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def new(texts: Typed) -> dict[str, Any]:
    """Return the body that adds a memory: fields without a text are left out, but for the content.

    Raises:
        Unreadable: the metadata is no JSON.
    """
    body = {one.name: _read(texts[one.name], one.form, one.name) for one in FIELDS if texts[one.name].strip()}
    return {"content": texts["content"], **body}


def changed(texts: Typed, before: Typed | None) -> dict[str, Any]:
    """Return the body that changes a memory: fields that differ from `before`; an emptied one is null.

    Without `before` all fields are sent.

    >>> changed({**typed({"content": "Tea"}), "tags": "hot"}, typed({"content": "Tea"}))
    {'tags': ['hot']}

    Raises:
        Unreadable: the metadata is no JSON.
    """
    body: dict[str, Any] = {}
    for one in (*MESSAGES, *FIELDS):
        text = texts.get(one.name)
        if text is None or (one.name == "content" and "user" in texts):
            continue
        if before is None or text != plain(before.get(one.name, "")):
            empties = one.form != "text" or one.name == "system"
            body[one.name] = None if empties and not text.strip() else _read(text, one.form, one.name)
    return body


def _reply_at(memory: Mapping[str, Any]) -> int | None:
    return memory.get("structure", {}).get("reply_at") if memory.get("kind") == "exchange" else None


def _typed(value: Any, form: Form) -> str:
    if value is None or value == {}:
        return ""
    if form == "tags":
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, indent=2) if form == "json" else str(value)


def _read(text: str, form: Form, name: str) -> Any:
    if form == "tags":
        return [part.strip() for part in text.split(",") if part.strip()]
    if form != "json":
        return text if form == "text" else text.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"$.{name}", f"is not JSON: {error}") from None


class Choice(NamedTuple):
    """A filter: its field of the API, and the values to choose from; none where any text may be typed."""

    name: str
    title: str
    values: tuple[str, ...] = ()
    more: bool = False


CHOICES = (
    Choice("category", "Category"),
    Choice("tags", "Tag"),
    Choice("author", "Author"),
    Choice("entity", "Names", more=True),
    Choice("type", "Type", TYPES, more=True),
    Choice("kind", "Kind", KINDS, more=True),
    Choice("status", "Status", STATUSES, more=True),
    Choice("importance", "Importance", IMPORTANCE, more=True),
    Choice("source", "Source", more=True),
    Choice("source_class", "Kind of source", SOURCE_CLASSES, more=True),
    Choice("conversation", "Conversation", more=True),
    Choice("document", "Document", more=True),
    Choice("created_at.gte", "Stored since", more=True),
    Choice("created_at.lt", "Stored before", more=True),
)
SORTS: Mapping[str, str] = {
    "-created_at": "Newest first",
    "created_at": "Oldest first",
    "-updated_at": "Recently changed",
    "updated_at": "Least recently changed",
}
ERASABLE = ("author", "source")  # conditions of a purge beside its filter


COLUMNS: Mapping[str, str] = {
    **{"category": "Category", "author": "Author", "tags": "Tags", "kind": "Kind", "type": "Type", "status": "Status"},
    **{"importance": "Importance", "source": "Source", "trust": "Trust", "tokens": "Tokens"},
    **{"created_at": "Stored", "updated_at": "Changed"},
}
USUAL_COLUMNS = ("category", "author", "tags", "updated_at")


class Chosen(NamedTuple):
    """A filter that is set, and the URL parameters without it."""

    title: str
    value: str
    rest: Mapping[str, str]


def chosen(asked: Mapping[str, str]) -> dict[str, str]:
    """Return the filters that a URL sets, without empty ones.

    >>> chosen({"category": "team ", "tags": "", "cursor": "x"})
    {'category': 'team'}
    """
    texts = {one.name: asked.get(one.name, "").strip() for one in CHOICES}
    return {name: text for name, text in texts.items() if text}


def columns_of(asked: Iterable[str], kept: str | None) -> list[tuple[str, str]]:
    """Return the columns of a list with their titles: those that the URL asks for, else those that a cookie keeps.

    >>> columns_of([], "author.evil"), columns_of(["kind"], "author"), [name for name, _ in columns_of([], None)]
    ([('author', 'Author')], [('kind', 'Kind')], ['category', 'author', 'tags', 'updated_at'])
    """
    names = set(asked) or set((kept or ".".join(USUAL_COLUMNS)).split("."))
    return [(name, title) for name, title in COLUMNS.items() if name in names]


def taken_off(filters: Mapping[str, str], others: Mapping[str, str | None]) -> list[Chosen]:
    """Return each filter with the parameters of the list without it; `others` are parameters that stay."""
    kept = {name: value for name, value in others.items() if value}
    titles = {one.name: one.title for one in CHOICES}
    return [
        Chosen(titles[name], value, {**kept, **{n: v for n, v in filters.items() if n != name}})
        for name, value in filters.items()
    ]


def erasing(filters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of the page that erases what a list shows."""
    return {name: value for name, value in filters.items() if "." not in name}


def filter_of(filters: Mapping[str, str]) -> dict[str, Any]:
    """Return filters of a URL as the filter of a search.

    >>> filter_of({"category": "team", "created_at.gte": "2026-05-01", "created_at.lt": "2026-06-01"})
    {'category': 'team', 'created_at': {'gte': '2026-05-01', 'lt': '2026-06-01'}}
    """
    found: dict[str, Any] = {}
    for name, value in filters.items():
        field, dot, operator = name.partition(".")
        if dot:
            found.setdefault(field, {})[operator] = value
        else:
            found[field] = value
    return found


def leading(counts: Iterable[Mapping[str, object]], most: int = 30) -> list[tuple[str, int]]:
    """Return the first names of a facet with their counts."""
    found = [(str(one["name"]), int(str(one["count"]))) for one in counts]
    return found[:most]


def conditions(asked: Mapping[str, str]) -> dict[str, Any]:
    """Return the body of a purge for the conditions that a form sets; empty when it sets none.

    >>> conditions({"author": "Ann", "category": "team", "older_than_days": "30", "sort": "x"})
    {'author': 'Ann', 'older_than_days': 30.0, 'filter': {'category': 'team'}}
    """
    filters = {name: value for name, value in chosen(asked).items() if "." not in name}
    body: dict[str, Any] = {name: filters.pop(name) for name in ERASABLE if name in filters}
    if days := asked.get("older_than_days", "").strip():
        body["older_than_days"] = float(days) if _DAYS.fullmatch(days) else days  # the API says what is wrong
    return {**body, "filter": filters} if filters else body


def words_of(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the conditions of a purge, each with its title.

    >>> words_of({"author": "Ann", "filter": {"tags": "a"}, "older_than_days": 30.0})
    [('Author', 'Ann'), ('Tag', 'a'), ('Older than', '30 days')]
    """
    found = [(_TITLES.get(name, name), str(value)) for name, value in body.items() if isinstance(value, str)]
    found += [(_TITLES.get(name, name), str(value)) for name, value in (body.get("filter") or {}).items()]
    days = body.get("older_than_days")
    return [*found, ("Older than", f"{days:g} days")] if isinstance(days, int | float) else found


_DAYS = re.compile(r"\d{1,6}(\.\d{1,6})?", re.ASCII)
_TITLES: Mapping[str, str] = {one.name: one.title for one in CHOICES} | {"memory": "Memory"}
