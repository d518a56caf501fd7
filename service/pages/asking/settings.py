"""Settings of a question and of a context: read from the parameters of a URL, written as the body of a request.

A context is drawn as its text with citations, and its tokens by section as a bar of the budget.

A second setting has the same parameters with `b.` before their names. Filter and question belong to both.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from muisti.service.console.filter_form import TYPES as TYPES

SECOND = "b."
SHOWN = {"explain": True, "highlight": True, "no_touch": True}  # looking does not count as a retrieval
LISTS = ("metadata", "recent")  # modes that need no question

MODES = {
    "hybrid": "meaning and words",
    "semantic": "meaning",
    "keyword": "words",
    "metadata": "no text: importance, then age",
    "recent": "no text: newest first",
    "auto": "what the question asks for",
}
MATCHES = {"any": "any word", "all": "every word", "phrase": "the exact phrase"}
FUSIONS = {
    "absolute": "absolute scores",
    "convex": "scaled by lowest and highest",
    "rrf": "reciprocal ranks",
    "dbsf": "scaled by spread",
}
LEVELS = {"weak": "weak or strong", "strong": "strong"}
APPLIES = {"all": "all that were found"}
FACTS = {"first": "memories with a fact that answers"}
PRESETS = {
    "balanced": "balanced",
    "embedding-focused": "mostly meaning",
    "tag-focused": "mostly tags",
    "similarity-only": "similarity only",
}
KINDS = ("memory", "exchange", "chunk")


class Wrong(Exception):
    """Signal that a parameter cannot be read: its name, and what to send."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Setting(NamedTuple):
    """A parameter that changes how memories are ranked. `place` is its path in the body of a request."""

    name: str
    label: str
    place: tuple[str, ...]
    read: Callable[[str], Any]
    usual: str
    choices: Mapping[str, str] | None = None
    most: float | None = None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("must be a whole number") from None


def _decimal(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a number, such as 0.3") from None


def _choice(names: Mapping[str, str], text: str) -> str:
    if text not in names:
        raise ValueError(f"must be one of {', '.join(names)}")
    return text


def _chosen(name: str, label: str, choices: Mapping[str, str], usual: str) -> Setting:
    return Setting(name, label, (name,), partial(_choice, choices), usual, choices)


SETTINGS: tuple[Setting, ...] = (
    _chosen("mode", "Rank by", MODES, "meaning and words"),
    _chosen("match", "Match", MATCHES, "any word"),
    Setting("limit", "Max. hits", ("limit",), _whole, "10", most=100),
    _chosen("min_evidence", "Min. evidence", LEVELS, "any"),
    _chosen("applies", "Show hits", APPLIES, "that probably answer"),
    Setting("facts", "Sort by", ("facts",), lambda text: bool(_choice(FACTS, text)), "the best scores", FACTS),
    _chosen("fusion", "Combine rankings by", FUSIONS, "absolute scores"),
    Setting("alpha", "Weight of meaning", ("alpha",), _decimal, "default", most=1),
    Setting("recency", "Weight of age", ("recency", "weight"), _decimal, "space default", most=1),
    Setting("half_life", "Half-life in days", ("recency", "half_life_days"), _decimal, "30"),
    Setting("trust", "Weight of trust", ("trust_weight",), _decimal, "0", most=0.5),
    Setting("graph", "Weight of the graph", ("rankings", "graph"), _decimal, "0", most=1),
    Setting("diversity", "Weight of novelty", ("diversity",), _decimal, "0", most=1),
    _chosen("preset", "Add up by", PRESETS, "rankings"),
)
FILTERS = ("category", "tags", "type", "kind", "author", "since", "until", "filter")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a URL has it. `values` are the parameters that are not empty."""

    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def compares(self) -> bool:
        """Whether there is a second setting beside the first."""
        return bool(self["compare"])

    @property
    def filters(self) -> list[str]:
        """The parameters that narrow the question down."""
        return [name for name in FILTERS if self[name]]

    @property
    def set(self) -> bool:
        """Whether any setting is not the usual one."""
        return any(self[one.name] for one in SETTINGS)

    def ready(self, prefix: str = "") -> bool:
        """Return whether there is something to send: a question, or a mode that needs none."""
        return bool(self["q"].strip()) or self[prefix + "mode"] in LISTS

    def body(self, prefix: str = "") -> dict[str, Any]:
        """Return the body of a search with the settings of this prefix.

        Raises:
            Wrong: a parameter cannot be read.
        """
        body: dict[str, Any] = {"query": self["q"]}
        for one in SETTINGS:
            if text := self[prefix + one.name]:
                _put(body, one.place, _read(prefix + one.name, one.read, text))
        if filter := self.filter():
            body["filter"] = filter
        if expected := self["expect"].strip():
            body["explain_ids"] = [expected]
        body["applies"] = "applies" not in body
        return body | SHOWN

    def filter(self) -> dict[str, Any] | None:
        """Return the filter of the friendly fields and of the JSON, None for none.

        Raises:
            Wrong: the JSON cannot be read.
        """
        fields = dict(self._friendly())
        raw = _read("filter", _object, self["filter"]) if self["filter"] else None
        return {"and": [raw, fields]} if raw and fields else raw or fields or None

    def _friendly(self) -> Iterator[tuple[str, Any]]:
        yield from ((name, self[name]) for name in ("category", "author", "type", "kind") if self[name])
        if tags := [tag for part in self["tags"].split(",") if (tag := part.strip())]:
            yield "tags", {"all": tags}
        if bounds := {sign: self[name] for sign, name in (("gte", "since"), ("lt", "until")) if self[name]}:
            yield "created_at", bounds

    def changed(self, **changes: str | None) -> dict[str, str]:
        """Return the parameters with changes; None removes one."""
        return {name: value for name, value in {**self.values, **changes}.items() if value}


def asked_of(params: Mapping[str, str]) -> Asked:
    """Return the question of a URL; parameters that are empty or of other pages are left out.

    >>> dict(asked_of({"q": "tea", "mode": "", "b.limit": "3", "x": "y"}).values)
    {'q': 'tea', 'b.limit': '3'}
    """
    names = [one.name for one in SETTINGS]
    known = {"q", "expect", "compare", *FILTERS, *names, *(SECOND + name for name in names)}
    return Asked({name: value for name, value in params.items() if name in known and value})


def _put(body: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    for name in place[:-1]:
        body = body.setdefault(name, {})
    body[place[-1]] = value


def _read(name: str, read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text.strip())
    except ValueError as problem:
        raise Wrong(name, str(problem)) from None


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"is not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise ValueError('must be an object, such as {"tags": ["release"]}')
    return found


BAR_WIDE = 1000
SECTIONS: Mapping[str, str] = {  # each with the class of its colour
    "profile": "four",
    "instructions": "six",
    "recent": "five",
    "summaries": "three",
    "about": "six",
    "facts": "two",
    "documents": "one",
    "memories": "one",
}
REASONS = {
    "budget": "the context was full",
    "section": "its section was full",
    "filler": "adds little to what is shown",
}
LAST = "memories"  # the section that gets what the others leave
CHOSEN = "s."  # before the name of a section in a URL


@dataclass(frozen=True, slots=True)
class Wanted:
    """A context as a URL asks for it. `values` are the parameters that are not empty."""

    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def sections(self) -> list[str]:
        """The sections that are asked for by name; none for the usual ones."""
        return [name for name in SECTIONS if self[CHOSEN + name]]

    def body(self) -> dict[str, Any]:
        """Return the body of the request.

        Raises:
            Wrong: a number of tokens is none.
        """
        body: dict[str, Any] = {"query": self["q"], "no_touch": True}
        if self["budget"]:
            body["token_budget"] = self._tokens("budget")
        if self["conversation"]:
            body["conversation"] = self["conversation"]
        if self["evidence"]:
            body["min_evidence"] = self["evidence"]
        if self.sections:
            limit = {"max_tokens": self._tokens("each")} if self["each"] else {}
            body["sections"] = {name: {} if name == LAST else limit for name in self.sections}
        return body

    def _tokens(self, name: str) -> int:
        if not self[name].isdecimal():
            raise Wrong(name, "must be a whole number of tokens")
        return int(self[name])


def wanted_of(params: Mapping[str, str]) -> Wanted:
    """Return the context of a URL; parameters that are empty or of other pages are left out."""
    known = {"q", "budget", "each", "conversation", "evidence", *(CHOSEN + name for name in SECTIONS)}
    return Wanted({name: value for name, value in params.items() if name in known and value})


def context_view(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is drawn of a context."""
    budget = found["token_budget"]
    text = list(_stretches(found["text"], found["citations"]))
    return {
        **found,
        "free": budget - found["tokens"],
        "percent": f"{found['tokens'] / budget:.0%}",
        "shares": list(_shares(found)),
        "text": text,
        "citations": [one for one in text if one["id"]],
        "left_out": [{**one, "reason": REASONS[one["reason"]]} for one in found["left_out"]],
    }


def _shares(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the sections, and last what is around them; the widths add up to that of all tokens."""
    budget, at = found["token_budget"], 0
    frame = found["tokens"] - sum(one["tokens"] for one in found["sections"])
    around = {"name": "around them", "tokens": frame, "memories": 0, "note": "notice, question, dates"}
    for one in (*found["sections"], *([around] if frame > 0 else [])):
        yield {
            **one,
            "percent": f"{one['tokens'] / budget:.1%}",
            "note": one.get("note", ""),
            "colour": SECTIONS.get(one["name"], "frame"),
            "x": f"{at / budget * BAR_WIDE:.1f}",
            "width": f"{one['tokens'] / budget * BAR_WIDE:.1f}",
        }
        at += one["tokens"]


def _stretches(text: str, citations: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the text in order, cut where memories begin and end; a stretch of a memory has its citation."""
    at = 0
    for one in sorted(citations, key=lambda one: one["start"]):
        if one["start"] > at:
            yield {"text": text[at : one["start"]], "id": ""}
        start = max(at, one["start"])
        yield {**one, "text": text[start : one["stop"]]}
        at = max(at, one["stop"])
    if at < len(text):
        yield {"text": text[at:], "id": ""}
