"""Examples of what operators ask for: spaces, keys, models, tasks, probes, checkpoints, webhooks, and erasure."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from muisti.core.identity.grants import SCOPES
from muisti.core.model.operations import ELSEWHERE
from muisti.core.model.values import Seq
from muisti.service.openapi.story import (
    ADDED,
    ADMIN,
    CHANGED,
    HELD,
    MADE,
    REPLACED,
    RULE_ID,
    SPACE,
    TO_THURSDAYS,
    UPDATED,
    seq_at,
)
from muisti.service.routes.metadata import ResourceReply
from muisti.service.schemas.checkpoints import CheckpointReply
from muisti.service.schemas.erasure import ErasureReply, ReportReply
from muisti.service.schemas.forks import DivergenceReply
from muisti.service.schemas.generations import (
    ComparedReply,
    DroppedReply,
    GenerationReply,
    GenerationsReply,
    MeasuredReply,
)
from muisti.service.schemas.keys import AccessReply, AuditedReply, AuditReply, KeyReply, KeysReply, MadeKeyReply
from muisti.service.schemas.moving import ImportedReply
from muisti.service.schemas.policy import PolicyReply
from muisti.service.schemas.probes import ProbeReply, ProbesReply, RankReply, RunReply, RunsReply
from muisti.service.schemas.quotas import QuotaReply
from muisti.service.schemas.replies import (
    CacheReply,
    StatsReply,
    TelemetryReply,
)
from muisti.service.schemas.spaces import ListedSpaceReply, SpaceReply, SpacesReply, SpaceUseReply
from muisti.service.schemas.tasks import ErrorReply, TaskItemReply, TaskItemsReply, TaskReply, TasksReply
from muisti.service.schemas.webhooks import WebhookReply, WebhooksReply

QUOTA = QuotaReply.of(HELD)
POLICY = PolicyReply(
    secrets="redact",
    personal_data="redact",
    echoes="flag",
    history_days=365.0,
    purge_after_days=None,
    similarity_limit=None,
    review_limit=None,
    recency_weight=0.0,
    recency_half_life_days=30.0,
    inherits=["workspace"],
    graph="on",
    second_model="off",
)
STATS = StatsReply(
    memories=3,
    versions=4,
    passages=3,
    tokens=18,
    content_bytes=83,
    expired=0,
    changes=4,
    changes_last_day=4,
    by={
        "kind": {"memory": 3},
        "type": {"fact": 2, "preference": 1},
        "status": {"active": 3},
        "importance": {"high": 1, "medium": 2},
    },
    last_change_at=CHANGED,
    quota=QUOTA,
    embedding_cache=CacheReply(entries=0, bytes=0, hits=0, misses=0, rate=None),
    seq=seq_at(4),
)
NEW_EPOCH = "6ff02b04-b24e-48fa-b13e-745b59bdbf01"
NEW_SPACE = replace(
    SPACE, name="acme.web", epoch=NEW_EPOCH, seq=str(Seq(NEW_EPOCH, 0)), created_at=REPLACED, generation=None
)
KEY = KeyReply(
    id="0123456789ab",
    name="web agent",
    scopes=["read", "append", "write"],
    spaces=["acme.*"],
    category=None,
    source_class=None,
    parent_id=ADMIN,
    created_at=MADE,
    expires_at=datetime(2030, 1, 1, tzinfo=UTC),
    revoked_at=None,
    last_used_at=None,
)
NEXT_KEY = replace(KEY, id="ba9876543210", created_at=REPLACED)
RESOURCE = ResourceReply(
    resource="https://memory.example",
    authorization_servers=["https://login.example/"],
    scopes_supported=list(SCOPES),
    bearer_methods_supported=["header"],
)
ERASED = ReportReply(
    id="5f0b7a1e-2b1f-4c59-9d6f-0b8f0f8a4d11",
    space="default",
    what={"memory": RULE_ID},
    by=ADMIN,
    began_at=REPLACED,
    ended_at=REPLACED + timedelta(milliseconds=12),
    engine="SQLite 3.54.1",
    seq=seq_at(10),
    erased={"memories": 1, "versions": 3, "tags": 3, "metadata": 1, "passages": 3, "embeddings": 3},
    found={"versions": 0, "segments": 0, "free space of the file": 0, "write-ahead log, in bytes": 0},
    complete=True,
    unchecked={"backups made before": ELSEWHERE["backups made before"]},
    relatives=[],
)
ERASURE = ErasureReply(report=ERASED, signed="eyJhbGciOiJFZERTQSIsImtpZCI6….….…")
SIGNER = {"crv": "Ed25519", "kty": "OKP", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "kPrK_qmxVWaYVA9w"}
PROBE = ProbeReply(
    id="0197a3c0-5f4e-7000-8000-0123456789b0",
    query="when do we deploy?",
    memory_id=None,
    category="rules",
    key="deploy",
    k=3,
    made_at=CHANGED,
    actor=ADMIN,
)
RUN = RunReply(
    at=REPLACED, seq=seq_at(4), generation=SPACE.generation, recall=1.0, ranks=[RankReply(id=PROBE.id, rank=1)]
)
GENERATION = GenerationReply(
    generation=SPACE.generation or "",
    model="muisti-static-256",
    dimensions=256,
    created_at=MADE,
    role="current",
    passages=3,
    embedded=3,
    missing=0,
    available=True,
    served=False,
)
SHADOW = replace(
    GENERATION, generation="9c61d7a04be2f3389c61d7a04be2f338", model="notes-static-512", dimensions=512, role="shadow"
)
BUILDING = TaskReply(
    id="4d1c9f60-52f7-4f0e-9f3a-8c1f6d0b7e21",
    kind="embed",
    state="queued",
    space="default",
    actor=ADMIN,
    asked={"generation": SHADOW.generation, "model": SHADOW.model},
    total=3,
    done=0,
    failed=0,
    skipped=0,
    rate=None,
    seconds_left=None,
    attempts=0,
    revision=1,
    created_at=MADE,
    started_at=None,
    ended_at=None,
    expires_at=None,
)
COMPARED = ComparedReply(
    k=10,
    questions=2,
    probes=1,
    judged=1,
    overlap=0.9,
    current=MeasuredReply(generation=GENERATION.generation, recall=1.0, ndcg=0.63, ms=0.4),
    shadow=MeasuredReply(generation=SHADOW.generation, recall=1.0, ndcg=1.0, ms=0.5),
    missing=0,
)
IMPORTED = ImportedReply(
    import_id=1, source="zakira", actor=KEY.id, at=REPLACED, memories=1, first=10, last=10, undone=None
)
DIVERGED = DivergenceReply(
    id=RULE_ID,
    other="0197a3c0-5f4e-7000-9f3c-5a1de0b7c402",
    conflict=False,
    ours=ADDED,
    theirs=replace(UPDATED, id="0197a3c0-5f4e-7000-9f3c-5a1de0b7c402", space="try"),
    here=[],
    there=[TO_THURSDAYS],
)
CHECKPOINT = CheckpointReply(
    name="before-import", seq=seq_at(4), created_at=CHANGED, actor="anonymous", note="all was well"
)
USED = TelemetryReply(
    memory_id=RULE_ID, retrieval_count=3, last_retrieved_at=REPLACED, useful=1, not_useful=0, feedback="useful"
)
WEBHOOK = WebhookReply(
    id="5f0b7a1e2b1f",
    url="https://hooks.example.com/muisti",
    changes=["created", "updated"],
    show="ids",
    made_at=CHANGED,
    actor=ADMIN,
    state="ok",
    seq=seq_at(4),
    attempts=0,
    error=None,
    told_at=CHANGED,
    dead_letters=[],
)
SEALED = "sha256:7c1e0b4f5a2d9e63:1910cb09f11e532a754a17548005416f954bb8f7f364afd8b6643ed30486a973"  # Ann Example
TASK = TaskReply(
    id="0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11",
    kind="ingest",
    state="running",
    space="default",
    actor=ADMIN,
    asked={"path": "docs"},
    total=120,
    done=45,
    failed=1,
    skipped=0,
    rate=9.2,
    seconds_left=8.0,
    attempts=1,
    revision=12,
    created_at=MADE,
    started_at=MADE,
    ended_at=None,
    expires_at=None,
)
TASK_ITEM = TaskItemReply(
    number=7,
    name="docs/old.pdf",
    state="failed",
    attempts=1,
    error=ErrorReply(code="document.encrypted", detail="the file is encrypted"),
)


def _listed(space: SpaceReply, use: SpaceUseReply) -> ListedSpaceReply:
    return ListedSpaceReply(**asdict(space), use=use)


OPERATING_REPLIES: Mapping[str, Mapping[int, Any]] = {
    "createWebhook": {201: replace(WEBHOOK, secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")},
    "listWebhooks": {200: WebhooksReply(items=[WEBHOOK])},
    "redeliverWebhook": {200: WEBHOOK},
    "listTasks": {200: TasksReply(items=[TASK], next_cursor=None)},
    "getTask": {200: TASK},
    "listTaskItems": {200: TaskItemsReply(items=[TASK_ITEM], next_cursor=None)},
    "followTask": {
        200: f"id: {TASK.revision}\nevent: progress\ndata: {msgspec.json.encode(TASK).decode()}\n\n",
    },
    "cancelTask": {200: replace(TASK, state="cancelled", ended_at=REPLACED, seconds_left=0.0)},
    "addProbe": {201: PROBE},
    "listProbes": {200: ProbesReply(items=[PROBE])},
    "runProbes": {200: RUN},
    "listProbeRuns": {200: RunsReply(items=[RUN])},
    "listGenerations": {200: GenerationsReply(items=[GENERATION, SHADOW], models=[GENERATION.model, SHADOW.model])},
    "buildGeneration": {202: BUILDING},
    "compareGenerations": {200: COMPARED},
    "switchGeneration": {200: replace(SHADOW, role="current")},
    "rollBackGeneration": {200: GENERATION},
    "dropGeneration": {200: DroppedReply(generation=SHADOW.generation, dropped=3)},
    "createSpace": {201: NEW_SPACE},
    "listSpaces": {
        200: SpacesReply(
            items=[
                _listed(NEW_SPACE, SpaceUseReply(memories=0, bytes=0, last_change_at=None)),
                _listed(SPACE, SpaceUseReply(memories=HELD.memories, bytes=HELD.bytes, last_change_at=CHANGED)),
            ]
        )
    },
    "createKey": {201: MadeKeyReply(**asdict(KEY), key=f"mk_{KEY.id}_…")},
    "getKey": {200: KEY},
    "getAccess": {
        200: AccessReply(
            actor=KEY.id,
            key_id=KEY.id,
            name=KEY.name,
            open=False,
            scopes=KEY.scopes,
            spaces=KEY.spaces,
            category=KEY.category,
            source_class=KEY.source_class,
            expires_at=KEY.expires_at,
        )
    },
    "listKeys": {200: KeysReply(items=[NEXT_KEY, KEY])},
    "rotateKey": {201: MadeKeyReply(**asdict(NEXT_KEY), key=f"mk_{NEXT_KEY.id}_…")},
    "listAudit": {
        200: AuditReply(
            items=[
                AuditedReply(at=REPLACED, actor=ADMIN, action="space_created", space="acme.web", target=None),
                AuditedReply(at=MADE, actor=ADMIN, action="key_created", space=None, target=KEY.id),
            ],
            next_cursor=None,
        )
    },
}
