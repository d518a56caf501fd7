"""Examples of requests and replies about the knowledge graph, of memories about Ann Berg."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from muisti.core.model.graph import (
    Alias,
    Communities,
    Community,
    End,
    Entities,
    Entity,
    GraphStatus,
    Mentioned,
    Neighbour,
    Neighbours,
    Path,
    Profile,
    Proposal,
    Proposals,
    Relation,
    Relations,
    Step,
)
from muisti.service.openapi.operating import BUILDING
from muisti.service.openapi.story import ADDED, ANNA, MADE, RULE_ID, seq_at, written
from muisti.service.schemas.graph import (
    BuildGraphBody,
    EntityBody,
    ExtensionReply,
    GraphDroppedReply,
    NamesBody,
    RelationBody,
    RelationPatch,
)

_AT = str(seq_at(4))
_SAID = "Ann Berg works at Acme"
_ANN = End(id="8f1c2d3e4a5b6c7d", name="Ann Berg", kind="person")
_ACME = End(id="1a2b3c4d5e6f7a8b", name="Acme", kind="organisation")
_SHORT = End(id="77aa88bb99cc00dd", name="Anne Berg", kind="person")
_ENTITY = Entity(
    id=_ANN.id,
    name="Ann Berg",
    kind="person",
    mentions=12,
    confidence=0.97,
    first_at=MADE,
    last_at=MADE,
    aliases=(Alias(name="Ann", id="00ff11ee22dd33cc", source="name_part", memory=None),),
    memory=None,
)
_FACT = Relation(
    subject=_ANN,
    kind="works_at",
    object=_ACME,
    literal=None,
    negative=False,
    confidence=0.85,
    source="text",
    memory=RULE_ID,
    version=1,
    evidence=_SAID,
    start=0,
    stop=len(_SAID),
    valid_from=MADE,
    valid_to=None,
    closed_by=None,
    author=None,
)
_MENTION = Mentioned(
    memory=RULE_ID, version=1, at=MADE, start=0, stop=8, text="Ann Berg", confidence=0.97, source="recogniser"
)
_STATED = written(replace(ADDED, content="Ann Berg", kind="entity", category=None, key=None))
_RELATED = written(replace(ANNA, content=_SAID, kind="relation"))
_NEAR = Neighbour(entity=_ACME, depth=1, kinds=("works_at",), weight=3, via=_ANN.id, mentions=5, association=0.61)
_STEP = Step(source=_ANN, target=_ACME, kinds=("works_at",), memories=(RULE_ID,))
_ALIKE = Proposal(first=_ANN, second=_SHORT, reason="spelling", first_mentions=12, second_mentions=1)

GRAPH_REPLIES: Mapping[str, Mapping[int, Any]] = {
    "getGraph": {
        200: GraphStatus(
            enabled=True, entities=310, mentions=1_204, relations=96, read=800, pending=0, recogniser="muisti-tagger-1",
            current=True, fallbacks=0, degraded=False, seq=_AT,
        )
    },
    "listEntities": {200: Entities(items=(_ENTITY,), total=1, pending=0, seq=_AT)},
    "getEntity": {200: Profile(entity=_ENTITY, facts=(_FACT,), mentioned=(_MENTION,), pending=0, seq=_AT)},
    "listNeighbours": {
        200: Neighbours(entity=_ANN, items=(_NEAR,), total=1, capped=False, sort="-association", pending=0, seq=_AT)
    },
    "findPath": {200: Path(found=True, steps=(_STEP,), capped=False, pending=0, seq=_AT)},
    "listRelations": {200: Relations(items=(_FACT,), more=False, pending=0, seq=_AT)},
    "listProposals": {200: Proposals(items=(_ALIKE,), total=1, pending=0, seq=_AT)},
    "listCommunities": {
        200: Communities(
            items=(Community(entities=(_ANN, _ACME), size=14, memories=31),), total=1, too_large=False, pending=0,
            seq=_AT,
        )
    },
    "describeEntity": {200: _STATED, 201: _STATED},
    "mergeEntities": {200: _STATED, 201: _STATED},
    "keepEntitiesApart": {200: _STATED, 201: _STATED},
    "stateRelation": {201: _RELATED},
    "correctRelation": {200: _RELATED},
    "buildGraph": {
        200: ExtensionReply(read=100, mentions=140, relations=12, pending=700),
        202: replace(BUILDING, kind="graph", asked={"again": False}),
    },
    "dropGraph": {200: GraphDroppedReply(entities=310)},
    "exportGraph": {200: {"nodes": [{"id": _ANN.id, "name": "Ann Berg", "kind": "person"}], "edges": []}},
    "drawGraph": {200: '<svg xmlns="http://www.w3.org/2000/svg"></svg>'},
}  # fmt: skip
GRAPH_REQUESTS: Mapping[str, Any] = {
    "describeEntity": EntityBody(kind="person", aliases=["A. Berg"]),
    "mergeEntities": NamesBody(others=["A. Berg"]),
    "keepEntitiesApart": NamesBody(others=["Ann Bergson"]),
    "stateRelation": RelationBody(subject="Ann Berg", kind="works_at", object="Acme"),
    "correctRelation": RelationPatch(object="Acme Labs"),
    "buildGraph": BuildGraphBody(),
}
