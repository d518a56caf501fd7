"""The filter form of the list of memories: what a URL says, as filters of the API. Pure functions."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from muisti.service.console.fields import IMPORTANCE, KINDS, SOURCE_CLASSES, STATUSES, TYPES


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
    Choice("entity", "Names"),
    Choice("type", "Type", TYPES),
    Choice("kind", "Kind", KINDS),
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
    "-updated_at": "Changed last",
    "updated_at": "Unchanged longest",
}
ERASABLE = ("author", "source")  # conditions of a purge beside its filter


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


def taken_off(filters: Mapping[str, str], sort: str | None) -> list[Chosen]:
    """Return each filter with the parameters of the list without it."""
    kept = {"sort": sort} if sort else {}
    titles = {one.name: one.title for one in CHOICES}
    return [
        Chosen(titles[name], value, {**kept, **{n: v for n, v in filters.items() if n != name}})
        for name, value in filters.items()
    ]


def erasing(filters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of the page that erases what a list shows."""
    return {name: value for name, value in filters.items() if "." not in name}


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
