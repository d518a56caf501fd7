"""The context that an agent would get: its text with citations, and its tokens by section as a bar of the budget."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from muisti.service.console.asking.settings import Wrong

WIDE = 1000
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
REASONS = {"budget": "the context was full", "section": "its section was full"}
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


class Share(NamedTuple):
    """The tokens of a section, and their stretch of the bar."""

    name: str
    tokens: int
    percent: str
    memories: int
    note: str
    colour: str
    x: str
    width: str


class Stretch(NamedTuple):
    """A stretch of the text; of a memory when `id` is not empty."""

    text: str
    id: str = ""
    n: int = 0
    section: str = ""
    space: str = ""
    cut: bool = False


class LeftOut(NamedTuple):
    """A memory that was found and left out."""

    id: str
    space: str
    section: str
    score: str
    tokens: int
    reason: str


class ContextView(NamedTuple):
    """A context as it is drawn."""

    tokens: int
    budget: int
    free: int
    percent: str
    encoding: str
    evidence: str
    shares: Sequence[Share]
    text: Sequence[Stretch]
    citations: Sequence[Stretch]
    left_out: Sequence[LeftOut]
    left_out_total: int
    next_budget: int | None
    notes: Sequence[str]


def context_view(found: Mapping[str, Any]) -> ContextView:
    """Return what is drawn of a context."""
    budget = found["token_budget"]
    text = list(_stretches(found["text"], found["citations"]))
    return ContextView(
        tokens=found["tokens"],
        budget=budget,
        free=budget - found["tokens"],
        percent=f"{found['tokens'] / budget:.0%}",
        encoding=found["encoding"],
        evidence=found["evidence"],
        shares=list(_shares(found)),
        text=text,
        citations=[one for one in text if one.id],
        left_out=[
            LeftOut(
                one["id"], one["space"], one["section"], f"{one['score']:.3f}", one["tokens"], REASONS[one["reason"]]
            )
            for one in found["left_out"]
        ],
        left_out_total=found["left_out_total"],
        next_budget=found["next_budget"],
        notes=found["degraded"],
    )


def _shares(found: Mapping[str, Any]) -> Iterator[Share]:
    """Yield the sections, and last what is around them; the widths add up to that of all tokens."""
    budget, at = found["token_budget"], 0
    frame = found["tokens"] - sum(one["tokens"] for one in found["sections"])
    around = {"name": "around them", "tokens": frame, "memories": 0, "note": "notice, question, dates"}
    for one in (*found["sections"], *([around] if frame > 0 else [])):
        yield Share(
            name=one["name"],
            tokens=one["tokens"],
            percent=f"{one['tokens'] / budget:.1%}",
            memories=one["memories"],
            note=one.get("note", ""),
            colour=SECTIONS.get(one["name"], "frame"),
            x=f"{at / budget * WIDE:.1f}",
            width=f"{one['tokens'] / budget * WIDE:.1f}",
        )
        at += one["tokens"]


def _stretches(text: str, citations: Sequence[Mapping[str, Any]]) -> Iterator[Stretch]:
    """Yield the text in order, cut where memories begin and end."""
    at = 0
    for one in sorted(citations, key=lambda one: one["start"]):
        if one["start"] > at:
            yield Stretch(text[at : one["start"]])
        start = max(at, one["start"])
        yield Stretch(text[start : one["stop"]], one["id"], one["n"], one["section"], one["space"], one["cut"])
        at = max(at, one["stop"])
    if at < len(text):
        yield Stretch(text[at:])
