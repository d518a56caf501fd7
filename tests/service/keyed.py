"""Keys for tests, and a request of every route."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import msgspec

from muisti.core.engine import Engine
from muisti.core.identity.grants import EVERYTHING, Grant
from muisti.core.model.choices import Scope
from muisti.core.model.times import from_us
from muisti.service.openapi.words import PATH_TYPES
from muisti.service.routes.keys import MODES

# What each operation needs: the contract, written once more.
NEEDS: dict[str, Scope | None] = {
    "listSessions": "read",
    "listConversations": "read",
    "listTopics": "read",
    "createSession": "append",
    "createConversation": "append",
    "createTopic": "append",
    "getSession": "read",
    "getConversation": "read",
    "getTopic": "read",
    "updateSession": "write",
    "updateConversation": "write",
    "updateTopic": "write",
    "deleteSession": "delete",
    "deleteConversation": "delete",
    "deleteTopic": "delete",
    "addExchanges": "append",
    "listExchanges": "read",
    "suggestPreferences": "append",
    "adoptConversations": "write",
    "splitTopic": "write",
    "moveTopic": "write",
    "mergeTopics": "write",
    "listSummaries": "read",
    "summariseConversation": "write",
    "summariseSpace": "write",
    "summariseSession": "write",
    "summariseExchange": "write",
    "getWorkingMemory": "read",
    "keepInWorkingMemory": "write",
    "releaseFromWorkingMemory": "write",
    "optimizeText": "read",
    "addDocuments": "write", "putDocument": "write", "listDocuments": "read", "getDocument": "read",
    "listChunks": "read", "getText": "read", "deleteDocument": "delete", "syncDocuments": "delete",
    "pruneDocuments": "delete",
    "previewDocument": "read",
    "getContext": "read",
    "getHandoff": "read",
    "listMemories": "read", "getMemory": "read", "getHistory": "read", "getEntry": "read", "search": "read",
    "getTelemetry": "read", "getEntryTelemetry": "read", "getEntryHistory": "read",
    "listAuthors": "read", "listCategories": "read", "listChanges": "read", "getMap": "read",
    "listReads": "admin", "listUnanswered": "admin", "forgetReads": "admin",
    "listReceipts": "read",
    "listProbes": "read", "listProbeRuns": "read", "addProbe": "write", "deleteProbe": "write", "runProbes": "write",
    "searchSpaces": "read", "listTags": "read", "getStats": "read", "getSpace": "read",
    "warmSpace": "read",
    "exportSpace": "read", "listImports": "read", "importMemories": "write", "undoImport": "delete",
    "addMemory": "append", "addMemories": "append",
    "updateMemory": "write", "supersedeMemory": "write", "restoreMemory": "write", "putEntry": "write",
    "updateEntry": "write", "supersedeEntry": "write", "restoreEntry": "write", "giveEntryFeedback": "append",
    "giveFeedback": "append", "lintSpace": "read",
    "findSymbols": "read", "getCallers": "read", "getCallees": "read", "getOutline": "read", "getCodeMap": "read",
    "getGraph": "read", "listEntities": "read", "getEntity": "read", "listNeighbours": "read", "findPath": "read",
    "listRelations": "read", "listProposals": "read", "exportGraph": "read", "drawGraph": "read",
    "describeEntity": "write", "mergeEntities": "write", "keepEntitiesApart": "write", "stateRelation": "append",
    "correctRelation": "write", "retractStatement": "delete", "buildGraph": "write", "dropGraph": "admin",
    "listCommunities": "read",
    "listConflicts": "read",
    "decideConflict": "write",
    "createWebhook": "admin", "listWebhooks": "admin", "deleteWebhook": "admin", "redeliverWebhook": "admin",
    "promote": "write", "prune": "write",
    "deleteMemory": "delete", "deleteEntry": "delete", "undo": "delete", "rollBack": "delete",
    "clearSpace": "delete",
    "mergeSpaces": "delete", "compareSpaces": "read", "forkSpace": "admin",
    "listCheckpoints": "read", "diffSpace": "read", "createCheckpoint": "write", "deleteCheckpoint": "write",
    "setQuota": "admin", "setPolicy": "admin", "createSpace": "admin", "deleteSpace": "admin", "listAudit": "admin",
    "getMetrics": "admin", "getServerStats": "admin", "purge": "admin",
    "listGenerations": "read", "compareGenerations": "admin", "buildGeneration": "admin", "switchGeneration": "admin",
    "rollBackGeneration": "admin", "dropGeneration": "admin",
    "getPlacement": "admin", "addDatabase": "admin", "planMoves": "admin", "moveUnits": "admin",
    "promoteSpace": "admin", "drainDatabase": "admin", "checkPlacement": "admin",
}  # fmt: skip
ANY_KEY = {
    "getAccess",
    "getReceipt", "replayReceipt", "listSpaces", "createKey", "listKeys", "getKey", "revokeKey", "rotateKey",
    "listTasks", "getTask", "listTaskItems", "followTask", "cancelTask",
}  # fmt: skip
PUBLIC = {
    "getHealth", "getReadiness", "getOpenapi", "getDocs", "getProblem", "getSigningKeys", "getResourceMetadata",
    "getMcpMetadata",
}  # fmt: skip

BODIES: dict[str, Any] = {
    "addDatabase": {"name": "eu-1", "url": "file:eu-1.db"}, "moveUnits": {"units": ["#17"], "target": "main"},
    "promoteSpace": {"name": "default", "target": "main"}, "drainDatabase": {"name": "eu-1"},
    "describeEntity": {"kind": "person"}, "mergeEntities": {"others": ["Anna"]},
    "keepEntitiesApart": {"others": ["Anna"]},
    "stateRelation": {"subject": "Ann Berg", "kind": "works_at", "object": "Acme"},
    "correctRelation": {"object": "Acme Labs"}, "buildGraph": {}, "buildGeneration": {"model": "muisti-static-256"},
    "compareGenerations": {}, "switchGeneration": {}, "rollBackGeneration": {},
    "addProbe": {"query": "deploy", "category": "rules", "key": "deploy"},
    "addMemory": {"content": "new", "on_conflict": "keep"}, "addMemories": {"memories": [{"content": "new"}]},
    "updateMemory": {"reason": "why"}, "updateEntry": {"reason": "why"}, "supersedeMemory": {"content": "instead"},
    "supersedeEntry": {"content": "instead"}, "restoreMemory": {"version": 1}, "restoreEntry": {"version": 1},
    "putEntry": {"content": "put"}, "undo": {"author": "Ann"}, "promote": {}, "giveFeedback": {"verdict": "useful"},
    "giveEntryFeedback": {"verdict": "useful"}, "createWebhook": {"url": "https://hooks.example.com"},
    "redeliverWebhook": {}, "prune": {}, "decideConflict": {"decision": "keep"}, "createCheckpoint": {"name": "made"},
    "rollBack": {"to": "0"}, "clearSpace": {"confirm": "DELETE ALL MEMORIES"}, "forkSpace": {"name": "copied"},
    "mergeSpaces": {"from": "acme.source"}, "search": {"query": "deploy"},
    "searchSpaces": {"query": "deploy", "spaces": [{"name": "acme.source"}]}, "setQuota": {"memories": 9},
    "setPolicy": {"personal_data": "redact"}, "purge": {"author": "Ann"}, "createSession": {"title": "made"},
    "updateSession": {"title": "changed"}, "createConversation": {"title": "made"},
    "updateConversation": {"title": "changed"}, "createTopic": {"title": "made"}, "updateTopic": {"title": "changed"},
    "splitTopic": {"turn": 9}, "moveTopic": {"turn": 14}, "mergeTopics": {"topics": ["t1", "t2"]},
    "summariseConversation": {}, "summariseSession": {}, "keepInWorkingMemory": {"content": "Answer in Finnish."},
    "optimizeText": {"text": "We moved to Turku."}, "getContext": {"query": "deploy"},
    "getHandoff": {"about": "deploy"},
    "addDocuments": {"path": "a.md", "content": "We moved to Turku."}, "putDocument": {"content": "We moved to Turku."},
    "previewDocument": {"content": "We moved to Turku."}, "pruneDocuments": {"strategy": "stale_code"},
    "syncDocuments": {"files": [], "folder": "none/"},
    "addExchanges": {"items": [{"turn": 5, "author": "Ann", "content": "And then?"}]},
}  # fmt: skip

QUERIES: dict[str, dict[str, str]] = {
    "findSymbols": {"name": "run"}, "getCallers": {"symbol": "run"}, "getCallees": {"symbol": "run"},
    "getOutline": {"path": "main.py"}, "findPath": {"from": "Ann Berg", "to": "Acme"},
}  # fmt: skip

# What requests are about: the examples of the parameters of paths, but for what tests store under shorter names.
PLACES: dict[str, Any] = {
    **{name: one for name, kind in PATH_TYPES.items() for one in msgspec.json.schema(kind).get("examples", ())},
    "session": "s", "conversation": "c", "turn": 1, "document": "a.md", "checkpoint": "before", "import_id": 1,
    "code": "conflict",
}  # fmt: skip

STATEMENTS = {"correctRelation", "retractStatement"}  # on memories of the kind `relation`

# Not in JSON.
LINES = {"importMemories": b'{"type":"muisti","format":1}\n{"type":"end","lines":1}\n'}

# Arguments of a call of every tool. `ID`: the id of a memory.
TOOL_ARGUMENTS: dict[str, dict[str, Any]] = {
    "remember": {"content": "Something else entirely"}, "recall": {"query": "deploy"}, "overview": {},
    "get_memory": {"id": "ID"}, "list_memories": {}, "update_memory": {"id": "ID", "changes": {"reason": "why"}},
    "memory_history": {"id": "ID"}, "forget": {"id": "ID"}, "undo": {}, "list_spaces": {},
    "get_context": {"query": "deploy", "conversation": "c"},
    "add_exchanges": {"conversation": "c", "items": [{"author": "Ann", "content": "Hello"}]},
    "conversations": {"action": "get", "conversation": "c"},
    "import_memories": {"ndjson": LINES["importMemories"].decode()}, "search": {"query": "deploy"},
    "fetch": {"id": "ID"}, "set_model": {}, "prune_memory": {"strategy": "stale_code"},
    "clear_all": {"confirm": "DELETE ALL MEMORIES", "dry_run": True}, "create_space": {"name": "made"},
    "purge": {"author": "Ann"}, "get_stats": {}, "add_document": {"path": "b.md", "content": "We moved to Turku."},
    "documents": {"action": "get", "document": "a.md"}, "code": {"action": "callers", "name": "run"},
    "graph": {"action": "entity", "name": "Ann Berg"}, "review": {},
    "decide": {"decision": "accept", "candidate": "ID", "if_version": 1},
    "state_graph": {"action": "relate", "name": "Ann Berg", "kind": "works_at", "object": "Acme"},
}  # fmt: skip


def url(path: str, **given: Any) -> str:
    """Fill in the parameters of a path: those that are given, else those of `PLACES`."""
    return path.format(**{name: quote(str(value), safe="") for name, value in {**PLACES, **given}.items()})


@dataclass(frozen=True)
class Caller:
    """Somebody with a secret."""

    id: str
    secret: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}


def caller(engine: Engine, scopes: tuple[Scope, ...], *spaces: str, category: str | None = None) -> Caller:
    key, secret = engine.keys.create(Grant(frozenset(scopes), spaces or ("*",), category), engine.now(), name="a test")
    return Caller(key.id, secret)


def with_mode(engine: Engine, mode: str, *spaces: str, category: str | None = None) -> Caller:
    return caller(engine, dict(MODES.items())[mode], *spaces, category=category)  # pyright: ignore[reportArgumentType]


def administrator(engine: Engine) -> Caller:
    return caller(engine, tuple(EVERYTHING.scopes), "*")


def expired(engine: Engine) -> Caller:
    """A key that ends in a second, by the engine's clock."""
    key, secret = engine.keys.create(
        EVERYTHING, engine.now(), name="short", expires_at=from_us(engine.now()) + timedelta(seconds=1)
    )
    return Caller(key.id, secret)


def revoked(engine: Engine) -> Caller:
    made = administrator(engine)
    engine.keys.revoke(made.id, engine.now())
    return made
