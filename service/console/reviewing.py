"""Conflicts, lint findings, candidates and pairs of names as a person decides on them. Pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from muisti.client import Call
from muisti.service.console.diff import Piece, around, diff


class Tab(NamedTuple):
    """A part of the review. `number` is None when it is not known without much work."""

    name: str
    title: str
    path: str
    number: str | None


class Decision(NamedTuple):
    """A possible decision. `key` is pressed for it, `effect` says what it does, `needs` is the scope of a key."""

    name: str
    title: str
    key: str
    effect: str
    needs: str = "write"


class Side(NamedTuple):
    """One of two memories; `pieces` marks the words that the other one does not have."""

    id: str
    pieces: Sequence[Piece]
    author: str
    address: str
    trust: int
    stored_at: str


class Dispute(NamedTuple):
    """An open conflict: two memories side by side."""

    id: str
    title: str
    alike: str
    opened_at: str
    actor: str
    existing: Side
    new: Side


class Fix(NamedTuple):
    """One step that mends a finding. `call` does it, `erases` says that nothing brings the memory back."""

    sentence: str
    call: Call
    erases: bool


DECISIONS = (
    Decision(
        "supersede", "Use the new one", "a", "The new memory takes the place of the existing one. This can be undone."
    ),
    Decision("reject", "Keep the existing one", "r", "The new memory is deleted. This can be undone.", "delete"),
    Decision(
        "keep", "Keep both", "b", "Both memories stay as they are. This closes the question and cannot be undone."
    ),
)
KINDS: Mapping[str, str] = {
    "conflict": "They contradict each other",
    "possible_conflict": "They may contradict each other",
    "duplicate": "They say the same",
}
CHECKS: Mapping[str, str] = {
    "secret": "Contains a secret",
    "contradiction": "Contradicts another memory",
    "duplicate": "Says what another memory says",
    "orphaned": "Refers to something that is gone",
    "oversized": "Too large to be found well",
    "stale": "Not used for a long time",
    "never_recalled": "Never retrieved",
}
REASONS: Mapping[str, str] = {
    "spelling": "spelt nearly alike",
    "prefix": "one begins with the other",
    "name_part": "one is a part of the other",
    "acronym": "one is short for the other",
}


def disputes(items: Iterable[Mapping[str, Any]]) -> list[Dispute]:
    """Return open conflicts with the words marked by which both memories differ."""
    return [_dispute(one) for one in items]


def _dispute(one: Mapping[str, Any]) -> Dispute:
    pieces = around(diff(one["existing"]["content"], one["new"]["content"]))
    return Dispute(
        id=one["id"],
        title=KINDS[one["kind"]],
        alike=alike(one["similarity"]),
        opened_at=one["opened_at"],
        actor=one["actor"],
        existing=_side(one["existing"], [piece for piece in pieces if piece.change != "ins"]),
        new=_side(one["new"], [piece for piece in pieces if piece.change != "del"]),
    )


def _side(memory: Mapping[str, Any], pieces: Sequence[Piece]) -> Side:
    address = "/".join(part for part in (memory["category"], memory["key"]) if part)
    return Side(memory["id"], pieces, memory["author"] or "", address, memory["trust"], memory["created_at"])


def alike(similarity: float | None) -> str:
    """Return how alike two texts are.

    >>> alike(0.9904), alike(None)
    ('99 % alike', 'likeness not measured')
    """
    return "likeness not measured" if similarity is None else f"{similarity:.0%}".replace("%", " % alike")


def counted(items: Sequence[Any], more: bool) -> str:
    """Return a number of items, with a plus when there are more than were read.

    >>> counted([1, 2], False), counted([1, 2], True)
    ('2', '2+')
    """
    return f"{len(items):,}" + ("+" if more else "")


def fixes(finding: Mapping[str, Any], *, dry_run: bool, request: str) -> list[Fix]:
    """Return the steps that mend a finding of lint. They share a request id, so that one undo takes all back."""
    return [_fix(one, dry_run, request) for one in finding["fix"]]


def _fix(one: Mapping[str, Any], dry_run: bool, request: str) -> Fix:
    parts = urlsplit(one["path"])
    params = dict(parse_qsl(parts.query)) | {"dry_run": "true" if dry_run else "false"}
    call = Call(one["method"], parts.path, params, {"X-Request-Id": request}, one["body"])
    return Fix(_sentence(one["method"], parts.path, params, one["body"]), call, "purge" in params)


def _sentence(method: str, path: str, params: Mapping[str, str], body: Mapping[str, Any] | None) -> str:
    if method == "DELETE":
        return "Erase the memory with all its versions." if "purge" in params else "Delete the memory."
    if method == "PATCH":
        changes = ", ".join(f"{name} to {_value(value)}" for name, value in (body or {}).items())
        return f"Change {changes}."
    if path.endswith("/restore"):
        return "Restore the memory."
    if path.endswith("/supersede"):
        return "Put a new version of the memory in its place."
    return f"Store it in {len((body or {})['memories'])} parts."


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def same(findings: Iterable[Mapping[str, Any]], check: str, memory_id: str) -> Mapping[str, Any] | None:
    """Return the finding of a check about a memory; None when it is there no more."""
    return next((one for one in findings if one["check"] == check and one["memory_id"] == memory_id), None)
