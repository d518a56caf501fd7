"""Made from the OpenAPI document of the server by generate.py."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003
from typing import Any

from ._result import Result


class MemoryItem(Result, frozen=True, kw_only=True):
    """A memory in one of its versions."""

    id: str
    space: str
    version: int
    kind: str
    category: str | None
    key: str | None
    content: str
    type: str
    status: str
    importance: str
    author: str | None
    reason: str | None
    source: str | None
    tags: list[str]
    metadata: dict[str, Any]
    event_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    supersedes: str | None
    superseded_by: str | None
    parent_id: str | None
    source_class: str
    derived_from: list[str]
    trust: int
    tokens: int
    session: str | None
    conversation: str | None
    topic: str | None
    turn: int | None
    document: str | None
    position: int | None
    structure: dict[str, Any]


class Stored(MemoryItem, frozen=True, kw_only=True):
    """The memory that was added, and current ones that are like it."""

    flags: list[Flag]
    degraded: list[str] = []
    suggestions: list[TypeSuggestion] = []
    similar: list[Likeness]
    checked_at: str | None


class Amount(Result, frozen=True, kw_only=True):
    """Use and limit of one amount; a null limit means none."""

    used: int
    limit: int | None


class Batch(Result, frozen=True, kw_only=True):
    """The memories that were added, in the order of the request."""

    items: list[MemoryItem]
    flags: list[Flag]
    seq: str
    degraded: list[str] = []
    suggestions: list[TypeSuggestion] = []


class Change(Result, frozen=True, kw_only=True):
    """A change. `show` decides whether `before` and `after` are sent; null where the memory did or does not exist."""

    seq: int
    at: datetime
    change: str
    memory_id: str | None
    version: int | None
    actor: str | None
    request: str | None
    before: MemoryItem | None = None
    after: MemoryItem | None = None
    point: str = ""


class Changes(Result, frozen=True, kw_only=True):
    """Changes, oldest first. To continue after them, send `seq` as `since`."""

    items: list[Change]
    next_cursor: str | None
    seq: str


class Citation(Result, frozen=True, kw_only=True):
    """A memory in the text. `start` and `stop` are characters; `cut` says that parts of it are left out."""

    n: int
    id: str
    space: str
    version: int
    section: str
    start: int
    stop: int
    cut: bool
    score: float | None


class Context(Result, frozen=True, kw_only=True):
    """A text for a prompt, its exact size, and what it rests on."""

    text: str
    tokens: int
    token_budget: int
    encoding: str
    evidence: str
    strength: float
    strategy: str
    sections: list[Section]
    citations: list[Citation]
    left_out: list[LeftOut]
    left_out_total: int
    next_budget: int | None
    degraded: list[str]
    spaces: list[SpaceRead]
    seq: str
    receipt: str | None = None


class Difference(Result, frozen=True, kw_only=True):
    """A difference between two similar memories; null for a side that has nothing of this kind."""

    kind: str
    existing: str | None
    new: str | None


class Diverged(Result, frozen=True, kw_only=True):
    """A memory that both spaces have changed: its id in the space and in the other, and what it says in each."""

    id: str
    other: str
    ours: str | None
    theirs: str | None


class Erasure(Result, frozen=True, kw_only=True):
    """The report of an erasure, plain and signed. The server keeps no copy. A dry run has neither."""

    report: Report | None = None
    signed: str | None = None


class Explanation(Result, frozen=True, kw_only=True):
    """Every factor of a score = fused * time * recency * importance * trust * feedback, at most 1. `fused` follows from `lexical` and `cosine`, and with absolute fusion from the parts of `blend`. Contributions of `signals` and the weight of a space are more factors. With a preset `composite`, the sum of the contributions, is in place of `fused`."""

    fusion: str | None
    alpha: float | None
    lexical: float | None
    bm25: float | None
    cosine: float | None
    blend: dict[str, Any] | None
    fused: float
    time: NamedTime | None
    recency: float
    decay: dict[str, Any] | None = None
    importance: float
    trust: float
    feedback: float
    age_days: float | None
    refreshed_days: float
    terms: dict[str, Any]
    graph: Signal | None = None
    signals: dict[str, Any] | None = None
    composite: float | None = None
    space_weight: float | None = None
    novelty: Novelty | None = None
    symbol: SymbolMatch | None = None
    quoted: QuoteMatch | None = None
    parts: dict[str, Any]
    sentence: str


class FieldChange(Result, frozen=True, kw_only=True):
    """A changed field, with its old and new value."""

    field: str
    before: Any
    after: Any


class FieldProblem(Result, frozen=True, kw_only=True):
    """A bad field or parameter: a JSON path such as `$.memories[3].key`, and what to do."""

    path: str
    message: str


class Flag(Result, frozen=True, kw_only=True):
    """A difference between a write and its request. `redacted`: something was taken out at `path`, of which `kind` says what it looked like. `suspected`: something there may be a secret (`kind`), too unsure to refuse or to take out, and is stored. `trust_lowered`: it is trusted less than its source class (`kind`), for it is derived from `ids`. `echo`: it only repeats `ids`, which its author has just found, and counts as derived from them."""

    code: str
    path: str
    kind: str | None
    ids: list[str]


class Group(Result, frozen=True, kw_only=True):
    """The group of which a hit is the best: its memories among the ranked candidates, and among `total`."""

    value: Any
    ranked: int
    count: int


class History(Result, frozen=True, kw_only=True):
    """Versions of a memory, newest first."""

    items: list[Version]
    chain: list[str]
    next_cursor: str | None


class Hit(Result, frozen=True, kw_only=True):
    """A memory that answers, with its rank in each ranking, from 1. `place` is on chunks of documents. All others after `passage` are sent on request."""

    memory: MemoryItem
    score: float
    ranks: dict[str, Any]
    passage: Passage
    highlight: str | None = None
    explain: Explanation | None = None
    group: Group | None = None
    context: Surroundings | None = None
    place: Place | None = None


class Import(Result, frozen=True, kw_only=True):
    """Report of an import."""

    import_id: int | None
    dry_run: bool
    source: str | None
    created: int
    good: int
    versions: int
    skipped: dict[str, Any]
    failed: int
    failures: list[Line]
    flags: list[Flag]
    vectors_kept: int
    vectors_embedded: int
    origin: str | None
    seq: str


class Instead(Result, frozen=True, kw_only=True):
    """The way on from an undo that is refused: the request, import or task to undo or to end, where there is one."""

    request: str | None = None
    last: int | None = None
    import_id: int | None = None
    task: str | None = None


class Instruction(Result, frozen=True, kw_only=True):
    """A standing instruction that applies to the question, judged by its scope clause or its sentence."""

    memory: MemoryItem
    reason: str
    scope: Stretch | None
    score: float


class Intent(Result, frozen=True, kw_only=True):
    """The reading of a query: the mode and filter that its words ask for, and the text that is left to rank by."""

    kind: str
    mode: str
    text: str
    filter: dict[str, Any] | None
    similar_to: str | None
    sentence: str
    applied: bool


class Outcome(Result, frozen=True, kw_only=True):
    """Result for one memory of a batch."""

    index: int
    status: str
    memory: MemoryItem | None = None
    problem: Problem | None = None


class Outcomes(Result, frozen=True, kw_only=True):
    """Result for each memory of a batch that is not atomic. `seq` is null when nothing was created."""

    items: list[Outcome]
    created: int
    failed: int
    flags: list[Flag]
    seq: str | None
    degraded: list[str] = []
    suggestions: list[TypeSuggestion] = []


class LeftOut(Result, frozen=True, kw_only=True):
    """A memory that was found and left out, with the tokens that it takes whole."""

    id: str
    space: str
    section: str
    score: float
    tokens: int
    reason: str


class Likeness(Result, frozen=True, kw_only=True):
    """A current memory that conflicts with a new one, or is like it."""

    id: str
    kind: str
    similarity: float | None
    differs: list[Difference]
    content: str
    category: str | None
    key: str | None


class Line(Result, frozen=True, kw_only=True):
    """A line that cannot be imported."""

    line: int
    place: str | None
    code: str
    errors: list[FieldProblem]


class NamedTime(Result, frozen=True, kw_only=True):
    """The time that a query names which is nearest to the memory; null where it is open."""

    words: str
    start: str | None
    stop: str | None
    factor: float


class Novelty(Result, frozen=True, kw_only=True):
    """The `value` by which a diverse hit was chosen: (1 - diversity) * relevance - diversity * nearest."""

    relevance: float
    nearest: float
    value: float


class Page(Result, frozen=True, kw_only=True):
    """Memories, newest first."""

    items: list[MemoryItem]
    next_cursor: str | None
    degraded: list[str] = []


class Passage(Result, frozen=True, kw_only=True):
    """The passage of the content that answers best: its number, and its start and stop in characters."""

    number: int
    start: int
    stop: int


class Place(Result, frozen=True, kw_only=True):
    """The place of a chunk in the text of its document, in characters and in lines from 1."""

    document: str
    path: str
    start: int
    stop: int
    overlap: int
    first_line: int
    last_line: int
    page: int | None
    headings: list[str]
    language: str | None
    symbol: str | None


class Problem(Result, frozen=True, kw_only=True):
    """An error (RFC 9457). `code` is stable, `detail` is prose; `errors` names the bad fields."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem] = []
    conflicts: list[Likeness] = []
    checked_at: str | None = None
    quota: Quota | None = None
    diverged: list[Diverged] = []
    report: Import | None = None
    instead: Instead | None = None


class Quota(Result, frozen=True, kw_only=True):
    """Use and quota of a space. Counted are memories that are not deleted, also those that have expired or are superseded. Sessions, conversations, topics and statements of the graph count as memories. Bytes are those of texts, tags and metadata."""

    memories: Amount
    bytes: Amount


class QuoteMatch(Result, frozen=True, kw_only=True):
    """The memory has all that the query has in quotes: its score becomes above + (1 - above) * score."""

    above: float


class Reasoned(Result, frozen=True, kw_only=True):
    """The reason why a memory of `explain_ids` is a hit or none."""

    id: str
    reason: str
    sentence: str
    rank: int | None
    score: float | None
    last_score: float | None
    ranks: dict[str, Any]
    conditions: list[str]
    superseded_by: str | None
    explain: Explanation | None


class Report(Result, frozen=True, kw_only=True):
    """Report of an erasure: the erased rows, and the rows that a search of every place still found."""

    id: str
    space: str
    what: dict[str, Any]
    by: str
    began_at: str
    ended_at: str
    engine: str
    seq: str | None
    erased: dict[str, Any]
    found: dict[str, Any]
    complete: bool
    unchecked: dict[str, Any]
    relatives: list[str]
    format: str = 'muisti-erasure/1'


class Found(Result, frozen=True, kw_only=True):
    """Hits, best first."""

    hits: list[Hit]
    total: int
    evidence: str
    strength: float
    thresholds: Thresholds | None
    strategy: str
    degraded: list[str]
    seq: str
    receipt: str | None = None
    intent: Intent | None = None
    instructions: list[Instruction] = []
    evidence_reason: str | None = None
    explained: list[Reasoned] = []


class Section(Result, frozen=True, kw_only=True):
    """A section, with its tokens and the number of memories in it. `note` says why it is empty."""

    name: str
    tokens: int
    memories: int
    note: str = ''


class Signal(Result, frozen=True, kw_only=True):
    """A signal of a score. `contribution` is a factor of it, or with a preset a summand of `composite`."""

    score: float
    weight: float
    contribution: float


class SpaceRead(Result, frozen=True, kw_only=True):
    """A space that was read: the weight of its scores, the point in its history, and whether it has evidence."""

    name: str
    weight: float
    seq: str
    evidence: str


class Stretch(Result, frozen=True, kw_only=True):
    """A stretch of a text, in characters."""

    start: int
    stop: int


class Surroundings(Result, frozen=True, kw_only=True):
    """Memories before and after a hit in its dialogue, oldest first, and the stretch of passages around its own."""

    before: list[MemoryItem]
    after: list[MemoryItem]
    start: int
    stop: int


class SymbolMatch(Result, frozen=True, kw_only=True):
    """The symbol that the query names and the chunk defines: its score becomes above + (1 - above) * score."""

    name: str
    above: float


class Thresholds(Result, frozen=True, kw_only=True):
    """The values of `strength` at which `evidence` becomes weak, and strong."""

    weak: float
    strong: float


class TypeSuggestion(Result, frozen=True, kw_only=True):
    """A type that would suit a memory: its content reads like a standing instruction. Nothing was changed."""

    id: str
    type: str
    scope: Stretch | None


class Undone(Result, frozen=True, kw_only=True):
    """The memories whose changes were undone, in their current versions; `ended` are those that undo deleted."""

    undone: str
    items: list[MemoryItem]
    ended: list[str]
    flags: list[Flag]
    seq: str


class Version(Result, frozen=True, kw_only=True):
    """A version of a memory, valid from `born_at` until `died_at`, which is null for the current version."""

    memory: MemoryItem
    born: int
    died: int | None
    born_at: str
    died_at: str | None
    changes: list[FieldChange]


class Written(MemoryItem, frozen=True, kw_only=True):
    """The memory that a write made or changed, with flags for differences from the request."""

    flags: list[Flag]
    degraded: list[str] = []
    suggestions: list[TypeSuggestion] = []
