"""Query parameters and headers that handlers share, read strictly, and the refusal of unknown parameters."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from litestar import Request
from litestar.handlers import BaseRouteHandler
from litestar.params import HeaderParameter, ParameterKwarg, QueryParameter
from litestar.typing import FieldDefinition
from litestar.utils.signature import ParsedSignature

from muisti.core.model.choices import SORTS
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.values import RequestKey, Seq
from muisti.core.support.regex import regex
from muisti.service.asgi.header_names import FRESHNESS, MIN_SEQ, SEQ
from muisti.service.schemas.errors import HttpError

# The request headers that carry meaning, read once and strictly


_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = regex(rf"\s*{_TAG}(?:\s*,\s*{_TAG})*\s*")
_FRESHNESS = regex(r"session|strong|bounded\s*;\s*max-age=(?P<age>[0-9]{1,7})(?P<unit>ms|s)")
_SEQ = regex(r"(?P<epoch>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(?P<number>[0-9]{1,18})")

IfMatchHeader = Annotated[
    str | None,
    HeaderParameter(
        name="If-Match", description="ETags, one of which must be the memory's; or `*`. Another version gives 412."
    ),
]
IfNoneMatchHeader = Annotated[
    str | None, HeaderParameter(name="If-None-Match", description="ETags; when the memory still has one, 304.")
]
IdempotencyKeyHeader = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        description="1 to 255 visible ASCII characters. A repetition gets the first answer, and nothing is done twice.",
    ),
]


class _Every(frozenset[str]):
    """The set of all tags, which `*` names."""

    def __contains__(self, _: object) -> bool:
        return True


def etags(header: str) -> frozenset[str]:
    """Return the tags in a list of ETags, weak ones with their W/; every tag for `*`.

    >>> sorted(etags('"a.1", W/"b.2"'))
    ['"a.1"', 'W/"b.2"']

    Raises:
        HttpError: this is no list of tags.
    """
    if header.strip() == "*":
        return _Every()
    if not _TAGS.fullmatch(header):
        raise HttpError("malformed_header", 'an ETag looks like "{id}.{version}", with its quotation marks; or send *')
    return frozenset(re.findall(_TAG, header))


def is_known(header: str | None, etag: str) -> bool:
    """Tell whether If-None-Match says that the caller has this version."""
    if header is None:
        return False
    known = etags(header)
    return etag in known or f"W/{etag}" in known


def not_with_key(key: RequestKey | None) -> None:
    """Raise `InvalidInput` when a batch that is not atomic comes with an Idempotency-Key."""
    if key is not None:
        raise InvalidInput.at(
            "$.atomic",
            "false and an Idempotency-Key exclude each other: several writes cannot be replayed as one; "
            "send atomic=true, or on_conflict=reject without the key",
        )


def min_seq(header: str) -> Seq:
    """Read the point of history that Muisti-Min-Seq names.

    Raises:
        HttpError: the header is no such point.
    """
    return point(header, MIN_SEQ)


def point(text: str, name: str) -> Seq:
    """Read a point of history from `text`, the value of the header or parameter `name`.

    Raises:
        HttpError: the text is no such point.
    """
    match = _SEQ.fullmatch(text)
    if match is None:
        raise HttpError("malformed_header", f"{name} looks like {{epoch}}:{{number}}, as {SEQ} gave it")
    return Seq(match["epoch"], int(match["number"]))


class Freshness(msgspec.Struct, frozen=True):
    """Freshness of an answer. `strong`: ask the primary. `max_age`: seconds that the answer may be behind."""

    strong: bool = False
    max_age: float = 0.0


def freshness(header: str | None) -> Freshness:
    """Read Muisti-Freshness.

    >>> freshness("bounded;max-age=500ms").max_age, freshness("strong").strong
    (0.5, True)

    Raises:
        HttpError: the header has none of the three forms.
    """
    if header is None:
        return Freshness()
    match = _FRESHNESS.fullmatch(header.strip())
    if match is None:
        raise HttpError("malformed_header", f"{FRESHNESS} is session, strong, or bounded;max-age=500ms (or 2s)")
    age = match["age"]
    return Freshness(
        strong=header.strip() == "strong",
        max_age=0.0 if age is None else int(age) / (1000 if match["unit"] == "ms" else 1),
    )


def query(
    description: str, *, name: str | None = None, enum: Sequence[str] | None = None, **schema: Any
) -> ParameterKwarg:
    """Describe a parameter of the query string. The core checks it; the words of JSON Schema are for the reader."""
    choices = None if enum is None else list(enum)
    return QueryParameter(name=name, description=description, enum=choices, schema_extra=schema or None)


def between(description: str, least: int, most: int) -> ParameterKwarg:
    """Describe a number that is at least `least` and at most `most`. The core checks it."""
    return query(description, minimum=least, maximum=most)


OnConflictParameter = Annotated[
    str | None, query("As the field of the body.", enum=["reject", "keep", "review", "supersede"])
]
AtomicParameter = Annotated[bool | None, query("As the field of the body.")]
ThenParameter = Annotated[bool, query("Search the space as it was when the receipt was made.")]
ConfirmParameter = Annotated[str, query("The name of the space once more.")]
DryRunParameter = Annotated[
    bool, query("Report what the request would do, without doing it. An Idempotency-Key is ignored.")
]
TaskParameter = Annotated[bool, query("Do the work as a task, and answer 202 with it; see docs/reference/tasks.md.")]
LimitParameter = Annotated[int, between("Largest number of items.", 1, 100)]
AsOfParameter = Annotated[
    str | None, query("Show the space as it was then: a time, or a point of history, whole or its number.")
]
SortParameter = Annotated[
    str | None,
    query("Order of the list; `-` is newest first. Without it that of the cursor, else `-created_at`.", enum=SORTS),
]
NoTouchParameter = Annotated[bool, query("Do not count this as a retrieval.")]
PurgeParameter = Annotated[
    bool | None, query("Erase the memory and its history permanently, and return the signed report.")
]
CursorParameter = Annotated[str | None, query("`next_cursor` of the page before.")]

CategoryParameter = Annotated[
    str | None,
    query(
        "The category of the names. Without it names without a category come first, then the one category "
        "that has the name. Keys of one category need none."
    ),
]

HISTORY_CHARACTERS = 1_000_000  # of the texts of a page of a history, about
PAST = ["past_retention", "point_ahead", "epoch_gone"]  # what is refused with `as_of`


# Standard parameters of a route, which it declares as `standard=` and the request reads: names in this order.
DRY = ("dry_run",)
KEYED = ("Idempotency-Key", "dry_run")
GUARDED = ("If-Match", "Idempotency-Key", "dry_run")

Declared = tuple[str, ParameterKwarg, FieldDefinition]


def declared(handler: BaseRouteHandler) -> Iterator[Declared]:
    """Yield name, source and type of each parameter of a handler, with those of its own dependencies."""
    yield from _declared(handler.parsed_fn_signature, handler.resolve_dependencies())
    standard = _declared(ParsedSignature.from_fn(_standard, {}), {})
    yield from (one for one in standard if one[0] in handler.opt.get("standard", ()))


def _standard(
    if_match: IfMatchHeader = None, idempotency_key: IdempotencyKeyHeader = None, dry_run: DryRunParameter = False
) -> None:
    """Declare the standard parameters."""


def _declared(signature: ParsedSignature, provided: Mapping[str, Any]) -> Iterator[Declared]:
    for name, field in signature.parameters.items():
        if field.is_di_field:
            if name in provided:
                yield from _declared(provided[name].parsed_fn_signature, provided)
        elif isinstance(field.kwarg_definition, ParameterKwarg):
            yield field.kwarg_definition.name or name, field.kwarg_definition, field


class KnownParameters:
    """Refuses what a handler would ignore. A handler with `opt["filters"]` reads the rest itself."""

    def __init__(self) -> None:
        self._known: dict[BaseRouteHandler, frozenset[str]] = {}

    def check(self, request: Request[Any, Any, Any]) -> None:
        """Raise `InvalidInput` when the query string has an unknown parameter, or one twice."""
        if not request.scope["query_string"]:
            return
        handler = request.route_handler
        known = self._known.get(handler)
        if known is None:
            known = frozenset(name for name, source, _ in declared(handler) if isinstance(source, QueryParameter))
            self._known[handler] = known
        problems = list(_problems(request, known, open_ended=bool(handler.opt.get("filters"))))
        if problems:
            raise InvalidInput(problems)


def _problems(request: Request[Any, Any, Any], known: frozenset[str], *, open_ended: bool) -> Iterator[Problem]:
    given = request.query_params
    for name in given:
        if name in known and len(given.getall(name)) > 1:
            yield Problem(f"$.{name}", "is given more than once")
        elif name not in known and not open_ended:
            takes = f"takes {', '.join(sorted(known))}" if known else "takes none"
            yield Problem(f"$.{name[:80]}", f"there is no such parameter; this request {takes}")


def version_in(cursor: str) -> int:
    """Return the version before which a page of a history begins.

    Raises:
        InvalidInput: the cursor is of no history.
    """
    if not (cursor.isascii() and cursor.isdigit() and 0 < len(cursor) < 16):
        raise InvalidInput.at("$.cursor", "is none of these answers; use the next_cursor of the page before")
    return int(cursor)
