"""Declaration of a tool: a function whose name, docstring and arguments give what clients read, in few words.

`service.mcp.tools` says which of them a caller sees. Every word here takes space in the context window of every
client, on every turn. Every schema has a type: strict clients, such as those of Gemini, drop a tool with an enumeration
that has none. Bounds are left out: a value out of bounds is refused with a message that names them.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import inspect

from muisti.core.model.choices import CLEAR_PHRASE, Scope
from muisti.core.model.decoding import decoder
from muisti.service.settings.tool_groups import Group
from muisti.service.tools.session import Call, Outcome

WORDS: Mapping[str, str] = {  # describes each argument
    "space": "From list_spaces",
    "id": "Or category and key",
    "content": "One idea that makes sense alone",
    "contents": "Several",
    "kind": "Leave out",
    "category": "With key",
    "key": "Name in the category",
    "type": "procedure: how to do it; guard: never do it; observation: unsure; decided to rejected: outcomes",
    "status": "candidate: hidden until promoted",
    "importance": "critical ranks first",
    "author": "Who said it",
    "reason": "Why",
    "source": "e.g. a URL",
    "tags": "e.g. topic:auth",
    "metadata": "Any JSON",
    "event_at": "When it happened; ISO 8601, UTC",
    "valid_from": "True since",
    "valid_to": "True before",
    "expires_at": "Hidden then",
    "ttl": "Or seconds until then",
    "parent_id": "Part of which",
    "source_class": "Kind of author, for trust",
    "derived_from": "Source ids",
    "handoff": "What was decided, tried, failed, is open",
    "anchors": "path:symbol",
    "replace": "Overwrite the one at category and key",
    "supersedes": "Id of one to retire",
    "on_conflict": "If it repeats or contradicts one. Default reject; keep: store both; "
    "review: a person decides; supersede: retire that one",
    "idempotency_key": "Same on retry",
    "dry_run": "Only check",
    "changes": "Fields of remember, e.g. {content: new text}; null clears; status active promotes a candidate",
    "query": "Question; its quoted words first",
    "limit": "Most results",
    "max_tokens": "Default 2000",
    "encoding": "How tokens are counted",
    "profile": "Tokens for preferences",
    "full": "All fields",
    "filter": "Fields of remember, e.g. {type: guard}",
    "changed_after": "Since then; UTC",
    "changed_before": "Before then",
    "mode": "auto: reads filters too",
    "match": "all, phrase: only hits with them",
    "min_evidence": "none: all",
    "applies": "Probability; 0: all",
    "facts": "Facts first",
    "recency_weight": "0 to 1: prefer new",
    "half_life_days": "Of recency",
    "as_of": "Past time",
    "time_zone": "IANA",
    "no_touch": "Not counted as use",
    "instructions": "Standing ones",
    "cursor": "next_cursor of the last answer",
    "sort": "-: newest first",
    "feedback": "useful ranks higher",
    "if_version": "Only if still this",
    "decision": "What to do",
    "candidate": "Its id",
    "conflict": "Its id",
    "version": "Default: the one before",
    "last": "Of your changes",
    "since": "Default a week ago",
    "conversation": "Its name",
    "items": "{user, system} or {author, content}; turn?, at?",
    "session": "Group of conversations",
    "action": "What to do",
    "name": "Name",
    "turns": "First and last",
    "title": "Its new title",
    "step": "build adds a second model, switch uses it, rollback the one before",
    "model": "For build and drop",
    "force": "Even if incomplete or worse",
    "ndjson": "The lines of the export",
    "path": "Its path",
    "server_path": "Or a file on the server",
    "strategy": "What to end",
    "confirm": CLEAR_PHRASE,
    "document": "Path or id",
    "folder": "Start of paths to list",
    "older_than_days": "Since they were created",
    "description": "What it is for",
    "other": "End of a path, or object of relations",
    "others": "Names to merge or keep apart",
    "depth": "Steps to neighbours",
    "object": "Name of the other entity",
    "text": "A value in place of object",
    "negative": "It is not so",
    "statement": "Id to retract",
}


Json = dict[str, Any]

_NAMES: Mapping[type, str] = {
    inspect.StrType: "string",
    inspect.DateTimeType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.DictType: "object",
    inspect.StructType: "object",
    inspect.NoneType: "null",
}


@cache
def fields_of(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """Return the fields of a type."""
    found = inspect.type_info(kind)
    assert isinstance(found, inspect.StructType)
    return found.fields


@cache
def properties_of(kind: type[msgspec.Struct]) -> Mapping[str, Json]:
    """Return the schema of each argument of a type, without descriptions."""
    return {field.encode_name: _of_field(field) for field in fields_of(kind)}


@cache
def required_of(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the names of the arguments that must be there."""
    return tuple(field.encode_name for field in fields_of(kind) if field.required)


def described(name: str, schema: Json, words: Mapping[str, str]) -> Json:
    """Return the schema with the description of its argument; `words` are those of the tool, before the common ones."""
    return {**schema, "description": words.get(name, WORDS[name])}


def _of_field(field: inspect.Field) -> Json:
    """Return the schema of a field. It allows null only where null means something else than leaving the field out."""
    found = field.type
    if isinstance(found, inspect.UnionType) and field.default is None:
        found = inspect.UnionType(tuple(one for one in found.types if not isinstance(one, inspect.NoneType)))
    return _schema(found)


def _schema(found: inspect.Type) -> Json:
    match found:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            choices = {"enum": extra["enum"]} if extra and "enum" in extra else {}
            return {**_schema(inner), **choices}
        case inspect.LiteralType(values=values):
            return {"type": "string", "enum": list(values)}
        case inspect.ListType(item_type=item):
            return {"type": "array", "items": _schema(item)}
        case inspect.UnionType(types=types):
            return _either([_schema(one) for one in types])
        case _:
            return {"type": _NAMES[type(found)]}


def _either(schemas: list[Json]) -> Json:
    """Return one schema of several; a text stands for a whole number too."""
    if len(schemas) == 1:
        return schemas[0]
    types = list(dict.fromkeys(one["type"] for one in schemas))
    kind = "string" if sorted(types) == ["integer", "string"] else types[0] if len(types) == 1 else types
    rest = {name: value for one in schemas for name, value in one.items() if name != "type"}
    return {"type": kind, **rest}


Run = Callable[[Call, Any], Awaitable[Outcome]]
# `whole`: about all of a space, so not for keys of one category; `across`: about spaces, so not for keys of one space.
# `staged`: answered in another way for clients with capabilities, perhaps by a task or a question.
# `app`: shows an app, and `click`: only an app calls it.
Trait = Literal["destructive", "idempotent", "whole", "across", "staged", "app", "click"]


class Tool(msgspec.Struct, frozen=True):
    """A tool: the function that runs it, the scope that it needs, and what a client reads.

    Name, arguments and description are those of the function. A client sees it when it is offered the tool's `group`.
    `words` describe arguments where `WORDS` do not fit.
    """

    run: Run
    needs: Scope
    traits: frozenset[Trait]
    group: Group
    words: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def arguments(self) -> type[msgspec.Struct]:
        return [*self.run.__annotations__.values()][1]

    @property
    def description(self) -> str:
        return " ".join((self.run.__doc__ or "").split())

    @property
    def read_only(self) -> bool:
        return self.needs == "read" and "destructive" not in self.traits

    @property
    def in_space(self) -> bool:
        """Tell whether it works in one space."""
        return "space" in properties_of(self.arguments)


def tool(
    needs: Scope, *traits: Trait, group: Group = "memory", words: Mapping[str, str] | None = None
) -> Callable[[Run], Tool]:
    """Make a tool of a function, whose docstring clients read."""

    def made(run: Run) -> Tool:
        found = Tool(run, needs, frozenset(traits), group, words or {})
        decoder(found.arguments)
        return found

    return made
