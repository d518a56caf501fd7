"""Sources of documents among the server's own files: where a file is, and what has become of it."""

from datetime import UTC, datetime
from pathlib import Path

from muisti.core.model.filing import Document
from muisti.core.model.values import LOCAL
from muisti.core.views.documents import Held, Look, Source
from muisti.service.auth.access import Access


def origin_of(path: Path, folder: str | None) -> str | None:
    """Return the path of a file below the folder of the server's own files."""
    return None if folder is None else path.relative_to(Path(folder).resolve()).as_posix()


def looker(access: Access, folder: str | None) -> Look:
    """Return the function that compares a document with the file that the server read it from.

    Only callers without a key learn about files. All other sources are `unknown`, also those of uploads.
    """
    if folder is None or not (access.open or access.actor == LOCAL):
        return lambda document: "unknown"
    root = Path(folder).resolve()
    return lambda document: _source(document, root)


def _source(document: Document, root: Path) -> Source:
    if document.origin is None or not root.is_dir():
        return "unknown"
    path = (root / document.origin).resolve()
    if not path.is_relative_to(root):
        return "unknown"
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if changed <= document.memory.updated_at:
            return "current"
        with Held.of_path(path) as held:
            return "current" if held.sha256 == document.sha256 else "stale"
    except FileNotFoundError:
        return "stale"
    except OSError:
        return "unknown"
