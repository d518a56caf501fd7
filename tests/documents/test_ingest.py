"""Files and folders become documents by the command line, on a database file."""

from pathlib import Path
from threading import Event

import pytest

from muisti.service.documents import folder_sync
from muisti.service.documents.folder_sync import Folder, How
from muisti.service.documents.ingest_work import Watching
from muisti.service.terminal.base import Globals
from muisti.service.terminal.session import session
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
