"""Checks of the installation, the settings, the database file and the server."""

import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

import click
from msgspec import structs
from rich.text import Text

from muisti.client import calls
from muisti.core.databases import Database, open_database, open_file
from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Hosted, Models
from muisti.core.model.errors import MuistiError, StoreCorrupt
from muisti.core.model.location import Location
from muisti.core.model.spaces import OFF
from muisti.core.model.times import system_clock
from muisti.core.model.unreadable import Crashed
from muisti.core.operations.compiled_kernels import compiled_kernels
from muisti.core.operations.missing_vectors import Recognition
from muisti.core.operations.whole_database import Schema, schema_of, spaces_of_other_models
from muisti.core.parsing import parsed
from muisti.core.parsing.workers import Workers
from muisti.service.cli.commands.integrity_checks import Check, integrity, memories_of, repair_faults, tell
from muisti.service.connect.clients import Home
from muisti.service.connect.planning import registered
from muisti.service.runtime.databases import databases_of, location_of, whereabouts_of
from muisti.service.runtime.models import models_of, reader_of
from muisti.service.runtime.running import running_on
from muisti.service.settings import Settings
from muisti.service.settings.forms import TAGGER
from muisti.service.terminal.base import ERROR, Failure, Globals
from muisti.service.terminal.configuration import in_force
from muisti.service.terminal.output import show
from muisti.service.terminal.progress import compile_once, told
from muisti.service.terminal.session import client, demand, server_url, space_choice
from muisti.service.terminal.views import grid, sized, tabbed
from muisti.service.version import installed_version

LITTLE = 1 << 30  # bytes of free disk below which a warning is given
LARGE_LOG = 256 << 20  # bytes; it moves into the file at 4 MB, unless somebody reads for hours
STYLES = {"ok": "green", "warning": "yellow", "failed": "red"}


def run(options: Globals, *, quick: bool, repair: bool) -> None:
    """Check, with `repair` also repair, and print. The exit code is 1 when a check failed and was not repaired."""
    if repair and server_url(options):
        raise click.UsageError("doctor --repair works on the database: run it there, without --url and MUISTI_URL")
    if repair:
        demand(options, "admin")
    checks = [*_checks(options, quick=quick and not repair)]
    done = repair_faults(options, checks) if repair else None
    worst = max((check.status for check in checks), key=list(STYLES).index)
    report = {"status": worst, "checks": checks} | ({} if done is None else {"repair": done})
    rows = ((check.name, Text(check.status, STYLES[check.status]), check.detail) for check in checks)
    plain = [tabbed(check.name, check.status, check.detail) for check in checks]
    show(options, report, lambda _: grid(None, "check", "", "found", rows=rows), lambda _: plain)
    if done is not None and not options.json:
        tell(options, done)
    if (done is None and worst == "failed") or (done is not None and not done.whole):
        raise click.exceptions.Exit(ERROR)


def _checks(options: Globals, *, quick: bool) -> Iterator[Check]:
    yield Check("version", "ok", f"Muisti {installed_version()}, Python {platform.python_version()}")
    choice = space_choice(options)
    yield Check("space", "ok", f"{choice.space} ({choice.why})")
    if url := server_url(options):
        yield _server(options, url)
        return
    yield _sqlite()
    yield _kernels(options, quick=quick)
    yield _parsers()
    yield from _registrations()
    try:
        settings = in_force(options)
    except Failure as error:
        yield Check("settings", "failed", error.message)
        return
    model = _model(settings)
    yield model
    if settings.entities != TAGGER:
        yield _second_model(settings)
        yield _entities(settings)
    home = location_of(settings)
    usable = True
    for check in _main(options, settings, home, model, quick=quick):
        usable &= check.status != "failed" or check.name not in ("database", "integrity")
        yield check
    if usable:  # a damaged file is not opened
        yield from _beside(options, settings, home, model, quick=quick)


def _main(options: Globals, settings: Settings, home: Location, model: Check, *, quick: bool) -> Iterator[Check]:
    """Check the database that the settings name."""
    path = home.file
    if path is None:
        yield from _inside(options, settings, home, model, quick=quick)
        return
    yield from _file(path)
    if (running := running_on(path)) is not None:
        yield Check("server", "ok", f"pid {running.pid} serves this file at {running.url}; commands ask it")
    if path.is_file():
        sound = None if quick else integrity(path)
        yield from [] if sound is None else [sound]
        if sound is None or sound.status != "failed":
            yield from _inside(options, settings, home, model, quick=quick)


def _beside(options: Globals, settings: Settings, home: Location, model: Check, *, quick: bool) -> Iterator[Check]:
    """Check the other databases of a directory, each by its name."""
    try:
        others = {name: location for name, location in databases_of(home).items() if location is not home}
    except MuistiError:
        return  # what is wrong with the directory was said
    for name, location in others.items():
        if location.file is not None and not location.file.exists():
            yield Check(f"{name}: database", "failed", f"{location.file} is not there; its spaces are not either")
            continue
        sound = None if quick or location.file is None else integrity(location.file)
        inside = [] if sound is not None and sound.status == "failed" else _inside(
            options, settings, location, model, quick=quick
        )  # fmt: skip
        for check in (*([] if sound is None else [sound]), *inside):
            yield structs.replace(check, name=f"{name}: {check.name}")


def _server(options: Globals, url: str) -> Check:
    try:
        with client(options) as opened:
            found = opened.send(calls.get_readiness()).data
    except Failure as error:
        return Check("server", "failed", error.message)
    down = [name for name, state in found.get("databases", {}).items() if state == "down"]
    said = ", ".join(f"{name} {value}" for name, value in found.items())
    return Check("server", "failed" if down else "ok", f"{url}: {said}")


def _sqlite() -> Check:
    """Open a temporary database to find SQLite's version, because the user's database may be damaged."""
    with tempfile.TemporaryDirectory(prefix="muisti-doctor-") as folder:
        try:
            database = open_file(Path(folder) / "probe.db")
        except MuistiError as error:
            return Check("sqlite", "failed", str(error))
        database.close()
        return Check("sqlite", "ok", f"{database.engine}, without the known corruption of write-ahead logs")


def _kernels(options: Globals, *, quick: bool) -> Check:
    """Check how the loops of a search are compiled, and compile them unless the checks are quick."""
    found = compiled_kernels() if quick else compile_once(options, again=True)
    if found.warning:
        return Check("kernels", "warning", found.warning)
    if found.pending:
        return Check("kernels", "warning", "numba compiles each when it is first used; muisti doctor compiles them all")
    return Check("kernels", "ok", "compiled ahead of time" if found.ahead else told(found))


def _registrations() -> Iterator[Check]:
    """Check that what agent clients start is there; nothing is said of clients without an entry."""
    for one in registered(Home(Path.home(), os.environ), Path.cwd()):
        if one.missing:
            gone = f"{one.path} starts {one.missing}, which is gone; {one.remedy} writes the entry again"
            yield Check(one.client.name, "warning", gone)
        else:
            yield Check(one.client.name, "ok", f"{one.path} names what is there")


def _parsers() -> Check:
    """Check that the process starts that reads PDF and office files, and whether it is shut off from the network."""
    workers = Workers()
    try:
        confined = workers.confined()
    except Crashed as error:
        return Check("parsers", "failed", str(error))
    finally:
        workers.close()
    more = ", recognises text in images" if parsed.installed() else ""
    if confined:
        return Check("parsers", "ok", f"files are read by a process without network{more}")
    limits = "limits of memory and time hold; this system cannot shut it off from the network"
    return Check("parsers", "ok", f"files are read by a process of their own{more}: {limits}")


def _model(settings: Settings) -> Check:
    models = models_of(settings)
    if models.default is None:
        return Check("model", "ok", "embeddings are off: search by words only")
    try:
        return Check("model", "ok", "; ".join(map(_told, models)))
    except MuistiError as error:
        return Check("model", "failed", str(error))


def _second_model(settings: Settings) -> Check:
    if settings.second_model == OFF or not settings.embeddings:
        return Check("second model", "ok", "off; spaces may choose one by `muisti policy --second-model`")
    try:
        return Check("second model", "ok", _told(models_of(settings).seconds.encoders[settings.second_model]))
    except MuistiError as error:
        return Check("second model", "failed", str(error))


def _entities(settings: Settings) -> Check:
    try:
        return Check("entities", "ok", reader_of(settings)().identity)
    except MuistiError as error:
        return Check("entities", "failed", str(error))


def _told(encoder: Encoder) -> str:
    if isinstance(encoder, Hosted):
        return f"{encoder.name}, not asked: `muisti models test` asks it"
    return f"{encoder.name}, {encoder.dimensions} dimensions, {encoder.identity}"


def _file(path: Path) -> Iterator[Check]:
    folder = next(parent for parent in path.parents if parent.exists())
    if path.is_dir():
        yield Check("database", "failed", f"{path} is a folder; --database names a file")
    elif path.exists():
        yield Check("database", "ok", f"{path}, {sized(path.stat().st_size)}")
        yield _permissions(path)
    else:
        yield Check("database", "ok", f"{path} does not exist yet; the first use creates it")
    if not os.access(folder, os.W_OK | os.X_OK):
        status = "warning" if path.exists() else "failed"
        yield Check("folder", status, f"{folder} cannot be written to: memories can be read but not changed")
    yield _log(Path(f"{path}-wal"))
    free = shutil.disk_usage(folder).free
    yield Check("disk", "ok" if free >= LITTLE else "warning", f"{sized(free)} free")


def _log(path: Path) -> Check:
    size = path.stat().st_size if path.exists() else 0
    if size >= LARGE_LOG:
        detail = f"{sized(size)}: a process has been reading for a long time, or was killed; restart the server"
        return Check("log", "warning", detail)
    return Check("log", "ok", f"{sized(size)} not yet moved into the file" if size else "empty: all is in the file")


def _permissions(path: Path) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.R_OK):
        return Check("permissions", "failed", f"{path.name} ({mode:o}) cannot be read by this user")
    if not os.access(path, os.W_OK):
        return Check("permissions", "warning", f"{path.name} ({mode:o}) can be read, and not written, by this user")
    if mode & 0o077:
        return Check("permissions", "warning", f"others can read or write {path.name} ({mode:o}): chmod 600")
    return Check("permissions", "ok", f"{mode:o}")


def _inside(options: Globals, settings: Settings, location: Location, model: Check, *, quick: bool) -> Iterator[Check]:
    try:
        database = open_database(location, may_only_read=True)
    except StoreCorrupt as error:
        yield Check("integrity", "failed", str(error))
        return
    except MuistiError as error:
        yield Check("database", "failed", str(error))
        return
    try:
        if location.file is None:
            yield Check("database", "ok", f"{database.engine} at {whereabouts_of(location)}")
        schema = schema_of(database)
        yield _schema(schema)
        models = models_of(settings) if model.status == "ok" else Models()
        if schema.found == schema.known:
            Recognition(database, models, system_clock).recall()
        if models.default is not None and schema.found is not None:
            yield from _strangers(database, {encoder.identity for encoder in models})
        if schema.found == schema.known:
            yield from memories_of(options, database, models, quick=quick)
    except StoreCorrupt as error:
        yield Check("integrity", "failed", str(error))
    except MuistiError as error:
        yield Check("database", "failed", str(error))
    finally:
        database.close()


def _schema(schema: Schema) -> Check:
    found, known = schema.found, schema.known
    if found is None:
        return Check("schema", "ok", "none yet; the first use creates it")
    if found > known:
        return Check("schema", "failed", f"{found}, written by a newer Muisti; this one knows {known}")
    return Check("schema", "ok", f"{found}" if found == known else f"{found}; the next use brings it to {known}")


def _strangers(database: Database, identities: Collection[str]) -> Iterator[Check]:
    for name in spaces_of_other_models(database, identities):
        yield Check("embeddings", "warning", f"another model embedded the space {name}: muisti reembed --space {name}")
