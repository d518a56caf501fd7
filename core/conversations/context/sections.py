"""The sections of a context: which memories each is filled from."""

from collections.abc import Mapping

import msgspec

from muisti.core.model.context import SectionName, Wanted
from muisti.core.query.filters import And, Filter, Leaf, Not, Or, parse

TITLES: Mapping[SectionName, str] = {
    "profile": "About the user\n",
    "instructions": "Standing instructions\n",
    "recent": "Recent turns\n",
    "summaries": "Summary\n",
    "about": "Facts about what is named\n",
    "facts": "Facts\n",
    "documents": "Documents\n",
    "memories": "Memories\n",
}
NOTHING = "Nothing is known about this.\n"
LISTED = frozenset[SectionName]({"recent", "summaries"})  # of the conversation; no search finds them
EXCERPTS = frozenset[SectionName]({"about"})  # lines about memories, which may be shown in other sections too
USER = "user"  # author of facts that a user states of themselves
PROFILE_CATEGORY = "profile"

_PROFILE = parse(
    {
        "kind": "memory",
        "status": "active",
        "or": [{"type": ["preference", "guard"]}, {"type": "fact", "author": USER}, {"category": PROFILE_CATEGORY}],
    }
)
_KINDS: Mapping[SectionName, Filter] = {
    "profile": _PROFILE,
    "facts": parse({"kind": "memory", "type": "fact"}),
    "documents": parse({"kind": "chunk"}),
}


class Source(msgspec.Struct, frozen=True):
    """The search that fills a section: its filter, and whether it has no threshold of evidence (`surely`)."""

    name: SectionName
    filter: Filter | None
    surely: bool = False


def source(name: SectionName, asked: Mapping[SectionName, Wanted], own: Filter | None) -> Source:
    """Return how a section that is searched for is filled. `own` is the filter of the request.

    The section `memories` has what the other sections that were asked for do not take by their kind.
    """
    limits = [own] if own is not None else []
    if name in _KINDS:
        limits.append(_KINDS[name])
    elif "documents" in asked:
        limits.append(Not(_KINDS["documents"]))
    return Source(name, _all(limits), surely=name == "profile")


def of_conversation(name: str) -> Filter:
    """Select what belongs to a conversation, by its field or by the convention of metadata."""
    return Or((Leaf("conversation", "eq", name), Leaf("metadata.session", "eq", name)))


def _all(parts: list[Filter]) -> Filter | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return And(tuple(parts))
