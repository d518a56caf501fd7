"""Commands speak of every database by its name: doctor, and purges with their reports."""

import json
from pathlib import Path

import pytest

from tests.placement.worlds import spread
from tests.service.conftest import Run

pytestmark = pytest.mark.file_only


def checks(run: Run, *words: str) -> dict[str, str]:
    return {one["name"]: one["status"] for one in json.loads(run("doctor", "--json", *words).stdout)["checks"]}


@pytest.mark.parametrize("words", [(), ("--quick",)])
def test_doctor_looks_at_each_database(run: Run, tmp_path: Path, words: tuple[str, ...]):
    spread(run, tmp_path)
    found = checks(run, *words)
    assert (found["schema"], found["eu-1: schema"]) == ("ok", "ok")
    assert ("eu-1: memories" in found) is (words == ())
    (tmp_path / "eu.db").write_bytes(b"no database at all" * 1000)
    broken = checks(run, *words)
    assert "failed" in {status for name, status in broken.items() if name.startswith("eu-1: ")}
    assert "failed" not in {status for name, status in broken.items() if not name.startswith("eu-1: ")}
    assert run("doctor", *words).exit_code == 1


def test_doctor_misses_a_file_and_does_not_make_it(run: Run, tmp_path: Path):
    spread(run, tmp_path)
    for one in tmp_path.glob("eu.db*"):
        one.unlink()
    assert checks(run, "--quick")["eu-1: database"] == "failed"
    assert not (tmp_path / "eu.db").exists()


@pytest.mark.parametrize("words", [(), ("--task",)])
def test_a_purge_of_an_author_space_by_space_reaches_each_database_and_its_reports_say_which(
    run: Run, tmp_path: Path, words: tuple[str, ...]
):
    spread(run, tmp_path)
    spaces = [one["name"] for one in json.loads(run("spaces", "--json").stdout)["items"]]
    assert sorted(spaces) == ["acme", "default"]
    named: dict[str, str] = {}
    for space in spaces:
        file = tmp_path / f"{space}.json"
        done = run("purge", "--author", "ann", "--yes", "--space", space, "--report", str(file), *words)
        assert done.exit_code == 0, done.output
        report = json.loads(file.read_text("utf-8"))["report"]
        assert report["complete"] and report["erased"]["memories"] == 1
        named[space] = report["database"]
        assert run("verify-report", str(file)).exit_code == 0
    assert named == {"acme": "eu-1", "default": "main"}


def test_a_report_of_the_only_database_does_not_name_it(run: Run, tmp_path: Path):
    run("add", "Trains are green", "--author", "ann")
    file = tmp_path / "report.json"
    assert run("purge", "--author", "ann", "--yes", "--report", str(file)).exit_code == 0
    assert "database" not in json.loads(file.read_text("utf-8"))["report"]
