"""`muisti import` on every file: a dry run says what the import does, on a file and over a server, also from a pipe."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.durability.server import Server
from tests.service.cli.test_cli import TOKEN, Run, added
from tests.service.formats.importers.fixtures import FIXTURES, Fixture, lines, vipune_row
from tests.stores import settings_at

CHANGING = {"dry_run", "import_id", "seq", "vectors_embedded"}  # fields that a dry run and the import do not share
SECRET = f"The token of the robot is {TOKEN}"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Server(tmp_path_factory.mktemp("server") / "muisti.db") as running:
        yield running.url


def reports(done: Result) -> list[dict[str, Any]]:
    """Return the JSON objects that a command printed, one per line."""
    assert done.stdout.strip(), done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def outcome(done: Result) -> tuple[int, list[Mapping[str, Any]]]:
    """The exit code, and of the reports what a dry run and the import share."""
    return done.exit_code, [
        {name: value for name, value in one.items() if name not in CHANGING} for one in reports(done)
    ]


def tried_and_done(run: Run, *words: str) -> Result:
    """An import, after a dry run of it that must say the same."""
    tried = run("import", *words, "--json", "--dry-run")
    done = run("import", *words, "--json")
    assert outcome(tried) == outcome(done), (tried.output, done.output)
    return done


def made(fixture: Fixture, folder: Path) -> Path:
    path = folder / fixture.name
    fixture.make(path)
    return path


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
@pytest.mark.parametrize("place", ["file", "server"])
def test_a_dry_run_says_what_the_import_does(run: Run, url: str, fixture: Fixture, place: str, tmp_path: Path):
    path = made(fixture, tmp_path)
    space = f"{fixture.system}-{FIXTURES.index(fixture)}"
    where = (*(("--url", url) if place == "server" else ()), "--space", space)
    count = len(fixture.texts)
    done = tried_and_done(run, str(path), *where)
    (report,) = reports(done)
    assert (report["space"], report["failed"], report["good"]) == (space, fixture.failed, count)
    if fixture.failed:
        assert (done.exit_code, report["created"], report["refused"]) == (1, 0, True)
        assert "--each imports the" in done.stderr and str(report["failures"][0]["place"]) in done.stderr
        assert space not in run("spaces", "--plain", *where).stdout  # a refused import makes no space
        done = tried_and_done(run, str(path), "--each", *where)
        (report,) = reports(done)
    assert (done.exit_code, report["created"], report["refused"]) == (int(fixture.failed > 0), count, False)
    if not fixture.failed:
        assert report["failures"] == []
    if path.is_file():
        piped = run("import", "-", "--from", fixture.system, "--each", "--json", *where, input=path.read_bytes())
        again = run("import", str(path), "--each", "--json", *where)
        for second in (again,) if fixture.is_named else (piped, again):
            (report,) = reports(second)
            assert (second.exit_code, report["created"], report["skipped"].get("exists")) == (done.exit_code, 0, count)


@pytest.mark.parametrize("place", ["file", "server"])
def test_each_project_becomes_a_space_unless_one_is_named(run: Run, url: str, place: str, tmp_path: Path):
    where = ("--url", url) if place == "server" else ()
    path = made(next(one for one in FIXTURES if one.id == "vipune projects.db"), tmp_path)
    done = tried_and_done(run, str(path), *where)
    assert {one["space"]: one["created"] for one in reports(done)} == {"acme.web-app": 1, "other.proj": 2}
    assert run("list", "--space", "acme.web-app", "--status", "candidate", "--plain", *where).stdout.count("\n") == 1
    assert "other project" not in run("search", "another project", "--space", "acme.web-app", *where).stdout
    assert [one["created"] for one in reports(run("import", str(path), "--json", *where))] == [0, 0]
    picked = ("--project", "other/proj", "--space", f"picked-{place}", *where)
    (report,) = reports(tried_and_done(run, str(path), *picked))
    assert (report["created"], report["skipped"]) == (2, {"of another project": 1})
    (report,) = reports(tried_and_done(run, str(path), "--space", f"all-{place}", *where))
    assert report["created"] == 3
    unknown = run("import", str(path), "--project", "nobody/here", "--json", *where)
    assert unknown.exit_code == 1 and "acme/web-app, other/proj" in reports(unknown)[0]["detail"]
    plain = run("import", str(path), *where).stdout
    assert plain.startswith("space\tacme.web-app\ncreated\t0\n") and "space\tother.proj\n" in plain


def test_a_bad_line_of_one_project_keeps_all_of_them_out(run: Run, tmp_path: Path):
    rows = [vipune_row("1", "Good", project_id="a/one"), {"id": "2", "project_id": "b/two"}, vipune_row("3", SECRET)]
    lines({"type": "export", "version": 1, "rows": 3}, *rows)(tmp_path / "export.jsonl")
    done = tried_and_done(run, str(tmp_path / "export.jsonl"))
    assert done.exit_code == 1 and [one["created"] for one in reports(done)] == [0, 0, 0]
    assert run("spaces", "--plain").stdout.split() == ["default"] or "a.one" not in run("spaces", "--plain").stdout
    assert "--allow-secrets" in done.stderr and "imports the 1 other memory." in done.stderr
    taken = tried_and_done(run, str(tmp_path / "export.jsonl"), "--each", "--allow-secrets")
    assert {one["space"]: one["created"] for one in reports(taken)} == {"a.one": 1, "b.two": 0, "acme.web": 1}


@pytest.mark.parametrize("place", ["file", "server"])
def test_what_is_retrieved_often_there_is_promoted_here(
    run: Run, url: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    where = (*(("--url", url) if place == "server" else ()), "--space", f"counted-{place}")
    path = made(next(one for one in FIXTURES if one.id == "vipune projects.db"), tmp_path)
    assert run("import", str(path), *where).exit_code == 0
    (found,) = json.loads(run("list", "--status", "candidate", "--json", *where).stdout)["items"]
    told = json.loads(run("telemetry", found["id"], "--json", *where).stdout)
    assert (told["retrieval_count"], told["last_retrieved_at"][:10]) == (7, "2025-01-13")
    assert run("prune", *where).stdout == ""
    assert run("promote", *where).exit_code == 0
    assert json.loads(run("get", found["id"], "--no-touch", "--json", *where).stdout)["status"] == "active"
    assert run("export", "out.ndjson", *where).exit_code == 0
    for name, value in settings_at(tmp_path / "elsewhere.db").items():
        monkeypatch.setenv(name, value)
    moved = ("--space", "moved")
    assert run("import", "out.ndjson", *moved).exit_code == 0
    told = json.loads(run("telemetry", found["id"], "--json", *moved).stdout)
    assert (told["retrieval_count"], told["last_retrieved_at"][:10]) == (7, "2025-01-13")


BROKEN = {
    "no such file": (None, "there is no file"), "noise": (b"\x00\x01 noise", "--from NAME names"),
    "nothing": (b"", "is empty"), "an empty list": (b"[]", '["We deploy on Tuesdays"]'),
    "objects without a text": (b'[{"fact": "a"}]', '[{"content": "We deploy on Tuesdays"'),
    "numbers": (b"[1, 2]", '{"deploy": "We deploy on Tuesdays"}'),
    "an object of no texts": (b'{"a": 1,\n"b": "x"}', "one of either in each line"),
    "texts that break off": (b'["a", "b', "after item 0 of the list"),
    "texts by id that break off": (b'{"a": "x",\n"b": "y",', "after its member 'b'"),
    "an export that is cut off": (b'{"type":"muisti","format":1}\n', "truncated"),
    "an export of a later format": (b'{"type":"muisti","format":99}\n{"type":"end","lines":1}\n', "format 99"),
    "a list that breaks off": (b'[{"id": "1", "memory": "a", "user_id": "u"}, {', "after item 0 of the list"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("place", ["file", "server"])
def test_what_cannot_be_read_ends_with_1_and_a_problem(run: Run, url: str, name: str, place: str, tmp_path: Path):
    data, message = BROKEN[name]
    if data is not None:
        (tmp_path / "given").write_bytes(data)
    where = ("--url", url) if place == "server" else ()
    done = tried_and_done(run, str(tmp_path / "given"), *where)
    (problem,) = reports(done)
    assert (done.exit_code, problem["code"]) == (1, "invalid_input") and message in problem["detail"], done.output
    if data is not None:
        piped = run("import", "-", "--json", *where, input=data)
        assert (piped.exit_code, reports(piped)[0]["code"]) == (1, "invalid_input")
    assert "notes" not in run("spaces", "--plain", *where).stdout


FORMS = {
    "a list of texts": '["Likes tea", "Likes jazz"]',
    "a list of objects with text": '[{"text": "Likes tea"}, {"text": "Likes jazz"}]',
    "a list of objects with content": '[{"content": "Likes tea"}, {"content": "Likes jazz"}]',
    "texts in lines": '"Likes tea"\n"Likes jazz"\n',
    "objects with text in lines": '{"text": "Likes tea"}\n{"text": "Likes jazz"}\n',
    "objects with content in lines": '{"content": "Likes tea"}\r\n\r\n{"content": "Likes jazz"}',
    "texts by id in one line": '{"a": "Likes tea", "b": "Likes jazz"}',
    "texts by id in lines": '{\n  "a": "Likes tea",\n  "b": {"text": "Likes jazz"}\n}\n',
    "a list of texts in an object": '{"memories": ["Likes tea", "Likes jazz"]}',
}


@pytest.mark.parametrize("form", FORMS)
def test_json_of_ones_own_comes_in(run: Run, form: str):
    assert run("import", "-", input=FORMS[form]).exit_code == 0
    assert sorted(one["content"] for one in json.loads(run("list", "--json").stdout)["items"]) == [
        "Likes jazz", "Likes tea",
    ]  # fmt: skip
    assert "exists\t2" in run("import", "-", input=FORMS[form]).stdout


def test_a_quota_holds_a_dry_run_as_well(run: Run, tmp_path: Path):
    path = made(next(one for one in FIXTURES if one.id == "vipune projects.db"), tmp_path)
    added(run, "The first")
    assert run("quota", "--memories", "2").exit_code == 0
    done = tried_and_done(run, str(path), "--space", "notes")
    assert done.exit_code == 1 and reports(done)[0]["code"] == "quota_exceeded"


def test_an_import_is_undone_as_a_whole_and_the_next_has_the_next_number(run: Run, tmp_path: Path):
    path = made(next(one for one in FIXTURES if one.id == "vipune projects.db"), tmp_path)
    where = ("--space", "notes")
    for number in (1, 2):
        assert run("import", str(path), "--dry-run", *where).exit_code == 0
        assert reports(run("import", str(path), "--json", *where))[0]["import_id"] == number
        undone = run("undo") if number == 1 else run("import", "--undo", str(number))
        assert undone.exit_code == 0 and json.loads(run("list", "--json").stdout)["items"] == []


def test_all_spaces_go_out_into_a_folder_and_come_back_under_their_names(run: Run, url: str):
    for space in ("one", "two"):
        run("space", "create", space)
        added(run, f"Something in {space}", "--space", space)
    out = run("export", "--all", "Everything")
    assert out.exit_code == 0 and {line.split("\t")[0] for line in out.stdout.splitlines()} == {"default", "one", "two"}
    assert run("export", "--all", "Everything").exit_code == 1  # files are there
    assert run("export", "--all", "Everything", "--force", "--json").exit_code == 0
    done = tried_and_done(run, "Everything", "--url", url)
    assert {one["space"]: one["created"] for one in reports(done)} == {"default": 0, "one": 1, "two": 1}
    assert "Something in two" in run("list", "--space", "two", "--url", url, "--plain").stdout
    assert run("export", "--all", "-").exit_code == 64 and run("export", "--all", "x", "--space", "one").exit_code == 64
    Path("Everything/note.md").write_text("A note beside exports makes it a folder of notes")
    (report,) = reports(run("import", "Everything", "--space", "vault", "--json"))
    assert (report["source"], report["created"]) == ("obsidian", 1)
    notes = run("export", "--all", "Notes", "--format", "markdown")
    assert notes.exit_code == 0 and list(Path("Notes/one").glob("*.md"))
