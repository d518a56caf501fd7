"""Bodies of searches, in one space and in several."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.choices import INSTRUCTIONS_MAX, SPACES_MAX, Beside, Signal
from muisti.core.model.decoding import convert
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.hits import Decay, Recency
from muisti.core.model.times import to_us
from muisti.core.query import filters, points
from muisti.core.query.applies import least
from muisti.core.query.query import EXPLAIN_MAX, NOTHING, SIGNAL_MAX, Options, Query, Reading
from muisti.core.text.when.zones import zone_of
from muisti.service.schemas import fields
from muisti.service.schemas.fields import doc

INHERITED = 0.9  # weight of a space against the one before it in a chain


class RecencyBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"rate": "lambda"}):
    """Penalty of age: the score is multiplied by 1 - weight * (1 - decay). `half_life_days` is for the function
    half_life, `lambda` (per day) for exponential and linear. No age is counted for the first `grace_days`."""

    weight: Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})] = 0.3
    function: fields.DecayName | UnsetType = UNSET
    half_life_days: Annotated[float, Meta(extra_json_schema={"minimum": 1e-6, "maximum": 1e6})] | UnsetType = UNSET
    rate: Annotated[float, Meta(extra_json_schema={"minimum": 1e-9, "maximum": 1e6})] | UnsetType = UNSET
    grace_days: Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1e6})] = 0.0

    @classmethod
    def of(cls, recency: Recency) -> "RecencyBody":
        """Return the body that asks for this recency."""
        return convert(recency.stated(), cls)

    def recency(self) -> Recency:
        function = self.function
        if function is UNSET:
            function = "half_life" if self.rate is UNSET else "exponential"
        problems = [*self._misplaced(function)]
        if problems:
            raise InvalidInput(problems)
        given = {"half_life_days": self.half_life_days, "rate": self.rate}
        return Recency(
            weight=self.weight,
            function=function,
            grace_days=self.grace_days,
            **{name: value for name, value in given.items() if value is not UNSET},
        )

    def _misplaced(self, function: Decay) -> Iterator[Problem]:
        if function == "half_life" and self.rate is not UNSET:
            yield Problem("$.recency.lambda", "is for exponential and linear; half_life has half_life_days")
        if function != "half_life" and self.half_life_days is not UNSET:
            yield Problem("$.recency.half_life_days", f"is for the function half_life; {function} has lambda")


class SignalsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weights of signals: each multiplies a score by 1 - weight * (1 - signal). `recency` is that of `recency`."""

    tag: Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": SIGNAL_MAX})] = 0.0
    position: Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": SIGNAL_MAX})] = 0.0
    recency: Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})] = 0.0

    def weights(self) -> Mapping[Signal, float]:
        """Return the weights that are not 0."""
        given: dict[Signal, float] = {"tag": self.tag, "position": self.position, "recency": self.recency}
        return {name: weight for name, weight in given.items() if weight}


class RankingsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weights of rankings beside those of the mode: a score is multiplied by 1 + weight * score of the ranking."""

    graph: Annotated[float, doc("By ties to the entities that the query names.", minimum=0, maximum=1)] = 0.0

    def weights(self) -> Mapping[Beside, float]:
        """Return the weights that are not 0."""
        return {"graph": self.graph} if self.graph else {}


class QueryBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The question of a search in one space or in several."""

    query: fields.QueryText = ""
    limit: fields.Limit = 10
    mode: fields.ModeName = "hybrid"
    match: fields.MatchName = "any"
    filter: fields.FilterJson | None = None
    fusion: fields.FusionName = "absolute"
    alpha: fields.Alpha | None = None
    recency: RecencyBody | None = None
    as_of: fields.AsOf | None = None
    reference_time: fields.Time | None = None
    time_zone: fields.TimeZone | None = None
    min_evidence: fields.MinEvidence | None = None
    applies: fields.Applies = False
    trust_weight: fields.TrustWeight = 0.0
    second_query: fields.SecondQueryName | None = None
    explain: Annotated[bool, doc("Show every factor of each score.")] = False
    highlight: Annotated[bool, doc("Mark the words of the query in the passage.")] = False
    no_touch: Annotated[bool, doc("Do not count the hits as retrieved.")] = False
    similar_to: fields.SimilarTo | None = None
    group_by: fields.GroupBy | None = None
    diversity: fields.Diversity = 0.0
    context_window: fields.ContextWindow = 0
    min_score: fields.MinScore = 0.0
    fallback_to_keyword: Annotated[
        bool, doc("Rank a space whose model is missing by words, and say so, in place of an error.")
    ] = True
    signals: SignalsBody | None = None
    preset: fields.PresetName | None = None
    boost_tags: fields.BoostTags = {}
    tag_rule: fields.TagRuleName = "max"
    rankings: RankingsBody | None = None
    facts: Annotated[bool, doc("Put memories first that state a fact of the knowledge graph which answers.")] = False
    instructions: fields.InstructionsMost = INSTRUCTIONS_MAX
    intent: Annotated[bool, doc("Say which mode and filter the query asks for; not applied.")] = False

    def to_query(self) -> Query:
        """Return the query for the core."""
        return Query(
            text=self.query,
            limit=self.limit,
            mode="hybrid" if self.mode == "auto" else self.mode,
            match=self.match,
            filter=None if self.filter is None else filters.parse(self.filter),
            fusion=self.fusion,
            alpha=self.alpha,
            recency=None if self.recency is None else self.recency.recency(),
            as_of=points.parse(self.as_of),
            reference_time=None if self.reference_time is None else to_us(self.reference_time),
            time_zone=zone_of(self.time_zone, self.reference_time),
            min_evidence=self.min_evidence,
            applies=least(self.applies),
            trust_weight=self.trust_weight,
            second_query=self.second_query,
            explain=self.explain,
            highlight=self.highlight,
            no_touch=self.no_touch,
            instructions=self.instructions,
            options=self._options(),
        )

    def _options(self) -> Options | None:
        """Return the options of the search; None when all are the defaults."""
        reading: Reading | None = "applied" if self.mode == "auto" else "told" if self.intent else None
        options = Options(
            similar_to=self.similar_to,
            group_by=self.group_by,
            diversity=self.diversity,
            context_window=self.context_window,
            min_score=self.min_score,
            fallback_to_keyword=self.fallback_to_keyword,
            signals={} if self.signals is None else self.signals.weights(),
            preset=self.preset,
            boost_tags=self.boost_tags,
            tag_rule=self.tag_rule,
            intent=reading,
            rankings={} if self.rankings is None else self.rankings.weights(),
            facts=self.facts,
        )
        return None if options == NOTHING else options


class SearchBody(QueryBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search."""

    receipt: Annotated[bool, doc("Keep what was asked and answered; `receipt` in the answer.")] = False
    explain_ids: Annotated[
        list[fields.MemoryId],
        doc("Memories for which `explained` says why they are hits or not.", maxItems=EXPLAIN_MAX),
    ] = []

    def to_query(self) -> Query:
        """Return the query for the core."""
        query = super().to_query()
        if not self.explain_ids:
            return query
        options = msgspec.structs.replace(query.options or NOTHING, explain_ids=tuple(self.explain_ids))
        return msgspec.structs.replace(query, options=options)


class PartBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A space to search: the scores of its memories are multiplied by `weight`."""

    name: fields.SpaceName
    weight: Annotated[float, Meta(extra_json_schema={"exclusiveMinimum": 0, "maximum": 1})] = 1.0
    min_seq: Annotated[str, doc("As the header Muisti-Min-Seq, for this space.")] | None = None


class JointSearchBody(QueryBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search in several spaces: `spaces`; or a chain, `inherit` or `inherit_from`, whose weights fall by a tenth."""

    spaces: Annotated[list[PartBody], Meta(extra_json_schema={"maxItems": SPACES_MAX})] = []
    inherit: Annotated[
        list[fields.SpaceName],
        doc("In place of `spaces`: a chain such as project, workspace, global.", maxItems=SPACES_MAX),
    ] = []
    inherit_from: Annotated[str | None, doc("In place of `spaces`: a space, then those that its policy inherits.")] = (
        None
    )

    def check(self) -> None:
        """Raise `InvalidInput` unless exactly one field names spaces."""
        if [bool(given) for given in (self.spaces, self.inherit, self.inherit_from)].count(True) != 1:
            raise InvalidInput.at("$.spaces", "name the spaces in one of spaces, inherit and inherit_from")

    def parts(self, inherited: Sequence[str] = ()) -> list[PartBody]:
        """Return the spaces with their weights; `inherited` are the parents of `inherit_from`."""
        chain = self.inherit if self.inherit_from is None else [self.inherit_from, *inherited]
        return self.spaces or [PartBody(name=name, weight=INHERITED**level) for level, name in enumerate(chain)]
