"""Examples of requests and replies about documents."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import asdict, replace

from muisti.service.openapi.operating import TASK
from muisti.service.schemas.documents import (
    ChunkReply,
    ChunksReply,
    CutReply,
    DocumentEndedReply,
    DocumentReply,
    DocumentsReply,
    MoveReply,
    PreviewReply,
    PruneDocumentsReply,
    PutReply,
    SyncReply,
)

ID = "01a1a3c0-5f4e-7000-8000-00000000d0c1"
CHUNK = "01a1a3c0-5f4e-7000-8000-00000000d0c2"
SHA256 = "41e2d3b4e9c5f0a7d3f0c63bdf5a4d6a1f0e6a1c2c8d1d4b3e5f60718293a4b5"
AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
TEXT = "# Deploy\n\nWe deploy on Thursdays.\n"

DOCUMENT = DocumentReply(
    id=ID,
    version=1,
    path="docs/deploy.md",
    title="Deploy",
    category=None,
    tags=["release"],
    metadata={},
    author=None,
    importance="medium",
    source=None,
    source_class="unknown",
    trust=50,
    media_type="text/markdown",
    language=None,
    pages=None,
    sha256=SHA256,
    size=len(TEXT),
    mtime=AT,
    chunks=1,
    characters=len(TEXT),
    lines=3,
    tokens=7,
    options={},
    created_at=AT,
    notes=[],
    indexed_at=AT,
)
PUT = PutReply(**asdict(DOCUMENT), outcome="created", added=1, kept=0, changed=0, ended=0, moved_from=None, flags=[])
SAME = replace(PUT, outcome="unchanged", added=0, kept=1)
CHUNKS = ChunksReply(
    document=ID,
    path=DOCUMENT.path,
    items=[
        ChunkReply(
            id=CHUNK,
            version=1,
            content=TEXT,
            position=1 << 30,
            start=0,
            stop=len(TEXT),
            overlap=0,
            first_line=1,
            last_line=3,
            page=None,
            headings=["Deploy"],
            language=None,
            symbol=None,
            kind="text",
            tokens=7,
        )
    ],
    total=1,
    next_cursor=None,
)
CUT = CutReply(
    start=0,
    stop=len(TEXT),
    overlap=0,
    tokens=7,
    page=None,
    headings=["Deploy"],
    language=None,
    symbol=None,
    kind="text",
    beginning="# Deploy We deploy on Thursdays.",
)
PUTS = {200: SAME, 201: PUT, 202: TASK}

DOCUMENT_REQUESTS: Mapping[str, Any] = {
    "addDocuments": {"path": DOCUMENT.path, "content": TEXT, "tags": ["release"]},
    "putDocument": {"content": TEXT},
    "previewDocument": {"content": TEXT, "size": 256},
    "pruneDocuments": {"strategy": "all"},
    "syncDocuments": {"files": [{"path": DOCUMENT.path, "sha256": SHA256}], "folder": "docs/"},
}
DOCUMENT_REPLIES: Mapping[str, Any] = {
    "addDocuments": PUTS,
    "putDocument": PUTS,
    "listDocuments": {
        200: DocumentsReply(items=[DOCUMENT], total=1, chunks=1, characters=len(TEXT), size=len(TEXT), next_cursor=None)
    },
    "getDocument": {200: DOCUMENT},
    "listChunks": {200: CHUNKS},
    "getText": {200: TEXT},
    "deleteDocument": {200: DocumentEndedReply(documents=1, chunks=1, total=2)},
    "pruneDocuments": {
        200: PruneDocumentsReply(
            stale_code=["src/old.py"], unknown=3, orphaned_chunks=[], orphaned_entities=["Ada"], more=False
        )
    },
    "syncDocuments": {
        200: SyncReply(
            wanted=["docs/new.md"],
            ended=["docs/old.md"],
            moved=[MoveReply(before="docs/a.md", after="docs/b.md")],
            unchanged=12,
            chunks_ended=4,
        )
    },
    "previewDocument": {200: PreviewReply(items=[CUT], chunks=1)},
}
