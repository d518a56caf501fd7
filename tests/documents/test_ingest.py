"""Files and folders become documents by the command line, on a database file."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from threading import Event
from time import sleep

import pytest

from muisti.service.documents import folder_sync
from muisti.service.documents.folder_sync import Folder, How
from muisti.service.documents.ingest_work import Watching
from muisti.service.terminal.base import Globals
from muisti.service.terminal.session import session
from tests.core.parsing import old_office, samples
from tests.service.conftest import Run


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """A folder with documents in it, outside of a repository."""
    place = tmp_path / "shop"
    (place / "docs").mkdir(parents=True)
    for name in ("one", "two", "three"):
        (place / "docs" / f"{name}.md").write_text(f"# About {name}\n\nThe {name} harbour opens on Tuesdays.\n")
    (place / "app.py").write_text("def open_harbour(day):\n    return day == 'Tuesday'\n")
    (place / ".gitignore").write_text("*.log\n")
    (place / "noise.log").write_text("ignored")
    return place


def test_what_is_watched_is_brought_in_as_it_changes(run: Run, folder: Path):
    how = folder_sync.how_of(
        name=None, category=None, tags=(), strategy="auto", chunk_size=512, overlap=50, largest=100, sync=True,
        watch=True, dry_run=False, preview=False, main_content=False, languages=(), no_tests=False,
    )  # fmt: skip
    options, stop = Globals(), Event()

    def save_in_one_step() -> None:
        (folder / "docs/.one.tmp").write_text("# About one\n\nThe pier is closed.\n")
        (folder / "docs/.one.tmp").replace(folder / "docs/one.md")

    def ignore() -> None:
        (folder / ".gitignore").write_text("*.log\napp.py\n")

    steps = [save_in_one_step, (folder / "docs/two.md").unlink, ignore, stop.set]
    with session(options, create=True) as opened:
        seen = []
        for look, _ in Watching(options, opened, Folder.of(folder, how)).looks(stop):
            seen.append(look)
            steps.pop(0)()
        assert seen[0].outcomes == {"stored": 5}
        assert (seen[1].wanted, seen[1].outcomes) == (["docs/one.md"], {"updated": 1})
        assert seen[2].ended == ["shop/docs/two.md"]
        assert seen[3].ended == ["shop/app.py"]
    assert "pier" in run("documents", "text", "shop/docs/one.md").stdout


def test_how_a_file_is_read_goes_with_each_request():
    assert How(encoding="koi8-r", main_content=True).parameters() == {
        "main_content": True, "encoding": "koi8-r", "category": None, "tags": None,
    }  # fmt: skip


def test_a_repeated_command_goes_on_with_the_task_of_a_killed_one(run: Run, tmp_path: Path):
    archive, database = tmp_path / "all.zip", f"--database={tmp_path / 'muisti.db'}"
    with zipfile.ZipFile(archive, "w") as made:
        for number in range(200):
            made.writestr(f"{number}.md", f"The harbour {number} opens on Tuesdays. " * 20)

    def begun() -> list[str]:
        found = run(database, "--space=notes", "tasks", "list", "--json")
        return [] if found.exit_code else [one["id"] for one in json.loads(found.stdout)["items"]]

    command = (database, "--space=notes", "ingest", str(archive))
    assert run(database, "--space=notes", "add", "The space is there.").exit_code == 0
    with subprocess.Popen([sys.executable, "-m", "muisti.service", *command], stderr=subprocess.DEVNULL) as killed:
        while killed.poll() is None and not begun():
            sleep(0.1)
        killed.kill()
    first = begun()
    assert run(*command).exit_code == 0
    assert begun() == first
    assert run(*command).exit_code == 0  # the earlier task is over, so the archive is looked at again
    assert len(begun()) == 2


def test_a_file_of_a_folder_is_left_out_where_no_reader_would_read_it(tmp_path: Path):
    files = {
        "a.doc": old_office.doc("Tea\r"), "b.vsd": samples.container("VisioDocument"), "c.bin": b"\0\1\2\3",
        "d.txt": b"tea", "e.txt": b"", "f.docx": samples.docx(samples.word_document("")),
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert {name: reason for name in files if (reason := folder_sync.unreadable(tmp_path / name))} == {
        "b.vsd": "is binary", "c.bin": "is binary", "e.txt": "is empty",
    }  # fmt: skip
