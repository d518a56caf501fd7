"""Imports and exports: files that came in with their undo, a file to import, and downloads of the space."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from litestar.datastructures import UploadFile

from muisti.client import calls
from muisti.service.console.answers import Answer, does, done, shows
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

LINES, ZSTD = "application/x-ndjson", "application/zstd"
ZSTD_BEGINS = b"\x28\xb5\x2f\xfd"
EXAMPLES = 3


@shows("imports")
async def show_imports(visit: Visit, space: str) -> View:
    """Show what was imported, and what can be downloaded."""
    return await _shown(visit, space)


@does("imports")
async def import_file(visit: Visit, space: str) -> Answer:
    """Say what a file would bring, or import it as a task."""
    file = visit.form.get("file")
    content = await file.read() if isinstance(file, UploadFile) else b""
    atomic = "whole" in visit.form
    if visit.form.get("step") == "import":
        sent = calls.import_memories(space, content, content_type=media_of(content), atomic=atomic, task=True)
        return done(visit, f"tasks/{(await visit.send(sent)).data['id']}", "import_begun")
    sent = calls.import_memories(space, content, content_type=media_of(content), atomic=False, dry_run=True)
    return await _shown(visit, space, report=told((await visit.send(sent)).data, content))


@shows("imports/{number}/undo")
async def show_undo(visit: Visit, space: str, number: str) -> View:
    """Show which import would be undone, before it is."""
    found = await visit.api.list_imports(space)
    one = next((each for each in found["items"] if str(each["import_id"]) == number), None)
    model = {"one": one, "undo": visit.to(f"imports/{number}/undo"), "may": visit.may_change("delete")}
    return View("import_undo.html", model, status=200 if one else 404)


async def _shown(visit: Visit, space: str, report: Mapping[str, Any] | None = None) -> View:
    found = await visit.api.list_imports(space)
    whole = visit.access["category"] is None
    model = {"imports": found["items"], "report": report, "whole": whole, "exports": exports(space)}
    return View("imports.html", model, block="report")


def media_of(content: bytes) -> str:
    """Return the type of a file by how it begins: compressed lines, or lines.

    >>> media_of(b"(\\xb5/\\xfd..."), media_of(b"{}")
    ('application/zstd', 'application/x-ndjson')
    """
    return ZSTD if content.startswith(ZSTD_BEGINS) else LINES


def told(report: Mapping[str, Any], content: bytes) -> dict[str, Any]:
    """Return the report of a dry run: numbers, reasons, and the first lines that cannot be imported."""
    examples = [
        {"line": one["line"], "why": "; ".join(f"{each['path']} {each['message']}" for each in one["errors"])}
        for one in report["failures"][:EXAMPLES]
    ]
    return {
        "format": "compressed lines of JSON" if media_of(content) == ZSTD else "lines of JSON",
        "size": len(content),
        "source": report["source"],
        "created": report["created"],
        "skipped": sorted(report["skipped"].items()),
        "failed": report["failed"],
        "examples": examples,
    }


def exports(space: str) -> list[tuple[str, str]]:
    """Return what can be downloaded: a sentence and the address of each."""
    base = f"/v1/spaces/{quote(space, safe='')}/export"
    return [
        ("All with history and vectors, compressed", f"{base}?compression=zstd"),
        ("All with history and vectors", base),
        ("All with history, without vectors", f"{base}?vectors=false"),
    ]
