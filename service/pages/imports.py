"""Imports and exports: files of all known systems with a preview, imports with their undo, downloads of the space."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

from litestar.datastructures import UploadFile
from litestar.exceptions import PermissionDeniedException

from muisti.client import Call, MuistiError, calls
from muisti.service.console.answers import Answer, does, done, shows
from muisti.service.console.render import View
from muisti.service.console.visit import Visit
from muisti.service.formats.importers.converter import Job, converted
from muisti.service.formats.importers.registry import IMPORTERS, OWN
from muisti.service.schemas.transfer import REASONS

SYSTEMS = (OWN, *sorted(IMPORTERS))
DOCUMENT = "document"
EXAMPLES = 3
PIECE = 1 << 20  # bytes
NAME_MAX = 200  # characters of a part of a path
OCTETS = {"Content-Type": "application/octet-stream"}
OUTCOMES = {
    "created": ("would be stored", "is stored"),
    "updated": ("would replace its earlier text", "has replaced its earlier text"),
    "moved": ("would get a new path", "has a new path"),
    "unchanged": ("is stored already", "was stored already"),
}  # of a document, in a dry run and otherwise
NOTHING = dict.fromkeys(("system", "problem", "report", "task", "document", "outcome", "chunks", "id"))
KEPT = ("from", "projects")  # texts of the form

Model = dict[str, Any]


class Chosen(NamedTuple):
    """A file or folder of a form. `files` are those of a folder by their paths in it; a single file has the path ""."""

    name: str
    files: Mapping[str, UploadFile]


class How(NamedTuple):
    """Choices of an import. `allow` names a part of the policy that does not apply."""

    job: Job
    dry_run: bool
    as_document: bool
    allow: str | None


@shows("imports")
async def show_imports(visit: Visit, space: str) -> View:
    """Show what was imported, and what can be downloaded."""
    return await _shown(visit, space, block="list")


@does("imports")
async def import_files(visit: Visit, space: str) -> Answer:
    """Say what files would bring, or import each as a task, or store it as a document."""
    if not (visit.may_change("write") and visit.access["category"] is None):
        raise PermissionDeniedException("Importing needs the scope write and a key that sees the whole space.")
    await visit.api.get_space(space)
    how = _how(visit, space)
    rows = [await _brought(visit, space, one, how) for one in chosen(visit.form.getall("file", []))]
    if len(rows) == 1 and rows[0].get("task") and not visit.is_fragment:
        return done(visit, f"tasks/{rows[0]['task']}", "import_begun")
    return await _shown(visit, space, rows)


@shows("imports/{number}/undo")
async def show_undo(visit: Visit, space: str, number: str) -> View:
    """Show which import would be undone, before it is."""
    found = await visit.api.list_imports(space)
    one = next((each for each in found["items"] if str(each["import_id"]) == number), None)
    model = {"one": one, "undo": visit.to(f"imports/{number}/undo"), "may": visit.may_change("delete")}
    return View("import_undo.html", model, status=200 if one else 404)


async def _shown(visit: Visit, space: str, rows: Sequence[Model] | None = None, block: str = "report") -> View:
    found = await visit.api.list_imports(space)
    whole = visit.access["category"] is None
    model = {"imports": found["items"], "rows": rows, "whole": whole, "exports": exports(space), "systems": SYSTEMS}
    return View("imports.html", model | {"texts": {name: visit.field(name) for name in KEPT}}, block=block)


def _how(visit: Visit, space: str) -> How:
    system = visit.field("from")
    projects = tuple(one.strip() for one in visit.field("projects").split(",") if one.strip())
    job = Job(space, system if system in SYSTEMS else None, atomic="whole" in visit.form, projects=projects)
    allow = "secrets" if "secrets" in visit.form else None
    return How(job, visit.field("step") != "import", system == DOCUMENT, allow)


def chosen(files: Sequence[Any]) -> list[Chosen]:
    """Return the files of a form; those of a folder, whose names have its name before a slash, are one."""
    found: dict[str, dict[str, UploadFile]] = {}
    for file in files:
        if isinstance(file, UploadFile) and (parts := parts_of(file.filename)):
            found.setdefault(parts[0], {})["/".join(parts[1:])] = file
    return [Chosen(name, inside) for name, inside in found.items()]


def parts_of(name: str) -> list[str]:
    """Return the parts of a file's path, none of which leads out of a folder or is too long.

    >>> parts_of("Vault/../notes\\\\a.md"), parts_of("../"), parts_of("a\\0.md")
    (['Vault', 'notes', 'a.md'], [], ['a.md'])
    """
    parts = (one.replace("\0", "").encode()[-NAME_MAX:].decode("utf-8", "ignore") for one in _split(name))
    return [one for one in parts if one.strip(".")]


def _split(name: str) -> Sequence[str]:
    return PurePosixPath(name.replace("\\", "/")).parts


async def _brought(visit: Visit, space: str, one: Chosen, how: How) -> Model:
    """Return the row of a file: its report, its task, or why it cannot be read."""
    with TemporaryDirectory(prefix="muisti-import-") as made:
        folder = Path(made)
        await asyncio.to_thread(_laid_out, folder / "in", one)
        source = folder / "in" / one.name
        size = sum(file.stat().st_size for file in ([source] if source.is_file() else source.rglob("*")))
        row: Model = {"name": one.name, "size": size, "files": len(one.files), "dry_run": how.dry_run, **NOTHING}
        try:
            if how.as_document and source.is_file():
                return row | await _stored(visit, space, source, how)
            found = await converted(folder, one.name, how.job)
            if found.is_other and how.job.system is None:
                return row | await _stored(visit, space, source, how)
            if found.problem is not None:
                return row | {"problem": found.problem}
            return row | {"system": found.system} | await _imported(visit, space, folder / "lines", how)
        except MuistiError as error:
            return row | {"problem": "; ".join(bad["message"] for bad in error.errors) or str(error)}


def _laid_out(root: Path, one: Chosen) -> None:
    for path, file in one.files.items():
        place = root / one.name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as into:
            file.file.seek(0)
            while piece := file.file.read(PIECE):
                into.write(piece)


async def _imported(visit: Visit, space: str, lines: Path, how: How) -> Model:
    """Send the lines of a file: as a task, or in a dry run whose report a refusal has too."""
    asked = {"atomic": how.job.atomic, "dry_run": how.dry_run, "task": None if how.dry_run else True}
    call = calls.import_memories(space, _pieces(lines), content_type=_media(lines), **asked, muisti_allow=how.allow)
    try:
        answer = (await visit.send(call)).data
    except MuistiError as error:
        if (report := error.problem.get("report")) is None:
            raise
        return {"report": told(report, refused=True)}
    return {"report": told(answer, refused=False)} if how.dry_run else {"task": answer["id"]}


async def _stored(visit: Visit, space: str, source: Path, how: How) -> Model:
    """Store a file as a document, or say what would happen; a large one has no dry run, so it is only cut."""
    store = calls.add_documents(space, {}, path=source.name, dry_run=how.dry_run or None, muisti_allow=how.allow)
    try:
        answer = (await visit.send(_with_file(store, source))).data
    except MuistiError as error:
        if not (how.dry_run and any(bad["path"] == "$.dry_run" for bad in error.errors)):
            raise
        answer = (await visit.send(_with_file(calls.preview_document(space, {}, path=source.name), source))).data
        return {"document": True, "chunks": answer["chunks"], "outcome": "would be read as a task"}
    answer = answer.get("answer", answer)
    if "path" not in answer:
        return {"document": True, "task": answer["id"]}
    return {
        "document": True,
        "chunks": answer["chunks"],
        "outcome": OUTCOMES[answer["outcome"]][not how.dry_run],
        "id": None if how.dry_run else answer["id"],
    }


def _with_file(call: Call, path: Path) -> Call:
    return replace(call, body=None, content=_pieces(path), headers={**call.headers, **OCTETS})


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


def _media(lines: Path) -> str:
    with lines.open("rb") as file:
        return media_of(file.read(4))


LINES, ZSTD = "application/x-ndjson", "application/zstd"
ZSTD_BEGINS = b"\x28\xb5\x2f\xfd"


def media_of(content: bytes) -> str:
    """Return the type of a file by how it begins: compressed lines, or lines.

    >>> media_of(b"(\\xb5/\\xfd..."), media_of(b"{}")
    ('application/zstd', 'application/x-ndjson')
    """
    return ZSTD if content.startswith(ZSTD_BEGINS) else LINES


def told(report: Mapping[str, Any], *, refused: bool) -> Model:
    """Return the report of an import for people: numbers, reasons, and the first lines that cannot be imported."""
    failures = report["failures"]
    return {
        "refused": refused,
        "created": report["created"],
        "good": report["good"],
        "versions": report["versions"],
        "skipped": [(REASONS.get(why, why), count) for why, count in sorted(report["skipped"].items())],
        "failed": report["failed"],
        "more": max(0, report["failed"] - EXAMPLES),
        "is_sensitive": any(one["code"] == "sensitive_content" for one in failures),
        "flagged": len(report["flags"]),
        "examples": [
            {
                "where": one["place"] or f"line {one['line']:,}",
                "why": "; ".join(each["message"] for each in one["errors"]),
            }
            for one in failures[:EXAMPLES]
        ],
        "import_id": report["import_id"],
    }


def exports(space: str) -> list[tuple[str, str]]:
    """Return what can be downloaded: a sentence and the address of each."""
    base = f"/v1/spaces/{quote(space, safe='')}/export"
    return [
        ("Everything with history and vectors, compressed", f"{base}?compression=zstd"),
        ("Everything with history and vectors", base),
        ("Everything with history, without vectors", f"{base}?vectors=false"),
    ]
