"""Examples of the bodies of replies, by operation and status."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict, replace

from muisti.service.openapi.code import CODE_REPLIES
from muisti.service.openapi.conversations import CONVERSATION_REPLIES
from muisti.service.openapi.documents import DOCUMENT_REPLIES
from muisti.service.openapi.graph import GRAPH_REPLIES
from muisti.service.openapi.operating import (
    CHECKPOINT,
    DIVERGED,
    ERASED,
    ERASURE,
    IMPORTED,
    OPERATING_REPLIES,
    POLICY,
    QUOTA,
    RESOURCE,
    SEALED,
    SIGNER,
    STATS,
    TASK,
    USED,
)
from muisti.service.openapi.problems import refused
from muisti.service.openapi.story import (
    ADDED,
    ADMIN,
    ANNA,
    CHANGED,
    CONTEXT,
    CONTRADICTING,
    DAYS,
    FILE,
    FORK_SEQ,
    FOUND,
    FOUND_JOINTLY,
    HISTORY,
    MADE,
    PUT,
    RECEIPT,
    REPLACED,
    RESTORED,
    RULE_ID,
    SPACE,
    SUPERSEDING,
    TAGGED,
    THURSDAYS,
    TO_THURSDAYS,
    UPDATED,
    seq_at,
    written,
)
from muisti.service.routes.docs import KindReply
from muisti.service.schemas.changes import ChangeReply, ChangesReply
from muisti.service.schemas.checkpoints import (
    CheckpointsReply,
    ClearedReply,
    DiffReply,
    MemoryChangeReply,
    RolledBackReply,
)
from muisti.service.schemas.conflicts import ConflictReply, ConflictsReply, DecidedReply, ReviewReply
from muisti.service.schemas.dry_run import DryRunReply, PlannedReply, ShiftReply
from muisti.service.schemas.erasure import SigningKeysReply
from muisti.service.schemas.forks import ComparisonReply, MergedReply
from muisti.service.schemas.health import AliveReply, EmbeddingsReply, LatencyReply, ReadyReply, ServerStatsReply
from muisti.service.schemas.likeness import differing
from muisti.service.schemas.lint import FindingReply, FixReply, LintReply
from muisti.service.schemas.moving import ImportReply, ImportsReply
from muisti.service.schemas.reads import QuestionReply, QuestionsReply, ReadReply, ReadsReply
from muisti.service.schemas.receipts import ListedReceiptReply, MovedReply, ReceiptsReply, ReplayReply
from muisti.service.schemas.replies import (
    AddedReply,
    BatchReply,
    CountReply,
    CountsReply,
    ItemReply,
    ItemsReply,
    PageReply,
    UndoReply,
)

READS = ReadsReply(
    mode="questions",
    process="5f0c2b7d91ae",
    since=MADE,
    size=1_000,
    items=[
        ReadReply(
            id="5f0c2b7d91ae:2",
            at=CHANGED,
            operation="search",
            actor=ADMIN,
            request_id="0197a3c0-5f4e-7000-8000-0123456789aa",
            ms=1.482,
            hits=1,
            evidence="strong",
            receipt=None,
        )
    ],
    next_cursor=None,
)
UNANSWERED = QuestionsReply(
    mode="questions",
    process=READS.process,
    since=MADE,
    items=[QuestionReply(text="who is on call", count=3, first_at=MADE, last_at=CHANGED)],
)
DRY_RUN = DryRunReply(
    status=204,
    changes=1,
    items=[PlannedReply(kind="deleted", memory_id=RULE_ID, version=2)],
    probes=[ShiftReply(id=RULE_ID, query="when do we deploy?", before=1, after=None)],
    answer=None,
)
REPLIES: Mapping[str, Mapping[int, Any]] = {
    "createCheckpoint": {201: CHECKPOINT},
    "forkSpace": {201: replace(SPACE, name="try", epoch=FORK_SEQ.partition(":")[0], seq=FORK_SEQ)},
    "compareSpaces": {200: ComparisonReply(items=[DIVERGED], next_cursor=None, seq=seq_at(4), other=FORK_SEQ)},
    "mergeSpaces": {200: MergedReply(added=0, changed=1, ended=0, flags=[], seq=seq_at(5))},
    "listCheckpoints": {200: CheckpointsReply(items=[CHECKPOINT])},
    "diffSpace": {
        200: DiffReply(
            items=[
                MemoryChangeReply(id=RULE_ID, change="changed", before=ADDED, after=UPDATED, changes=[TO_THURSDAYS])
            ],
            next_cursor=None,
            since=seq_at(1),
            until=seq_at(4),
        )
    },
    "rollBack": {
        200: RolledBackReply(to=seq_at(4), before=seq_at(9), added=1, changed=2, ended=2, flags=[], seq=seq_at(14))
    },
    "clearSpace": {200: ClearedReply(ended=5, before=seq_at(9), seq=seq_at(14))},
    "addMemory": {201: AddedReply(**asdict(ADDED), flags=[], similar=[], checked_at=seq_at(0))},
    "getMemory": {200: ADDED},
    "getEntry": {200: ADDED},
    "addMemories": {
        201: BatchReply(items=[ANNA, TAGGED], flags=[], seq=seq_at(3)),
        200: ItemsReply(
            items=[
                ItemReply(index=0, status="created", memory=ANNA),
                ItemReply(index=1, status="failed", problem=refused("$.memories[1].content")),
            ],
            created=1,
            failed=1,
            flags=[],
            seq=seq_at(3),
        ),
    },
    "updateMemory": {200: written(UPDATED)},
    "updateEntry": {200: written(UPDATED)},
    "getHistory": {200: HISTORY},
    "getEntryHistory": {200: HISTORY},
    "getTelemetry": {200: USED},
    "getEntryTelemetry": {200: USED},
    "giveFeedback": {200: USED},
    "giveEntryFeedback": {200: USED},
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
            seq=seq_at(4),
        )
    },
    **DOCUMENT_REPLIES,
    **CODE_REPLIES,
    **GRAPH_REPLIES,
    **CONVERSATION_REPLIES,
    **OPERATING_REPLIES,
    "search": {200: FOUND},
    "getContext": {200: CONTEXT},
    "searchSpaces": {200: FOUND_JOINTLY},
    "listMemories": {200: PageReply(items=[TAGGED, ANNA, UPDATED], next_cursor=None)},
    "listCategories": {200: CountsReply(items=[CountReply(name="rules", count=2)])},
    "listTags": {200: CountsReply(items=[CountReply(name="release", count=1)])},
    "getReceipt": {200: RECEIPT},
    "listReads": {200: READS},
    "listUnanswered": {200: UNANSWERED},
    "listReceipts": {
        200: ReceiptsReply(
            items=[
                ListedReceiptReply(
                    id=RECEIPT.id,
                    made_at=RECEIPT.made_at,
                    actor=RECEIPT.actor,
                    kind="search",
                    query="when do we deploy?",
                    evidence=RECEIPT.evidence,
                    strategy=RECEIPT.strategy,
                    total=RECEIPT.total,
                    hits=1,
                    seq=RECEIPT.seq,
                )
            ],
            next_cursor=None,
        )
    },
    "replayReceipt": {
        200: ReplayReply(
            same=False,
            differences=[MovedReply(id=RULE_ID, before=1, after=None, why="superseded", superseded_by=SUPERSEDING.id)],
            answer=FOUND,
            at=REPLACED,
        )
    },
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
            seq=seq_at(4),
        )
    },
    "setQuota": {200: QUOTA},
    "setPolicy": {200: POLICY},
    "getStats": {200: STATS},
    "getSpace": {200: SPACE},
    "putEntry": {200: written(PUT), 201: written(replace(PUT, version=1, created_at=REPLACED))},
    "restoreMemory": {200: RESTORED},
    "restoreEntry": {200: RESTORED},
    "promote": {200: ReviewReply(items=[], before={"active": 3}, after={"active": 3}, more=False, seq=seq_at(9))},
    "prune": {200: ReviewReply(items=[], before={"active": 3}, after={"active": 3}, more=False, seq=seq_at(9))},
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
        200: DecidedReply(id="12", decision="supersede", existing_id=RULE_ID, new_id=CONTRADICTING.id, seq=seq_at(5))
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
            seq=seq_at(10),
        ),
        202: replace(TASK, kind="import", asked={"atomic": True}),
    },
    "listImports": {200: ImportsReply(items=[IMPORTED])},
    "undoImport": {200: replace(IMPORTED, undone=11)},
    "undo": {
        200: UndoReply(
            undone="1 change (1 replaced)",
            items=[replace(PUT, version=6, updated_at=REPLACED)],
            ended=[],
            flags=[],
            seq=seq_at(9),
        )
    },
    "supersedeMemory": {201: written(SUPERSEDING)},
    "supersedeEntry": {201: written(SUPERSEDING)},
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
    "purge": {
        200: replace(ERASURE, report=replace(ERASED, what={"author": "Anna Example"})),
        202: replace(TASK, kind="purge", asked={"author": SEALED}),
    },
    "getSigningKeys": {200: SigningKeysReply(keys=[SIGNER])},
    "getProblem": {200: KindReply.of("duplicate")},
    "getResourceMetadata": {200: RESOURCE},
    "getMcpMetadata": {200: replace(RESOURCE, resource=f"{RESOURCE.resource}/mcp")},
    "getOpenapi": {200: {"openapi": "3.1.0", "info": {"title": "Muisti", "version": "1"}, "paths": {}}},
    "getDocs": {200: "<!doctype html>"},
    "getServerStats": {
        200: ServerStatsReply(
            workers=2,
            memory_bytes=310_000_000,
            uptime_seconds=86_400.0,
            operations=[
                LatencyReply(
                    method="POST",
                    route="/v1/spaces/{space}/search",
                    count=1_000,
                    mean=1.3,
                    p50=1.1,
                    p95=2.3,
                    p99=4.1,
                )
            ],
        )
    },
    "getMetrics": {200: 'muisti_searches_total{evidence="strong",mode="hybrid",worker="0"} 17.0'},
}
