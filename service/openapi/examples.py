"""The examples of the OpenAPI document: one short story in the space `default`.

Replies are made of the types that the routes answer with, so they have the fields that those have. A rule is added, two
memories more; the rule is changed, sought, counted and replaced. A test plays it against a server.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import structs
from msgspec.structs import asdict, replace

from muisti.core.identity.grants import SCOPES
from muisti.core.model.counts import Quota, Usage
from muisti.core.model.erasures import ELSEWHERE
from muisti.core.model.errors import (
    AddressTaken,
    Contradiction,
    Duplicate,
    InvalidInput,
    QuotaExceeded,
    SensitiveContent,
    Stale,
)
from muisti.core.model.errors import Problem as BadField
from muisti.core.model.fields import FIELDS
from muisti.core.model.outcomes import Difference, Likeness
from muisti.core.model.spaces import USUAL_POLICY, Space, SpaceSettings
from muisti.core.model.values import TRUST, Seq
from muisti.core.text.advice import advice
from muisti.service.routes.docs import KindReply
from muisti.service.routes.metadata import ResourceReply
from muisti.service.schemas.changes import ChangeReply, ChangesReply
from muisti.service.schemas.checkpoints import (
    CheckpointReply,
    CheckpointsReply,
    DiffReply,
    MemoryChangeReply,
    RolledBackReply,
)
from muisti.service.schemas.conflicts import ConflictReply, ConflictsReply, DecidedReply
from muisti.service.schemas.dry_run import DryRunReply, PlannedReply, ShiftReply
from muisti.service.schemas.erasure import ErasureReply, ReportReply, SigningKeysReply
from muisti.service.schemas.errors import KINDS, Problem, problem, problem_of
from muisti.service.schemas.forks import ComparisonReply, DivergenceReply, MergedReply
from muisti.service.schemas.keys import AuditedReply, AuditReply, KeyReply, KeysReply, MadeKeyReply
from muisti.service.schemas.likeness import differing
from muisti.service.schemas.lint import FindingReply, FixReply, LintReply
from muisti.service.schemas.moving import ImportedReply, ImportReply, ImportsReply
from muisti.service.schemas.policy import PolicyReply
from muisti.service.schemas.probes import ProbeReply, ProbesReply, RankReply, RunReply, RunsReply
from muisti.service.schemas.quotas import QuotaReply
from muisti.service.schemas.receipts import MovedReply, ReceiptHitReply, ReceiptReply, ReplayReply
from muisti.service.schemas.replies import (
    AddedReply,
    AliveReply,
    BatchReply,
    CountReply,
    CountsReply,
    EmbeddingsReply,
    FieldChangeReply,
    HistoryReply,
    ItemReply,
    ItemsReply,
    MemoryReply,
    PageReply,
    ReadyReply,
    SpaceReply,
    SpacesReply,
    StatsReply,
    TelemetryReply,
    UndoReply,
    VersionReply,
    WrittenReply,
)
from muisti.service.schemas.reviews import ReviewReply
from muisti.service.schemas.search import ExplanationReply, HitReply, PassageReply, SearchReply
from muisti.service.schemas.webhooks import WebhookReply, WebhooksReply

EPOCH = "b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4"
RULE_ID = "0197a3c0-5f4e-7000-8000-0123456789ab"
MADE = datetime(2025, 6, 24, 21, 3, 2, 990_000, UTC)  # the time in RULE_ID
CHANGED = MADE + timedelta(hours=1)
REPLACED = MADE + timedelta(days=9)

FRIDAYS = "We deploy on Fridays; ticket QX-991"
THURSDAYS = "We deploy on Thursdays; ticket QX-991"
RULE = {
    "content": FRIDAYS,
    "category": "rules",
    "key": "deploy",
    "tags": ["release"],
    "importance": "high",
    "metadata": {"team": "core"},
}
TEA = {"content": "Anna prefers tea", "type": "preference"}
TAGGING = {"content": "Each release is tagged on main", "category": "rules"}


def _seq(number: int) -> str:
    return str(Seq(EPOCH, number))


def _memory(id: str, at: datetime, said: Mapping[str, Any]) -> MemoryReply:
    """A memory as it was added: what was said of it, and the defaults."""
    absent: dict[str, Any] = dict.fromkeys(MemoryReply.__struct_fields__)
    fixed = {"id": id, "space": "default", "version": 1, "created_at": at, "updated_at": at}
    usual = {field.name: field.usual for field in FIELDS if field.usual is not None}
    return MemoryReply(**{**absent, **fixed, **usual, "trust": TRUST["unknown"], **said})


def _written(memory: MemoryReply) -> WrittenReply:
    return WrittenReply(**asdict(memory), flags=[])


ADDED = _memory(RULE_ID, MADE, {**RULE, "tokens": 9})
ANNA = _memory("0197a3c0-8e2e-7000-8000-0123456789ac", MADE + timedelta(seconds=12), {**TEA, "tokens": 3})
TAGGED = _memory("0197a3c0-8e2e-7001-8000-0123456789ad", MADE + timedelta(seconds=12), {**TAGGING, "tokens": 6})
UPDATED = replace(ADDED, content=THURSDAYS, version=2, updated_at=CHANGED)
PUT = replace(UPDATED, importance="medium", metadata={}, version=3, updated_at=REPLACED)

CONTRADICTING = _memory("0197a3f7-0d0e-7000-8000-0123456789af", CHANGED, {"content": THURSDAYS, "tokens": 9})
TO_THURSDAYS = FieldChangeReply(field="content", before="Fridays;", after="Thursdays;")
DAILY = "We deploy every day"
SUPERSEDING = _memory(
    "0197d222-1b2e-7000-8000-0123456789ae",
    REPLACED + timedelta(days=2),
    {
        "content": DAILY,
        "reason": "The pipeline is fast enough",
        "category": "rules",
        "key": "deploy",
        "supersedes": RULE_ID,
        "tokens": 4,
    },
)

HISTORY = HistoryReply(
    items=[
        VersionReply(memory=UPDATED, born=4, died=None, born_at=CHANGED, died_at=None, changes=[TO_THURSDAYS]),
        VersionReply(memory=ADDED, born=1, died=4, born_at=MADE, died_at=CHANGED, changes=[]),
    ],
    chain=[RULE_ID],
)
RESTORED = _written(replace(ADDED, version=4, updated_at=REPLACED))

HIT = HitReply(
    memory=UPDATED,
    score=0.503,
    ranks={"lexical": 1, "dense": 1},
    passage=PassageReply(number=0, start=0, stop=37),
    explain=ExplanationReply(
        fusion="absolute",
        alpha=0.4286,
        lexical=0.6978,
        bm25=1.0549,
        cosine=0.5743,
        blend={"around": 0.0, "late": 0.0, "order": 0.0, "brevity": 1.0, "speaker": 0.0, "scale": 0.7006},
        fused=0.5159,
        time=None,
        recency=1.0,
        importance=0.975,
        trust=1.0,
        feedback=1.05,
        age_days=0.5,
        refreshed_days=0.0,
        terms={"deploy": 1.0549},
    ),
)

HELD = Usage(memories=3, bytes=133, quota=Quota(memories=100_000))
QUOTA = QuotaReply.of(HELD)
POLICY = PolicyReply(
    secrets="redact",
    personal_data="redact",
    echoes="flag",
    history_days=365.0,
    purge_after_days=None,
    similarity_limit=None,
    recency_weight=0.0,
    recency_half_life_days=30.0,
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
    seq=_seq(4),
)

SPACE = SpaceReply.of(
    Space(
        name="default",
        epoch=EPOCH,
        seq=4,
        created_at=MADE - timedelta(hours=1),
        settings=SpaceSettings(),
        generation="916b0e0871c9dee517f4fb22b379f991",
        policy=replace(USUAL_POLICY, history_days=365.0),
    )
)
NEW_EPOCH = "6ff02b04-b24e-48fa-b13e-745b59bdbf01"
NEW_SPACE = replace(
    SPACE, name="acme.web", epoch=NEW_EPOCH, seq=str(Seq(NEW_EPOCH, 0)), created_at=REPLACED, generation=None
)

ADMIN = "a1b2c3d4e5f6"  # the id of the key that the story is told with
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

ALIKE = Likeness(
    id=RULE_ID,
    kind="duplicate",
    similarity=1.0,
    differs=(),
    content=FRIDAYS,
    category="rules",
    key="deploy",
)
DAYS = Difference(kind="date", existing="Fridays", new="Thursdays")
CONTRARY = structs.replace(ALIKE, kind="conflict", similarity=0.9215, differs=(DAYS,))
AT_ADDRESS = structs.replace(ALIKE, kind="address", similarity=None)
ERASED = ReportReply(
    id="5f0b7a1e-2b1f-4c59-9d6f-0b8f0f8a4d11",
    space="default",
    what={"memory": RULE_ID},
    by=ADMIN,
    began_at=REPLACED,
    ended_at=REPLACED + timedelta(milliseconds=12),
    engine="SQLite 3.54.1",
    seq=_seq(10),
    erased={"memories": 1, "versions": 3, "tags": 3, "metadata": 1, "passages": 3, "embeddings": 3},
    found={"versions": 0, "segments": 0, "free space of the file": 0, "write-ahead log, in bytes": 0},
    complete=True,
    unchecked={"backups made before": ELSEWHERE["backups made before"]},
    relatives=[],
)
ERASURE = ErasureReply(report=ERASED, signed="eyJhbGciOiJFZERTQSIsImtpZCI6….….…")
SIGNER = {"crv": "Ed25519", "kty": "OKP", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "kPrK_qmxVWaYVA9w"}

FULL = structs.replace(HELD, memories=100_000)

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
    at=REPLACED, seq=_seq(4), generation=SPACE.generation, recall=1.0, ranks=[RankReply(id=PROBE.id, rank=1)]
)
FOUND = SearchReply(hits=[HIT], total=1, evidence="strong", strength=1.06, strategy="hybrid", degraded=[], seq=_seq(4))
RECEIPT = ReceiptReply(
    id="0197a3c0-5f4e-7000-8000-0123456789af",
    space="default",
    made_at=CHANGED,
    actor=ADMIN,
    parameters={"query": "when do we deploy?", "limit": 5, "receipt": True},
    reference_time=CHANGED,
    generation=SPACE.generation,
    seq=_seq(4),
    total=1,
    evidence="weak",
    strategy="hybrid",
    degraded=[],
    hits=[ReceiptHitReply(rank=1, id=RULE_ID, version=2, score=0.503, ranks={"lexical": 1, "dense": 1})],
)

# Bodies of requests by operation.
REQUESTS: Mapping[str, Any] = {
    "addProbe": {"query": PROBE.query, "category": PROBE.category, "key": PROBE.key, "k": PROBE.k},
    "createCheckpoint": {"name": "before-import", "note": "all was well"},
    "rollBack": {"to": "before-import"},
    "forkSpace": {"name": "try"},
    "mergeSpaces": {"from": "try", "strategy": "theirs"},
    "createKey": {"name": KEY.name, "mode": "no-delete", "spaces": KEY.spaces, "expires_at": KEY.expires_at},
    "rotateKey": {"overlap_seconds": 3600},
    "createSpace": {"name": NEW_SPACE.name},
    "setPolicy": {"secrets": "redact", "personal_data": "redact"},
    "setQuota": {"memories": HELD.quota.memories, "bytes": HELD.quota.bytes},
    "addMemory": RULE,
    "addMemories": {"memories": [TEA, TAGGING], "atomic": True, "on_conflict": "keep"},
    "updateMemory": {"content": THURSDAYS, "reason": None},
    "updateEntry": {"content": THURSDAYS, "reason": None},
    "putEntry": {"content": THURSDAYS, "tags": ["release"]},
    "restoreMemory": {"version": 1},
    "restoreEntry": {"version": 1},
    "undo": {"last": 1},
    "promote": {"retrievals": 5},
    "giveFeedback": {"verdict": "useful"},
    "giveEntryFeedback": {"verdict": "useful"},
    "createWebhook": {"url": "https://hooks.example.com/muisti", "changes": ["created", "updated"]},
    "redeliverWebhook": {"since": 3},
    "prune": {"retrievals": 3, "days": 14},
    "decideConflict": {"decision": "supersede"},
    "purge": {"author": "Anna Example"},
    "supersedeMemory": {"content": DAILY, "reason": "The pipeline is fast enough"},
    "supersedeEntry": {"content": DAILY, "reason": "The pipeline is fast enough"},
    "search": {"query": "when do we deploy?", "limit": 5, "filter": {"tags": ["release"]}, "explain": True},
}

# A memory of another system, as it comes in.
FILE = (
    '{"type":"muisti","format":1,"source":"zakira"}\n'
    '{"type":"memory","memory":{"id":"6f1c5b7e-2c0f-5c8e-9a44-1f0a5c3f0d11","content":"Anna takes her tea black",'
    '"created_at":"2024-03-01T12:00:00Z"},"place":"people/anna"}\n'
    '{"type":"end","lines":2}\n'
)
IMPORTED = ImportedReply(
    import_id=1, source="zakira", actor=KEY.id, at=REPLACED, memories=1, first=10, last=10, undone=None
)


def _refused(path: str) -> Problem:
    return problem_of(InvalidInput.at(path, "must not be empty or blank"))


# Problems by code; those that carry more than prose, as the story would bring them about.
PROBLEMS: Mapping[str, Problem] = {code: problem(code, kind.meaning) for code, kind in KINDS.items()} | {
    "invalid_input": _refused("$.content"),
    "sensitive_content": problem_of(SensitiveContent([BadField("$.content", advice("aws-access-key"))])),
    "duplicate": problem_of(Duplicate([ALIKE], checked_at=Seq(EPOCH, 1))),
    "contradiction": problem_of(Contradiction([CONTRARY], checked_at=Seq(EPOCH, 1))),
    "address_taken": problem_of(AddressTaken("rules", "deploy", [AT_ADDRESS])),
    "quota_exceeded": problem_of(QuotaExceeded("default", FULL)),
    "stale_version": problem_of(Stale(RULE_ID, UPDATED.version)),
}

# Bodies of answers by operation and status.
DRY_RUN = DryRunReply(
    status=204,
    changes=1,
    items=[PlannedReply(kind="deleted", memory_id=RULE_ID, version=2)],
    probes=[ShiftReply(id=RULE_ID, query="when do we deploy?", before=1, after=None)],
    answer=None,
)
FORK_SEQ = "5f0c1d7e-93a5-4c0e-8a57-0e5d1f5f5c11:4"
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
    name="before-import", seq=_seq(4), created_at=CHANGED, actor="anonymous", note="all was well"
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
    seq=_seq(4),
    attempts=0,
    error=None,
    told_at=CHANGED,
    dead_letters=[],
)
REPLIES: Mapping[str, Mapping[int, Any]] = {
    "createCheckpoint": {201: CHECKPOINT},
    "forkSpace": {201: replace(SPACE, name="try", epoch=FORK_SEQ.partition(":")[0], seq=FORK_SEQ)},
    "compareSpaces": {200: ComparisonReply(items=[DIVERGED], next_cursor=None, seq=_seq(4), other=FORK_SEQ)},
    "mergeSpaces": {200: MergedReply(added=0, changed=1, ended=0, flags=[], seq=_seq(5))},
    "listCheckpoints": {200: CheckpointsReply(items=[CHECKPOINT])},
    "diffSpace": {
        200: DiffReply(
            items=[
                MemoryChangeReply(id=RULE_ID, change="changed", before=ADDED, after=UPDATED, changes=[TO_THURSDAYS])
            ],
            next_cursor=None,
            since=_seq(1),
            until=_seq(4),
        )
    },
    "rollBack": {200: RolledBackReply(to=_seq(4), before=_seq(9), added=1, changed=2, ended=2, flags=[], seq=_seq(14))},
    "addMemory": {201: AddedReply(**asdict(ADDED), flags=[], similar=[], checked_at=_seq(0))},
    "getMemory": {200: ADDED},
    "getEntry": {200: ADDED},
    "addMemories": {
        201: BatchReply(items=[ANNA, TAGGED], flags=[], seq=_seq(3)),
        200: ItemsReply(
            items=[
                ItemReply(index=0, status="created", memory=ANNA),
                ItemReply(index=1, status="failed", problem=_refused("$.memories[1].content")),
            ],
            created=1,
            failed=1,
            flags=[],
            seq=_seq(3),
        ),
    },
    "updateMemory": {200: _written(UPDATED)},
    "updateEntry": {200: _written(UPDATED)},
    "getHistory": {200: HISTORY},
    "getEntryHistory": {200: HISTORY},
    "getTelemetry": {200: USED},
    "getEntryTelemetry": {200: USED},
    "giveFeedback": {200: USED},
    "giveEntryFeedback": {200: USED},
    "createWebhook": {201: replace(WEBHOOK, secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")},
    "listWebhooks": {200: WebhooksReply(items=[WEBHOOK])},
    "redeliverWebhook": {200: WEBHOOK},
    "lintSpace": {
        200: LintReply(
            items=[
                FindingReply(
                    check="contradiction",
                    memory_id=RULE_ID,
                    version=2,
                    detail=f"contradicts {TAGGED.id}: {TAGGED.content}",
                    about=THURSDAYS,
                    others=[TAGGED.id],
                    fix=[
                        FixReply(
                            method="PATCH",
                            path=f"/v1/spaces/default/memories/{TAGGED.id}?dry_run=true",
                            body={"status": "deprecated"},
                        )
                    ],
                )
            ],
            checked=3,
            found={"contradiction": 1},
            score=83.3,
            skipped=[],
            next_cursor=None,
            seq=_seq(4),
        )
    },
    "search": {
        200: SearchReply(
            hits=[HIT], total=1, evidence="strong", strength=1.06, strategy="hybrid", degraded=[], seq=_seq(4)
        )
    },
    "listMemories": {200: PageReply(items=[TAGGED, ANNA, UPDATED], next_cursor=None)},
    "listCategories": {200: CountsReply(items=[CountReply(name="rules", count=2)])},
    "listTags": {200: CountsReply(items=[CountReply(name="release", count=1)])},
    "getReceipt": {200: RECEIPT},
    "replayReceipt": {
        200: ReplayReply(
            same=False,
            differences=[MovedReply(id=RULE_ID, before=1, after=None, why="superseded", superseded_by=SUPERSEDING.id)],
            answer=FOUND,
            at=REPLACED,
        )
    },
    "addProbe": {201: PROBE},
    "listProbes": {200: ProbesReply(items=[PROBE])},
    "runProbes": {200: RUN},
    "listProbeRuns": {200: RunsReply(items=[RUN])},
    "listChanges": {
        200: ChangesReply(
            items=[
                ChangeReply(
                    seq=4,
                    at=CHANGED,
                    change="updated",
                    memory_id=RULE_ID,
                    version=2,
                    actor=ADMIN,
                    request="4bf92f3577b34da6",
                    after=UPDATED,
                )
            ],
            next_cursor=None,
            seq=_seq(4),
        )
    },
    "setQuota": {200: QUOTA},
    "setPolicy": {200: POLICY},
    "getStats": {200: STATS},
    "getSpace": {200: SPACE},
    "putEntry": {200: _written(PUT), 201: _written(replace(PUT, version=1, created_at=REPLACED))},
    "restoreMemory": {200: RESTORED},
    "restoreEntry": {200: RESTORED},
    "promote": {200: ReviewReply(items=[], before={"active": 3}, after={"active": 3}, more=False, seq=_seq(9))},
    "prune": {200: ReviewReply(items=[], before={"active": 3}, after={"active": 3}, more=False, seq=_seq(9))},
    "listConflicts": {
        200: ConflictsReply(
            items=[
                ConflictReply(
                    id="12",
                    kind="conflict",
                    similarity=0.93,
                    differs=differing([DAYS]),
                    opened_at=CHANGED,
                    actor="local",
                    existing=ADDED,
                    new=CONTRADICTING,
                )
            ],
            next_cursor=None,
        )
    },
    "decideConflict": {
        200: DecidedReply(id="12", decision="supersede", existing_id=RULE_ID, new_id=CONTRADICTING.id, seq=_seq(5))
    },
    "exportSpace": {200: FILE},
    "importMemories": {
        200: ImportReply(
            import_id=1,
            dry_run=False,
            source="zakira",
            created=1,
            good=1,
            versions=1,
            skipped={},
            failed=0,
            failures=[],
            flags=[],
            vectors_kept=0,
            vectors_embedded=1,
            origin=None,
            seq=_seq(10),
        )
    },
    "listImports": {200: ImportsReply(items=[IMPORTED])},
    "undoImport": {200: replace(IMPORTED, undone=11)},
    "undo": {200: UndoReply(items=[replace(PUT, version=6, updated_at=REPLACED)], ended=[], flags=[], seq=_seq(9))},
    "supersedeMemory": {201: _written(SUPERSEDING)},
    "supersedeEntry": {201: _written(SUPERSEDING)},
    "createSpace": {201: NEW_SPACE},
    "listSpaces": {200: SpacesReply(items=[NEW_SPACE, SPACE])},
    "createKey": {201: MadeKeyReply(**asdict(KEY), key=f"mk_{KEY.id}_…")},
    "getKey": {200: KEY},
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
    "getHealth": {200: AliveReply()},
    "getReadiness": {
        200: ReadyReply(
            version="0.1.0",
            store="SQLite 3.54.1",
            spaces=2,
            embeddings=EmbeddingsReply(enabled=True, model="muisti-static-256"),
            index_bytes=170_416,
            indexes_evicted=0,
            loading=[],
        )
    },
    "deleteMemory": {200: ERASURE},
    "deleteEntry": {200: ERASURE},
    "deleteSpace": {200: replace(ERASURE, report=replace(ERASED, space="acme.web", what={"space": "acme.web"}))},
    "purge": {200: replace(ERASURE, report=replace(ERASED, what={"author": "Anna Example"}))},
    "getSigningKeys": {200: SigningKeysReply(keys=[SIGNER])},
    "getProblem": {200: KindReply.of("duplicate")},
    "getResourceMetadata": {200: RESOURCE},
    "getMcpMetadata": {200: replace(RESOURCE, resource=f"{RESOURCE.resource}/mcp")},
    "getOpenapi": {200: {"openapi": "3.1.0", "info": {"title": "Muisti", "version": "1"}, "paths": {}}},
    "getDocs": {200: "<!doctype html>"},
    "getMetrics": {200: 'muisti_searches_total{evidence="strong",mode="hybrid",worker="0"} 17.0'},
}
