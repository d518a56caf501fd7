"""Values of searches: recency, hits, explanations and answers. Frozen and without I/O, as all of `core.model`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.choices import HALF_LIFE_DAYS, Fusion, IntentKind, Mode, Signal
from muisti.core.model.choices import Evidence as Evidence
from muisti.core.model.choices import Match as Match
from muisti.core.model.chunks import Place
from muisti.core.model.values import Json, Memory, Passage, Seq, Stretch

Reason = Literal[
    "found",  # it is a hit
    "unknown",  # there is no memory with this id, or the caller does not see it
    "not_yet",  # it was added after the point that was searched
    "deleted",
    "superseded",
    "expired",
    "status",  # it is not active, as a candidate is not
    "kind",  # searches find no objects of this kind
    "filter",  # `conditions` are the fields whose conditions it fails
    "words",  # it lacks the required words or phrases in `conditions`
    "query",  # it is the memory of `similar_to`
    "no_match",  # no ranking gives it a score above 0
    "not_proposed",  # no ranking has it among the memories that it proposes
    "min_score",
    "group",  # another memory is the best of its group
    "diversity",  # hits are too similar to it
    "evidence",  # it would be a hit, but there is less evidence than `min_evidence`
    "applies",  # it would be a hit, but probably does not answer the question
    "limit",  # it ranks below the last hit
]
InstructionReason = Literal["type", "rule"]
LATER = "the vectors will follow"  # in what is degraded for a time only
Decay = Literal["exponential", "linear", "half_life"]


class Recency(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of decay by age. The factor of a score is `1 - weight * (1 - decay)`, in [1 - weight, 1].

    The function `half_life` uses `half_life_days`; `exponential` and `linear` use `rate` (per day). The first
    `grace_days` do not count.
    """

    weight: float = 0.3
    function: Decay = "half_life"
    half_life_days: float = HALF_LIFE_DAYS
    rate: float = 0.0864
    grace_days: float = 0.0

    def stated(self) -> Mapping[str, float | str]:
        """Return the fields that count, named as in a request.

        >>> Recency(function="linear", rate=0.1).stated()
        {'weight': 0.3, 'function': 'linear', 'lambda': 0.1, 'grace_days': 0.0}
        """
        speed = {"half_life_days": self.half_life_days} if self.function == "half_life" else {"lambda": self.rate}
        return {"weight": self.weight, "function": self.function, **speed, "grace_days": self.grace_days}


class NamedTime(Struct, frozen=True, kw_only=True):
    """The time that a query names which is nearest to the memory; null where it is open."""

    words: str
    start: datetime | None
    stop: datetime | None
    factor: float


class SignalShare(Struct, frozen=True, kw_only=True):
    """A signal of a score. `contribution` is a factor of it, or with a preset a summand of `composite`."""

    score: float
    weight: float
    contribution: float


class Novelty(Struct, frozen=True, kw_only=True):
    """The `value` by which a diverse hit was chosen: (1 - diversity) * relevance - diversity * nearest."""

    relevance: Annotated[float, Meta(description="Its score over that of the best.")]
    nearest: Annotated[float, Meta(description="Highest cosine to an earlier hit, at least 0.")]
    value: float


class SymbolMatch(Struct, frozen=True, kw_only=True):
    """The symbol that the query names and the chunk defines: its score becomes above + (1 - above) * score."""

    name: Annotated[str, Meta(description="As the query names it, with dots.", examples=["Client.send"])]
    above: Annotated[float, Meta(description="Highest score of the chunks that do not define it.")]


class QuoteMatch(Struct, frozen=True, kw_only=True):
    """The memory has all that the query has in quotes: its score becomes above + (1 - above) * score."""

    above: Annotated[float, Meta(description="Highest score of the memories that lack a part in quotes.")]


class FactMatch(Struct, frozen=True, kw_only=True):
    """The memory states a fact of the graph that answers: its score becomes above + (1 - above) * score."""

    above: Annotated[float, Meta(description="Highest score of the memories without such a fact.")]


class SecondCosine(Struct, frozen=True, kw_only=True):
    """The second model's part in `cosine`, which is (1 - share) * own + share * second.

    `mapped` says that the vector of the query was mapped from that of the space's own model.
    """

    own: float
    second: float
    share: float
    mapped: bool


class Thresholds(Struct, frozen=True):
    """The values of `strength` at which `evidence` becomes weak, and strong."""

    weak: float
    strong: float

    def level(self, strength: float) -> Evidence:
        """Return the level of a strength.

        >>> [Thresholds(0.5, 0.8).level(strength) for strength in (0.4, 0.5, 0.9)]
        ['none', 'weak', 'strong']
        """
        return "none" if strength < self.weak else "weak" if strength < self.strong else "strong"


class Explanation(Struct, frozen=True, kw_only=True):
    """Every factor of a score = fused * time * recency * importance * trust * feedback * answer, at most 1.

    `fused` follows from `lexical` and `cosine`, and with absolute fusion from the parts of `blend`. Contributions of
    `signals` and the weight of a space are more factors. With a preset `composite`, the sum of the contributions, is in
    place of `fused`.
    """

    # `lexical` is in [0, 1], `cosine` in [-1, 1]; either is None when that ranking took no part.
    fusion: Fusion | None
    alpha: float | None
    lexical: float | None
    bm25: float | None
    cosine: float | None
    blend: Annotated[Mapping[str, float] | None, Meta(description="The parts of absolute fusion; null for others.")]
    fused: float
    time: NamedTime | None
    recency: float
    decay: Annotated[
        Mapping[str, float | str] | UnsetType,
        Meta(description="The recency in effect, as in a request; only where age costs something."),
    ] = UNSET
    importance: float
    trust: float
    feedback: Annotated[float, Meta(description="Factor of the callers' feedback, 0.9 to 1.1; 1 without any.")]
    age_days: float | None
    refreshed_days: Annotated[float, Meta(description="Days of the age that do not count, up to the last retrieval.")]
    terms: Annotated[Mapping[str, float], Meta(description="Share of each word of the query in `lexical`.")]
    answer: Annotated[
        float | UnsetType, Meta(description="Of a turn with a time or place, where the question asks for one.")
    ] = UNSET
    graph: Annotated[SignalShare | UnsetType, Meta(description="With `rankings.graph`.")] = UNSET
    facts: Annotated[
        FactMatch | UnsetType, Meta(description="With `facts`: of a memory that states a fact which answers.")
    ] = UNSET
    signals: Annotated[Mapping[Signal, SignalShare] | UnsetType, Meta(description="With `signals` or `preset`.")] = (
        UNSET
    )
    composite: Annotated[float | UnsetType, Meta(description="With `preset`.")] = UNSET
    space_weight: Annotated[float | UnsetType, Meta(description="With several spaces.")] = UNSET
    novelty: Annotated[Novelty | UnsetType, Meta(description="With `diversity`.")] = UNSET
    symbol: Annotated[
        SymbolMatch | UnsetType, Meta(description="Of a chunk that defines the symbol that the query names.")
    ] = UNSET
    quoted: Annotated[
        QuoteMatch | UnsetType, Meta(description="Of a memory that has all parts of the query in quotes.")
    ] = UNSET
    second: Annotated[SecondCosine | UnsetType, Meta(description="With a second model: the parts of `cosine`.")] = UNSET
    parts: Annotated[
        Mapping[str, float],
        Meta(description="Summands of the score by name, in order; negative ones lower it. They add up to the score."),
    ]
    sentence: Annotated[str, Meta(description="The reasons for the rank, in words.")]


class Group(Struct, frozen=True, kw_only=True):
    """The group of which a hit is the best: its memories among the ranked candidates, and among `total`."""

    value: Annotated[Any, Meta(description="Of the field; null for memories without one.")]
    ranked: int
    count: int


class Surroundings(Struct, frozen=True, kw_only=True):
    """Neighbours of a hit: the memories `before` and `after` in its dialogue, oldest first.

    `start` and `stop` are the stretch of its own content that its neighbour passages take, in characters.
    """

    before: tuple[Memory, ...]
    after: tuple[Memory, ...]
    start: int
    stop: int


class Intent(Struct, frozen=True, kw_only=True):
    """The reading of a query: the mode and filter that its words ask for, and the `text` that is left to rank by.

    `filter` is the filter as JSON, None for none; `similar_to` is the id of a memory that the query names. `applied`
    says whether the search followed it.
    """

    kind: IntentKind
    mode: Mode
    text: str
    filter: Mapping[str, Json] | None = None
    similar_to: str | None = None
    sentence: str
    applied: bool = False


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that answers a query, with its best passage. `ranks` has its place in each ranking, from 1.

    `applies` is the probability that it answers the question, None where that is not known.

    `place` is that of a chunk in its document, None for other memories. `group` and `context` are None unless options
    of the search ask for them. `facts` are those of the graph that it states and that answer, where they are asked for.
    `speaker` is who says the beginning of the passage of a turn; None for other memories.
    """

    memory: Memory
    score: float
    ranks: Mapping[str, int]
    passage: Passage
    applies: float | None = None
    highlight: str | None = None
    explain: Explanation | None = None
    group: Group | None = None
    context: Surroundings | None = None
    place: Place | None = None
    facts: tuple[str, ...] = ()
    speaker: str | None = None


class Instruction(Struct, frozen=True, kw_only=True):
    """A standing instruction that applies to a query, and the `reason` why it counts as one.

    `type`: the memory has the type `guard`. `rule`: its text was recognised. `scope` is the clause of its content that
    says to what it applies, None for none. `score` is the cosine of the query with the clause or the sentence.
    """

    memory: Memory
    reason: InstructionReason
    scope: Stretch | None
    score: float


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds that the stages of a search took."""

    embed: float = 0.0
    filter: float = 0.0
    rank: float = 0.0
    fetch: float = 0.0


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """Hits, best first. `total` counts the memories that could have been hits. `strategy` is the mode that ran.

    `evidence` says whether there is anything about the query, judged by the `strength` of what was found. `degraded`
    says in words what could not be done as requested; it is empty when nothing is wrong. `intent` is the reading of
    the query, None unless it was asked for.

    `applies` is the probability that any memory answers the question, None where that is not known. `left_out` counts
    the hits that a cut by it left out. `nearest` is the best of them when there is no other hit.
    """

    hits: tuple[Hit, ...]
    total: int
    evidence: Evidence
    strength: float
    strategy: Mode
    degraded: tuple[str, ...]
    timings: Timings
    intent: Intent | None = None
    instructions: tuple[Instruction, ...] = ()
    applies: float | None = None
    left_out: int = 0
    nearest: Hit | None = None


class Reasoned(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why a memory is a hit or none, as a code and in words.

    `rank` is its rank among the candidates, or the one it would have if a ranking proposed it. `ranks` has its rank in
    each ranking among all memories that the search allows. `last_score` is the score of the last hit. What cannot be
    known is None or empty.
    """

    id: str
    reason: Reason
    sentence: str
    rank: int | None = None
    score: float | None = None
    last_score: float | None = None
    ranks: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    conditions: tuple[str, ...] = ()
    superseded_by: str | None = None
    explain: Explanation | None = None


class Answer(Answered, frozen=True, kw_only=True):
    """The answer of one space at `seq`. `recency` is the one in effect. `explained` follows `explain_ids`.

    `thresholds` are those by which `strength` became `evidence`. They are None for modes that rank no text, and where
    nobody has calibrated the model. `evidence_reason` says in words why the evidence has its level, with `explain`.
    """

    seq: Seq
    thresholds: Thresholds | None = None
    evidence_reason: str | None = None
    recency: Recency | None = None
    explained: tuple[Reasoned, ...] = ()


class PartAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The part of one space in the answer of several: its weight, and what `Answer` says of it alone."""

    name: str
    weight: float
    seq: Seq
    total: int
    evidence: Evidence
    strength: float
    thresholds: Thresholds | None
    strategy: Mode


class JointAnswer(Answered, frozen=True, kw_only=True):
    """The answer of several spaces, in the order in which the search names them.

    `total` is their sum, `evidence` the best of theirs. `strategy` is that of the search where any space could follow
    it, else that of the first space. `slowest` has a space of the slowest database and its milliseconds, where several
    were asked.
    """

    spaces: tuple[PartAnswer, ...]
    slowest: tuple[str, float] | None = None
