"""Requests for contexts, the limits that they must keep, and the sections that a context has."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from muisti.core.conversations.context.counting import counter
from muisti.core.model.choices import CONTEXT_MAX, CONTEXT_MIN
from muisti.core.model.context import (
    SECTION_NAMES,
    TEMPLATE_MAX,
    TURNS_MAX,
    Compress,
    SectionName,
    Sections,
    Wanted,
)
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.hits import Evidence, Mode, Recency
from muisti.core.model.values import Json
from muisti.core.query.filters import And, Filter, Leaf, Not, Or, parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Part, Query

TITLES: Mapping[SectionName, str] = {
    "profile": "About the user\n",
    "instructions": "Standing instructions\n",
    "recent": "Recent turns\n",
    "summaries": "Summary\n",
    "about": "Facts about what is named\n",
    "facts": "Facts\n",
    "documents": "Documents\n",
    "decided": "Decided\n",
    "tried": "Tried\n",
    "failed": "Failed\n",
    "rejected": "Rejected\n",
    "open": "Open\n",
    "memories": "Memories\n",
}
NOTHING = "Nothing is known about this.\n"
NEAREST = "Nothing stored surely answers this. The nearest memories:\n"
LISTED = frozenset[SectionName]({"recent", "summaries"})  # of the conversation; no search finds them
EXCERPTS = frozenset[SectionName]({"about"})  # lines about memories, which may be shown in other sections too
USER = "user"  # author of facts that a user states of themselves
PROFILE_CATEGORY = "profile"

OUTCOMES: Mapping[SectionName, Mapping[str, Json]] = {
    "decided": {"or": [{"type": "decided"}, {"category": "decisions"}, {"tags": {"any": ["decided", "decision"]}}]},
    "tried": {"type": "tried"},
    "failed": {"type": "failed"},
    "rejected": {"type": "rejected"},
    "open": {"or": [{"category": {"in": ["tasks", "todo"]}}, {"tags": {"any": ["open", "todo"]}}]},
}
"""Filters of what work has come to. Their sections also show candidates, marked as such: no person reviews all."""

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
    **{
        name: parse({"kind": "memory", "status": ["active", "candidate"], **condition})
        for name, condition in OUTCOMES.items()
    },
}
_SURELY = frozenset[SectionName]({"profile", *OUTCOMES})


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
    both = And(tuple(limits)) if len(limits) > 1 else next(iter(limits), None)
    return Source(name, both, surely=name in _SURELY)


def of_conversation(name: str) -> Filter:
    """Select what belongs to a conversation, by its field or by the convention of metadata."""
    return Or((Leaf("conversation", "eq", name), Leaf("metadata.session", "eq", name)))


LEAST, MOST = 50, 200  # candidates of a section
INSTRUCTED = 8  # the part of the budget that instructions may take unasked: one in so many
TOKENS_EACH = 10  # of the budget for each candidate

RECENT_TOKENS = 300


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A context to be made. `sections` are filled and shown in this order, `memories` is filled last.

    `filter` holds for all sections that are searched for. `spaces` are searched beside the space that is asked, which
    has the weight 1 unless it is among them. `reference_time` is in microseconds, `time_zone` as in `Query`. `template`
    has the placeholders `$context`, `$query`, `$notice` and the names of sections; without one the layout is ours.

    `instructions` says whether standing instructions that apply come before the sections, in a section of their own
    that is there only when there are any. None: when `sections` are left out.

    `fill` asks to fill the budget, also with memories that say little beside the best.
    """

    query: str
    token_budget: int
    encoding: str
    conversation: str | None = None
    spaces: Sequence[Part] = ()
    sections: Sections | None = None
    compress: Compress = "long"
    template: str | None = None
    mode: Mode = "hybrid"
    filter: Filter | None = None
    recency: Recency | None = None
    as_of: AsOf | None = None
    reference_time: int | None = None
    time_zone: str | None = None
    min_evidence: Evidence = "none"
    no_touch: bool = False
    instructions: bool | None = None
    fill: bool = False

    @property
    def instructed(self) -> bool:
        """Return whether standing instructions are shown unasked."""
        if self.sections is not None and "instructions" in self.sections:
            return False
        return self.sections is None if self.instructions is None else self.instructions

    @property
    def wanted(self) -> Sections:
        """Return the sections: those asked for, else the memories, behind the last turns of the conversation."""
        if self.sections is not None:
            return self.sections
        recent: Sections = {} if self.conversation is None else {"recent": Wanted(max_tokens=RECENT_TOKENS)}
        return {**recent, "memories": Wanted()}

    @property
    def candidates(self) -> int:
        """Return how many candidates a section has; more than fit, and no more than can matter."""
        return min(max(self.token_budget // TOKENS_EACH, LEAST), MOST)

    def parts(self, space: str) -> list[Part]:
        """Return the spaces to search when `space` is asked, that one first unless it is named."""
        named = any(part.space == space for part in self.spaces)
        return [*self.spaces] if named else [Part(space), *self.spaces]

    def search(self, filter: Filter | None, limit: int, min_evidence: Evidence | None) -> Query:
        """Return the search for a section. A quotation mark demands nothing here."""
        return Query(
            text=self.query.replace('"', " "),
            limit=limit,
            mode=self.mode,
            filter=filter,
            recency=self.recency,
            as_of=self.as_of,
            reference_time=self.reference_time,
            time_zone=self.time_zone,
            min_evidence=min_evidence,
            no_touch=self.no_touch,
            instructions=0,
        )


_SHARES: Mapping[SectionName, float] = {  # of the budget, at most; what is left goes to the newest memories
    "decided": 0.35,
    "failed": 0.25,
    "tried": 0.15,
    "rejected": 0.15,
    "open": 0.2,
    "recent": 0.2,
}


def handoff(about: str, token_budget: int, encoding: str, conversation: str | None) -> Request:
    """Return the request for what the next agent must know: of a topic, else the newest.

    The conversation is the last one, whose last turns are shown.
    """
    sections: dict[SectionName, Wanted] = {
        name: Wanted(max_tokens=max(1, int(token_budget * share)))
        for name, share in _SHARES.items()
        if name != "recent" or conversation is not None
    }
    return Request(
        query=about,
        token_budget=token_budget,
        encoding=encoding,
        conversation=conversation,
        sections={**sections, "memories": Wanted()},
        mode="hybrid" if about.strip() else "recent",
        filter=parse({"kind": "memory"}),
    )


def check_request(request: Request) -> None:
    """Raise `InvalidInput` for a request that no context can be made for. The search checks the query itself."""
    counter(request.encoding)  # before the encoding is used
    problems = [*_problems(request)]
    if problems:
        raise InvalidInput(problems)


def _problems(request: Request) -> Iterator[Problem]:
    if not CONTEXT_MIN <= request.token_budget <= CONTEXT_MAX:
        message = f"{request.token_budget} is not between {CONTEXT_MIN} and {CONTEXT_MAX:,}"
        yield Problem("$.token_budget", message)
    if request.template is not None and len(request.template) > TEMPLATE_MAX:
        yield Problem("$.template", f"has {len(request.template):,} characters; at most {TEMPLATE_MAX:,} are allowed")
    wanted = request.wanted
    for name, section in wanted.items():
        if name not in SECTION_NAMES:
            yield Problem(f"$.sections.{name[:40]}", f"is none of {', '.join(SECTION_NAMES)}")
        if section.max_tokens is not None and not 1 <= section.max_tokens <= CONTEXT_MAX:
            yield Problem(f"$.sections.{name}.max_tokens", f"{section.max_tokens} is not between 1 and {CONTEXT_MAX:,}")
        if not 1 <= section.turns <= TURNS_MAX:
            yield Problem(f"$.sections.{name}.turns", f"{section.turns} is not between 1 and {TURNS_MAX}")
    for name in ("recent", "summaries"):
        if name in wanted and request.conversation is None:
            yield Problem("$.conversation", f"is needed for the section {name}")
