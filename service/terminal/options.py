"""Options that several commands share, and the parsers of their values."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import reduce
from importlib import import_module
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from muisti.core.model.choices import LIMIT_MAX, Importance, SourceClass, Status, Type
from muisti.core.model.times import from_us
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import Globals, completes
from muisti.service.terminal.values import Number, OneOf, Whole, one_of, refuse

if TYPE_CHECKING:
    from muisti.core.model import errors
    from muisti.core.text.when import time_spans, zones
else:  # 40 ms, for times in words alone
    errors = Lazy("muisti.core.model.errors")
    time_spans = Lazy("muisti.core.text.when.time_spans")
    zones = Lazy("muisti.core.text.when.zones")

F = TypeVar("F", bound=Callable[..., Any])


def option(names: str, help: str, kind: click.ParamType | None = None, **more: Any) -> Callable[[F], F]:
    """Return an option with a value: its `names`, with that of the parameter at the end if it is another.

    The help shows its default, and the value as `metavar`, else by the name of its kind.
    """
    more = ({"metavar": "NAME"} if kind is None else {}) | more
    return click.option(*names.split(), type=kind, help=help, show_default="default" in more, **more)


JOINED: Mapping[str, Any] = {  # of an option that is repeated: its values with commas between, None without any
    "multiple": True,
    "callback": lambda _, option, given: ",".join(given) or None,
}


def flag(names: str, help: str) -> Callable[[F], F]:
    return click.option(*names.split(), is_flag=True, help=help)


def choice(names: str, help: str, words: Sequence[str], **more: Any) -> Callable[[F], F]:
    return option(names, help, OneOf(words), **more)


def integer(names: str, help: str, low: int | None = None, high: int | None = None, **more: Any) -> Callable[[F], F]:
    return option(names, help, Whole(low, high), **{"metavar": "N"} | more)


def limit(help: str, default: int | None = 50, names: str = "--limit") -> Callable[[F], F]:
    """Return an option for the most items of an answer, which the API bounds."""
    return integer(names, help, 1, LIMIT_MAX, **({} if default is None else {"default": default}))


def real(names: str, help: str, low: float = 0, high: float | None = None, **more: Any) -> Callable[[F], F]:
    return option(names, help, Number(low, high, more.pop("min_open", False)), **{"metavar": "X"} | more)


SPAN_MAX = 100 * 366 * 86_400  # seconds: a century
AN_OBJECT = 'a JSON object such as {"team": "core"}'
CLEAR = ""  # on update an empty value takes the field away


class JsonObject(click.ParamType):
    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            read = import_module("msgspec").json.decode(value) if isinstance(value, str) else value
        except ValueError as error:
            refuse(value, f"{AN_OBJECT} ({error})", param, ctx)
        if not isinstance(read, dict):
            refuse(value, AN_OBJECT, param, ctx)
        return read


class Moment(click.ParamType):
    """Parse a time, a date, a span such as 7d, or words such as "yesterday" and "last week". Empty stays empty.

    A time without an offset is UTC. Words and spans count from now, and days are those of `TZ`: a span goes back, or
    forward with `ahead`. A period counts as its start.
    """

    name = "time"

    def __init__(self, *, ahead: bool = False) -> None:
        self._ahead = ahead

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == CLEAR:
            return value
        at = self.read(value)
        if at is None:
            refuse(value, "a time such as 2026-01-31T09:30:00Z, 2026-01-31, 7d, yesterday or 'last week'", param, ctx)
        return at

    def read(self, value: str) -> str | None:
        """Return the time in the form of the API; None when the words name no time."""
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return self._from_now(value.strip().lower())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()

    def _from_now(self, text: str) -> str | None:
        now = datetime.now(UTC)
        seconds = seconds_of(text) if text[-1:] in _UNITS else None
        if text == "now" or seconds is not None:
            span = timedelta(seconds=seconds or 0)
            return (now + span if self._ahead else now - span).isoformat()
        spans = time_spans.time_spans(text, int(now.timestamp() * 1_000_000), zones.zone_named(own_zone()))
        if len(spans) != 1 or spans[0].text.lower() != text or spans[0].start is None:
            return None
        return from_us(spans[0].start).isoformat()


def own_zone() -> str | None:
    """Return the zone that the environment variable TZ names; None for UTC and where there is no such zone."""
    name = os.environ.get("TZ", "").removeprefix(":")
    try:
        return None if zones.zone_named(name) is UTC else name
    except errors.InvalidInput:
        return None


class Point(Moment):
    """Parse a point in history: a time in a form of `Moment`, else the number or Muisti-Seq as given."""

    name = "point"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.read(value) or value


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def seconds_of(text: str) -> int | None:
    """Return the seconds of a span such as `90`, `15m`, `12h`, `30d` or `2w`; None when the text is no span."""
    found = re.fullmatch(r"(\d{1,10})([smhdw]?)", text)
    seconds = 0 if found is None else int(found[1]) * _UNITS.get(found[2], 1)
    return seconds if found is not None and seconds <= SPAN_MAX else None


class Span(click.ParamType):
    """Parse a span of time into seconds.

    >>> [Span().convert(text, None, None) for text in ("90", "15m", "12h", "30d")]
    [90, 900, 43200, 2592000]
    """

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = seconds_of(value)
        if seconds is None:
            refuse(value, "a span such as 90 (seconds), 15m, 12h or 30d", param, ctx)
        return seconds


class Weighted(click.ParamType):
    """Parse a name with a weight, such as `release=0.5`; a name alone has the weight 1.

    >>> Weighted().convert("old lake=0.5", None, None), Weighted().convert("release", None, None)
    (('old lake', 0.5), ('release', 1.0))
    """

    name = "weighted"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        name, is_weighed, weight = value.rpartition("=")
        try:
            return (name, float(weight)) if is_weighed else (value, 1.0)
        except ValueError:
            refuse(value, "a name with a weight such as name=0.5", param, ctx)


def weights(names: str, help: str, metavar: str = "NAME=X") -> Callable[[F], F]:
    """Return an option for names with weights, which is repeated."""
    return option(names, help, Weighted(), metavar=metavar, multiple=True)


class Several(click.ParamType):
    """Parse one of the known words, or several with commas between.

    >>> Several(["fact", "guard"]).convert("guard,fact", None, None)
    ['guard', 'fact']
    """

    name = "several"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.words)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        named = comma_list([value]) if isinstance(value, str) else value
        wrong = [name for name in named if name not in self.words]
        if wrong or not named:
            refuse((wrong or [value])[0], one_of(self.words), param, ctx)
        return list(dict.fromkeys(named))


class OrDefault(click.ParamType):
    """Parse a value, or the word for the server's default. `expected` describes good values."""

    WORD = "default"

    def __init__(self, name: str, parse: click.ParamType | Callable[[str], Any], expected: str) -> None:
        self.name, self._expected = name, expected
        self._parse = click.types.convert_type(parse)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            parsed = value if value == self.WORD else self._parse.convert(value, None, None)
        except (click.BadParameter, ValueError):
            parsed = nan
        if isinstance(parsed, float) and not isfinite(parsed):
            refuse(value, f"{self._expected}, or {self.WORD}", param, ctx)
        return parsed


def group(*options: Callable[[F], F]) -> Callable[[F], F]:
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def allowing(part: str, help: str) -> Callable[[F], F]:
    """Return a flag by which the command overrides a part of the policy of the space."""

    def note(context: click.Context, option: click.Parameter, value: bool) -> None:
        if value:
            context.ensure_object(Globals).allowed += (part,)

    return click.option(f"--allow-{part.replace('_', '-')}", is_flag=True, help=help, expose_value=False, callback=note)


allow_secrets = allowing("secrets", "Store the text even if it looks like a password or a key.")

said_fields = group(
    choice("--type type_", "Kind of memory.  [default: fact]", get_args(Type)),
    choice(
        "--status",
        "Lifecycle status; searches find only active memories unless asked for others.  [default: active]",
        [status for status in get_args(Status) if status != "superseded"],
    ),
    choice("--importance", "How much it matters, for its rank in searches.  [default: medium]", get_args(Importance)),
    option("--author", "Who said or wrote it.", shell_complete=completes("author")),
    option("--reason", "Why it is worth remembering.", metavar="TEXT"),
    option("--source", "Where it comes from, such as a file or a URL.", metavar="TEXT"),
    choice("--source-class", "Kind of source, which limits its trust.  [default: unknown]", get_args(SourceClass)),
    option("--derived-from", "Memory it comes from, by ID or category/key; repeat it.", metavar="ID", multiple=True),
    option("--anchor anchors", "Source code that it is about; repeat it.", metavar="PATH[:SYMBOL]", multiple=True),
    option("--tag tags", "Tag; repeat for several, or give a,b,c.", multiple=True, shell_complete=completes("tag")),
    option("--metadata", "Further values of your own, as a JSON object.", JsonObject()),
    option("--event-at", "When it happened or was true.", Moment()),
    option("--valid-from", "When the text becomes true.", Moment()),
    option("--valid-to", "When the text stops being true.", Moment(ahead=True)),
    option("--expires-at", "When searches stop finding it.", Moment(ahead=True)),
    option("--ttl", "Like --expires-at, as a time from now: 90 (seconds), 15m, 12h, 30d.", Span()),
    allow_secrets,
)

memory_fields = group(
    option("--category", "Group that the memory belongs to.", shell_complete=completes("category")),
    option("--key", "Name within the category; the two together are its address.", shell_complete=completes("key")),
    said_fields,
)

if_version = integer("--if-version", "Fail unless N is the memory's newest version.", 1)
full = flag("--full", "Do not shorten long memories in plain lines.")

dry_run = flag("--dry-run", "Show what the command would change, and change nothing.")

STATUSES = Several(get_args(Status))
filters = group(
    option("--filter filter_", 'Any filter, such as {"tags": "infra"}; see docs/reference/http.md.', JsonObject()),
    option("--category", "Only this category.", shell_complete=completes("category")),
    option("--tag tags", "Only with one of these tags.", multiple=True, shell_complete=completes("tag")),
    option("--author", "Only by this author.", shell_complete=completes("author")),
    option("--anchor anchors", "Only what is about this file; repeat it.", metavar="PATH", multiple=True),
    option("--entity", "Only what mentions this person, place or thing; see muisti graph."),
    option("--type type_", "Only of this type; or several, a,b.", Several(get_args(Type)), multiple=True),
    option("--status", "Only of this status; or several, a,b.  [default: active]", STATUSES, multiple=True),
    option("--after", "Only stored at this time or later.", Moment()),
    option("--before", "Only stored before this time.", Moment()),
    option("--changed-after", "Only changed at this time or later.", Moment()),
    option("--changed-before", "Only last changed before this time.", Moment()),
    option("--valid-at", "Only texts that are true at this time.", Moment()),
)


as_of = option("--as-of", "Show the space as of a time, a date, or a Muisti-Seq or its number.", Point())


time_zone = option(
    "--time-zone", "Zone in which words like today are read.  [default: TZ, else UTC]",
    callback=lambda _context, _option, given: given or own_zone(),
)  # fmt: skip


def comma_list(values: Sequence[str]) -> list[str]:
    """Return all names of a repeated option, each value of which may be a list with commas.

    >>> comma_list(["a,b", " c "])
    ['a', 'b', 'c']
    """
    return [name for value in values for part in value.split(",") if (name := part.strip())]


def as_filter(filter_: Mapping[str, Any] | None, **given: Any) -> dict[str, Any] | None:
    """Combine the options of `filters` into one filter; None when none was given."""
    asked = {name: given[name] for name in ("category", "author", "entity")}
    asked |= {
        "tags": {"any": comma_list(given["tags"])} if given["tags"] else None,
        "anchors": {"any": list(given["anchors"])} if given["anchors"] else None,
        "type": _any_of(given["type_"]),
        "status": _any_of(given["status"]),
        "created_at": _within(given["after"], given["before"]),
        "updated_at": _within(given["changed_after"], given["changed_before"]),
        "valid_at": given["valid_at"] or None,
    }
    short = {name: value for name, value in asked.items() if value is not None}
    if filter_ and short:
        return {"and": [dict(filter_), short]}
    return dict(filter_) if filter_ else short or None


def _any_of(given: Sequence[Sequence[str]]) -> Any:
    words = list(dict.fromkeys(word for words in given for word in words))
    return words[0] if len(words) == 1 else {"in": words} if words else None


def _within(after: str | None, before: str | None) -> dict[str, str] | None:
    return {name: value for name, value in (("gte", after), ("lt", before)) if value} or None
