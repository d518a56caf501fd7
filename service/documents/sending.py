"""Send files to the service; a repeated command goes on with the task of a large one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muisti.core.parsing.archives import is_archive
from muisti.service.terminal.progress import ended, own_task

if TYPE_CHECKING:
    from muisti.client import Call, Reply
    from muisti.service.terminal.session import Session

BLOCK = 1 << 20
BINARY = "application/octet-stream"


def begun(opened: Session, request: Call, source: Path | bytes) -> dict[str, Any] | None:
    """Return the answer for a large file or archive, which may be the task of a killed command; None for other files.

    The digest of the bytes names the request, so that a repeated command goes on with the task unless it is over. An
    earlier answer without a task tells nothing of the document as it is now: then it is None, too.
    """
    if not (_size(source) > BLOCK or holds_documents(source)):
        return None
    digest = blake2b(repr((request.path, *request.params.items())).encode(), digest_size=16)
    for block in [source] if isinstance(source, bytes) else blocks(source):
        digest.update(block)
    key, told = f"ingest-{digest.hexdigest()}", False

    def send(name: str | None) -> Reply:
        nonlocal told
        headers = request.headers if name is None else {**request.headers, "Idempotency-Key": name}
        reply = reply_to(opened, replace(request, headers=headers), source)
        told = "outcome" in reply.data and reply.headers.get("Idempotent-Replayed") == "true"
        return reply

    answer = own_task(send, key, lambda task: ended(opened.client, opened.space, task, lambda done, total: None))
    return None if told else answer


def _size(source: Path | bytes) -> int:
    return len(source) if isinstance(source, bytes) else source.stat().st_size if source.exists() else 0


def reply_to(opened: Session, request: Call, source: Path | bytes) -> Reply:
    content = (lambda: source) if isinstance(source, bytes) else (lambda: blocks(source))
    return opened.write(lambda: opened.client.send(with_content(request, content())))


def holds_documents(source: Path | bytes) -> bool:
    try:
        with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
            return is_archive(stream)
    except OSError:  # it has just been deleted
        return False


def with_content(request: Call, content: Any, media_type: str = BINARY) -> Call:
    """Return a request with bytes as its body."""
    return replace(
        request, body=None, content=content, headers={**request.headers, "Content-Type": media_type}, long=True
    )


def blocks(place: Path) -> Iterator[bytes]:
    """Yield the bytes of a file; none when it has just been deleted, which then is the failure of an empty file."""
    try:
        with place.open("rb") as file:
            yield from iter(lambda: file.read(BLOCK), b"")
    except OSError:
        return
