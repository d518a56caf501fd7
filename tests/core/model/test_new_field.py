"""A field that does not exist yet needs an entry, an attribute and a migration; then every part of the core has it.

The three edits are made in a copy of `core/`, and a process works with the copy.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from muisti.core.model.fields import FIELDS

pytestmark = pytest.mark.file_only

CORE = Path(__file__).parents[3] / "core"
LINKED = (Path("kernels"), Path("embedding/weights"))  # large, and the same in the copy
ENTRY = """    MemoryField(
        name="mood", place={place}, folded=True, most=NAME_MAX, filter="any_case", worded=True, brief=True,
    ),
)  # fmt: skip
"""
MIGRATION = "ALTER TABLE versions ADD COLUMN mood TEXT;\nALTER TABLE versions ADD COLUMN mood_folded TEXT;\n"

WORK = """
import json
import sys
from pathlib import Path

import msgspec

import muisti.core
from muisti.core.databases import open_file
from muisti.core.embedding.models import Models
from muisti.core.engine import Engine
from muisti.core.model.errors import MuistiError
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Draft
from muisti.core.operations.checkup import look
from muisti.core.operations.repair import mend
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from muisti.core.store.sql import erasure, spaces
from muisti.core.store.sql.spaces import space_row

assert Path(muisti.core.__file__).is_relative_to(sys.argv[1]), muisti.core.__file__
path, found = Path(sys.argv[1]) / "m.db", {}
with Engine(open_file(path), None, lambda: 1_790_000_000_000_000) as engine:
    write, read = engine.owner.write, engine.owner.read
    drafts = [Draft(content="The harbour", mood="Calm"), Draft(content="The tram", mood="Glad")]
    calm, _ = write.add("default", drafts).memories
    found["read"] = read.get("default", calm.id).memory.mood
    found["listed"] = [one.content for one in read.list("default", filter=parse({"mood": "CALM"})).items]
    glad_only = Query(text="harbour tram", mode="keyword", filter=parse({"mood": {"prefix": "gl"}}))
    found["searched"] = [hit.memory.content for hit in read.search("default", glad_only).hits]
    write.update("default", calm.id, {"mood": "Glad"})
    versions = read.history("default", calm.id).versions
    found["changed"] = [[one.field, one.before, one.after] for version in versions for one in version.changes or ()]
    write.undo("default", Undo(last=1))
    found["undone"] = read.get("default", calm.id).memory.mood
    engine.owner.timeline.fork("default", "fork")
    found["forked"] = sorted(one.mood for one in read.list("fork").items)
    lines = [msgspec.json.encode(one) for page in read.export("default", "test").pages() for one in page]
    found["exported"] = sum(b'"mood":"Calm"' in line for line in lines)
    engine.spaces.create("copy")
    coming = write.begin_import("copy")
    coming.take(lines)
    coming.finish()
    found["imported"] = sorted(one.mood for one in read.list("copy").items)
    try:
        write.add("default", [Draft(content="x", mood="y" * 1_000)])
    except MuistiError as error:
        found["bounded"] = [problem.path for problem in error.problems]
    try:
        write.add("default", [Draft(content="The key", mood="github_pat_11AAAAAAA0abcdefghijkl")])
    except MuistiError as error:
        found["screened"] = [problem.path for problem in error.problems]

database = open_file(path)
flaws = look(database, Models(), lambda *_: None).flaws
found["sound"] = [str(one) for one in flaws]
row = space_row(database.read([spaces.by_name("default")])[0][0])
ids = [bytes.fromhex(calm.id.replace("-", ""))]
left = database.read(erasure.texts(row, ids))
found["sought"] = any(value == "Calm" for rows in left for one in rows for value in one)
database.write(erasure.overwrite(row, ids))
own = "SELECT DISTINCT mood, mood_folded FROM versions WHERE space_id = ? AND memory_id = ?"
(rows,) = database.read([Statement(own, (row.id, ids[0]))])
found["overwritten"] = all(set(str(value)) == {chr(0)} for one in rows for value in one)
database.close()
print(json.dumps(found))
"""


def extended(folder: Path) -> None:
    """Copy the core into a folder, under its import name, and add the field by three edits."""
    copy = folder / "muisti" / "core"
    skipped = {CORE / path for path in LINKED}
    shutil.copytree(
        CORE, copy, ignore=lambda at, names: [n for n in names if n == "__pycache__" or Path(at) / n in skipped]
    )
    for path in LINKED:
        (copy / path).symlink_to(CORE / path)
    edit(copy / "model" / "fields.py", ")  # fmt: skip\n", ENTRY.format(place=len(FIELDS) - 1))
    edit(copy / "model" / "values.py", "derived_from: tuple[str, ...] = ()\n", "mood: str | None = None\n", keep=True)
    edit(copy / "model" / "values.py", "    tokens: int\n", "    mood: str | None\n", keep=True)
    (copy / "store" / "migrations" / "9999_mood.sql").write_text(MIGRATION)


def edit(path: Path, place: str, text: str, *, keep: bool = False) -> None:
    before = path.read_text("utf-8")
    assert place in before
    path.write_text(before.replace(place, f"{place}    {text.strip()}\n" if keep else text, 1), "utf-8")


def test_three_edits_bring_a_field_everywhere(tmp_path: Path):
    extended(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "read": "Calm", "listed": ["The harbour"], "searched": ["The tram"], "changed": [["mood", "Calm", "Glad"]],
        "undone": "Calm", "forked": ["Calm", "Glad"], "exported": 2, "imported": ["Calm", "Glad"],
        "bounded": ["$.mood"], "screened": ["$.mood"], "sound": [], "sought": True, "overwritten": True,
    }  # fmt: skip
