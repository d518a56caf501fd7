"""Files and folders become documents by the command line, on a database file."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Event
from zipfile import ZipFile

import pytest
from click.testing import Result

from muisti.service.cli.base import Globals
from muisti.service.cli.commands import looking
from muisti.service.cli.commands.bringing import Watching
from muisti.service.cli.commands.looking import Folder
from muisti.service.cli.session import session

Run = Callable[..., Result]


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


def ingested(run: Run, *words: str, code: int = 0) -> dict:
    result = run("ingest", *words, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def paths(run: Run) -> list[str]:
    return [line.partition("\t")[0] for line in run("documents", "list").stdout.splitlines()]


def test_a_folder_is_ingested_found_and_not_read_again(run: Run, folder: Path):
    assert ingested(run, str(folder))["counts"]["stored"] == 5
    assert paths(run) == [
        f"shop/{path}" for path in (".gitignore", "app.py", "docs/one.md", "docs/three.md", "docs/two.md")
    ]
    found = run("search", "the two harbour").stdout.splitlines()[0]
    assert "two harbour" in found and "shop/docs/two.md:1-3" in found
    for file in folder.rglob("*.md"):
        status = file.stat()
        file.write_bytes(b"x" * status.st_size)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    again = ingested(run, str(folder))  # by size and time they are the same, so no file was read
    assert again["counts"]["unchanged"] == 5 and again["wanted"] == []


def test_languages_are_chosen_and_tests_left_out(run: Run, folder: Path):
    for name in ("test_app.py", "web/view.tsx", "web/view.test.tsx", "tests/data.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("def run(): pass\n")
    found = ingested(run, str(folder), "--language", "python", "--language", "typescript", "--no-tests")
    assert found["wanted"] == ["shop/app.py", "shop/web/view.tsx"]
    reasons = {one["path"]: one["reason"] for one in found["left_out"]}
    assert reasons["docs/one.md"] == "is in none of the languages" and reasons["tests/data.py"] == "is a test"
    assert run("ingest", str(folder), "--language", "klingon").exit_code == 64


def test_who_may_not_delete_ingests_what_has_changed_alone(run: Run, folder: Path):
    limited = (str(folder), "--access", "no-delete")
    assert ingested(run, *limited)["counts"]["stored"] == 5
    (folder / "docs" / "one.md").write_text("# About one\n\nThe harbour has moved.\n")
    (folder / "docs" / "two.md").unlink()
    again = ingested(run, *limited)
    assert (again["wanted"], again["counts"]["unchanged"]) == (["shop/docs/one.md"], 3)
    assert "docs/two.md" in run("documents", "stale", str(folder), "--access", "no-delete").stdout
    assert run("ingest", *limited, "--sync").exit_code == 1  # it ends a document
    assert "shop/docs/two.md" in paths(run)


def test_changes_moves_and_deletions_are_planned_and_brought_in(run: Run, folder: Path):
    ingested(run, str(folder))
    (folder / "docs/one.md").write_text("# About one\n\nIt opens on Mondays now.\n")
    (folder / "docs/two.md").rename(folder / "docs/second.md")
    (folder / "docs/three.md").unlink()
    plan = ingested(run, str(folder), "--sync", "--dry-run")
    stale = run("documents", "stale", str(folder))
    assert stale.exit_code == 1 and "gone\tshop/docs/three.md" in stale.stdout
    done = ingested(run, str(folder), "--sync")
    for one in (plan, done):
        assert one["wanted"] == ["shop/docs/one.md"]
        assert one["moved"] == [{"before": "shop/docs/two.md", "after": "shop/docs/second.md"}]
        assert one["ended"] == ["shop/docs/three.md"]
    assert run("documents", "stale", str(folder)).exit_code == 0
    assert "Mondays" in run("documents", "text", "shop/docs/one.md").stdout


def test_without_sync_nothing_ends(run: Run, folder: Path):
    ingested(run, str(folder))
    (folder / "docs/three.md").unlink()
    assert ingested(run, str(folder))["ended"] == []
    assert "shop/docs/three.md" in paths(run)


def test_a_file_that_cannot_be_read_is_reported_and_its_neighbours_are_stored(run: Run, folder: Path):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    (folder / "empty.txt").write_text("")
    (folder / "binary.bin").write_bytes(bytes(range(256)))
    done = ingested(run, str(folder), code=1)
    assert [(one["path"], one["code"]) for one in done["failed"]] == [("shop/broken.pdf", "document.broken")]
    assert {one["path"]: one["reason"] for one in done["left_out"]} == {
        "empty.txt": "is empty",
        "binary.bin": "is binary",
    }
    assert done["counts"]["stored"] == 5


def test_one_file_standard_input_and_an_archive(run: Run, folder: Path):
    assert ingested(run, str(folder / "app.py"))["counts"]["created"] == 1
    assert ingested(run, str(folder / "app.py"))["counts"]["unchanged"] == 1
    result = run("ingest", "-", "--as", "said.txt", input="The lighthouse is green.")
    assert result.exit_code == 0, result.output
    with ZipFile(folder / "papers.zip", "w") as archive:
        archive.writestr("a.md", "The first paper.")
        archive.writestr("b.md", "The second paper.")
    ingested(run, str(folder / "papers.zip"), "--as", "papers.zip")
    assert paths(run) == ["app.py", "papers.zip/a.md", "papers.zip/b.md", "said.txt"]


def test_the_path_of_a_file_begins_with_its_repository(run: Run, folder: Path):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    assert looking.document_path(folder / "docs/one.md") == "shop/docs/one.md"
    assert looking.document_path(folder / "docs") == "shop/docs"
    ingested(run, str(folder))
    assert ingested(run, str(folder / "docs"), "--sync")["wanted"] == []


def test_names_with_quotes_and_letters_of_all_scripts_are_kept(run: Run, folder: Path):
    names = ['a "quoted" name.md', "ä ö.md", "版本.md", "back\\slash.md", "per%cent; semi.md"]
    for name in names:
        (folder / name).write_text(f"Text of {name}")
    done = ingested(run, str(folder))
    assert set(paths(run)) >= {f"shop/{name}" for name in names if "\\" not in name}
    assert [one["path"] for one in done["left_out"]] == ["back\\slash.md"]


def test_a_preview_shows_cuts_and_stores_nothing(run: Run, folder: Path):
    (folder / "long.md").write_text("".join(f"Sentence {number} of the log is here.\n\n" for number in range(200)))
    run("ingest", str(folder / "app.py"))
    result = run("ingest", str(folder / "long.md"), "--preview", "--chunk-size", "64", "--overlap", "8")
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert len(lines) > 10 and max(int(line[2]) for line in lines) <= 64
    assert paths(run) == ["app.py"]


@pytest.mark.parametrize(
    "words",
    [
        ("--chunk-size", "8"),
        ("--overlap", "300"),
        ("--preview", "--sync"),
        ("--watch", "--dry-run"),
        ("--strategy", "magic"),
    ],
)
def test_options_that_make_no_sense_are_refused(run: Run, folder: Path, words: tuple[str, ...]):
    assert run("ingest", str(folder), *words).exit_code == 64


def test_what_is_watched_is_brought_in_as_it_changes(run: Run, folder: Path):
    how = looking.how_of(
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


def test_documents_are_shown_and_deleted(run: Run, folder: Path):
    ingested(run, str(folder))
    shown = run("documents", "show", "shop/app.py").stdout.splitlines()
    assert len(shown) == 1 and "open_harbour" in shown[0]
    assert run("documents", "delete", "shop/app.py", "--dry-run").exit_code == 0
    assert "shop/app.py" in paths(run)
    assert run("documents", "delete", "shop/app.py").exit_code == 0
    assert "shop/app.py" not in paths(run)
    assert run("documents", "text", "shop/app.py").exit_code == 1


def test_hooks_are_installed_and_removed(run: Run, folder: Path):
    assert run("hooks", "install", str(folder)).exit_code == 1  # no repository
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    assert "post-commit\tadded" in run("hooks", "install", str(folder), "--space", "shop").stdout
    text = (folder / ".git/hooks/post-commit").read_text()
    assert f"ingest {folder} --sync --space shop" in text
    assert "post-commit\tremoved" in run("hooks", "remove", str(folder)).stdout
    assert not (folder / ".git/hooks/post-commit").exists()
