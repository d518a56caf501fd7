"""Changes of a folder are seen as paths, those of git's own files are not."""

from pathlib import Path
from threading import Event

from muisti.service.documents.ingest_work import changes


def test_saved_files_are_seen_and_those_of_git_are_not(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    stop = Event()
    seen: set[str] = set()
    for number, batch in enumerate(changes(tmp_path, stop)):
        if number == 0:
            assert batch == set()
            (tmp_path / ".git/index").write_text("x")
            (tmp_path / "temporary").write_text("saved as one step")
            (tmp_path / "temporary").replace(tmp_path / "note.txt")
        seen |= batch
        if "note.txt" in seen:
            stop.set()
    assert seen <= {"note.txt", "temporary"}
