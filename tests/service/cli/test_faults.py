"""Every command with every ordinary fault ends in one line that says what is wrong, and never in a stack."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from muisti.core.store.file import sqlite_errors
from muisti.service.cli import main
from tests.service.cli_commands import COMMANDS, Kind, Ran, call, of_the_tree, run, run_all

ROOT = Path(__file__).parents[3]
# There is none of that number, and no memory names Ann.
UNDONE = {"conflicts decide", "graph show", "graph neighbours", "graph path"}
STATUSES = (0, 1, 2, 3, 64)  # as docs/reference/cli.md has them
HOLD = (
    "import apsw, sys; held = apsw.Connection(sys.argv[1]); held.execute('BEGIN IMMEDIATE'); "
    "print('held', flush=True); input()"
)


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("MUISTI_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "off")
    monkeypatch.chdir(home)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with a source file, in no repository."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "app.py").write_text("def deploy():\n    return check()\n\n\ndef check():\n    return 1\n")
    return folder


@pytest.fixture
def database(tmp_path: Path, sources: Path) -> Path:
    """A database with something for every command, in a folder of its own."""
    path = tmp_path / "data" / "muisti.db"
    path.parent.mkdir()
    for made in (
        call(str(path), "ingest", str(sources)),
        call(str(path), "code", "map"),  # the first question about code stores what the names stand for
        call(str(path), "conversations", "add", "talk", "hello"),
        run("add", str(path), {}),
        call(str(path), "checkpoint", "create", "here"),
    ):
        assert made.status == 0, made
    memory = run("list", str(path), {}).stdout.split("\t")[0]
    assert call(str(path), "update", memory, "once more").status == 0
    assert call(str(path), "graph", "entities").status == 0  # reads the memories, so that later questions store nothing
    return path


@pytest.fixture
def values(database: Path, sources: Path, tmp_path: Path) -> dict[str, str]:
    listed = run("list", str(database), {}).stdout
    out, memories = tmp_path / "out", tmp_path / "memories.jsonl"
    out.mkdir()
    lines = memories.read_text().splitlines() if call(str(database), "export", str(memories)).status == 0 else []
    memories.write_text("\n".join(lines).replace("once more", "imported") + "\n")
    return {"id": listed.split("\t")[0], "folder": str(out), "file": str(memories), "sources": str(sources)}


def complaint(name: str, ran: Ran) -> str:
    """Describe what is wrong with the way a command ended; empty when nothing is."""
    if ran.error or "Traceback" in ran.stdout + ran.stderr or "Exception Group" in ran.stderr:
        return f"{name}: a stack, or an error that nobody caught: {ran.error}"
    if ran.status not in STATUSES:
        return f"{name}: status {ran.status}"
    if ran.status != 0 and len(ran.lines) != 1 and name != "doctor":
        return f"{name}: {len(ran.lines)} lines say why it ended with {ran.status}: {ran.stderr!r}"
    return ""


def assert_well_told(found: dict[str, Ran]) -> None:
    assert [fault for name, ran in found.items() if (fault := complaint(name, ran))] == []


def of(kind: Kind, found: dict[str, Ran]) -> dict[str, Ran]:
    return {name: ran for name, ran in found.items() if COMMANDS[name][0] == kind}


def test_every_command_is_in_the_table():
    assert of_the_tree(main) == set(COMMANDS)


def test_without_a_fault_what_reads_works(database: Path, values: dict[str, str]):
    found = run_all(str(database), values, ("reads",))
    assert_well_told(found)
    assert {name for name, ran in found.items() if ran.status} <= UNDONE


@pytest.mark.parametrize("spoil", ["junk", "truncated", "a folder"])
def test_what_is_no_database_is_said_in_a_line(database: Path, values: dict[str, str], spoil: str):
    if spoil == "junk":
        database.write_bytes(b"no database " * 5_000)
    elif spoil == "truncated":
        os.truncate(database, 20_000)
    else:
        database.unlink()
        database.mkdir()
    found = run_all(str(database), values, ("reads", "writes", "looks", "serves"))
    assert_well_told(found)
    # A file that is cut may still hold what a command asks for.
    needs = of("writes", found) | of("serves", found) | (of("reads", found) if spoil != "truncated" else {})
    assert {name: ran.status for name, ran in needs.items() if ran.status not in (1, 2)} == {}
    assert found["doctor"].status == 1


@pytest.mark.prove
def test_where_there_is_no_database_no_command_ends_in_a_stack(tmp_path: Path, values: dict[str, str]):
    for at, name in enumerate(COMMANDS):
        if COMMANDS[name][0] != "serves":
            path = tmp_path / f"none-{at}" / "muisti.db"
            assert complaint(name, run(name, str(path), {**values, "number": f"none-{at}"})) == ""


@pytest.fixture
def held(database: Path) -> Iterator[int]:
    """Another process writes to the database, and does not end; its id."""
    command = [sys.executable, "-c", HOLD, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process.pid
        process.kill()


@pytest.mark.prove
def test_a_locked_database_is_read_and_who_holds_it_is_named(
    database: Path, values: dict[str, str], held: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_errors, "BUSY_SECONDS", 0.3)
    monkeypatch.setattr(sqlite_errors, "NOTICE_SECONDS", 0.1)
    found = run_all(str(database), values, ("reads", "writes", "looks"))
    assert_well_told(found)
    reads = of("reads", found)
    assert {name for name, ran in reads.items() if ran.status} <= UNDONE
    assert {name for name, ran in reads.items() if "Waiting" in ran.stderr} == set()
    who = f"pid {held}" if Path("/proc/locks").exists() else "another process"
    for name, ran in of("writes", found).items():
        assert ran.status == 1, (name, ran)
        assert f"Waiting for the database (locked by {who}" in ran.stderr, (name, ran)
        assert f"held by {who}" in ran.lines[0], (name, ran)


@pytest.mark.prove
def test_a_database_that_can_only_be_read_is_read(database: Path, values: dict[str, str], tmp_path: Path):
    healthy = run_all(str(database), values, ("reads",))
    shutil.rmtree(values["folder"])
    Path(values["folder"]).mkdir()
    found = without_leave_to_write(database, values)
    assert_well_told(found)
    reads = of("reads", found)
    assert printed(reads) == printed(healthy)
    assert {name for name, ran in reads.items() if ran.status} <= UNDONE
    for name, ran in (of("writes", found) | of("serves", found)).items():
        assert ran.status == 1 and "can only be read" in ran.lines[0], (name, ran)
    assert found["doctor"].status == 0 and "--repair" not in found["doctor"].stdout
    assert "integrity\tok" in found["doctor"].stdout


def printed(reads: dict[str, Ran]) -> dict[str, str]:
    """Return what each command printed. The value of a turn is left out, because it falls as time passes."""
    found = {name: ran.stdout for name, ran in reads.items()}
    return found | {"conversations working": found["conversations working"].rpartition("\t")[0]}


def without_leave_to_write(database: Path, values: dict[str, str]) -> dict[str, Ran]:
    """Run all commands in a process that cannot write to the folder of the database."""
    command = [sys.executable, "-m", "tests.service.cli_commands", str(database), json.dumps(values)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    folder = database.parent
    if os.geteuid() == 0:  # permissions do not bind this user: the folder is mounted for reading
        if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
            pytest.skip("this user may do all but mount")
        mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        command = ["unshare", "-m", "sh", "-c", mount, str(folder), *command]
    else:
        database.chmod(0o400)
        folder.chmod(0o500)
    try:
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    finally:
        folder.chmod(0o700)
        database.chmod(0o600)
    assert done.returncode == 0, done.stderr[-2_000:]
    return {name: Ran(**ran) for name, ran in json.loads(done.stdout).items()}


@pytest.fixture
def small_files() -> Iterator[Callable[[int], None]]:
    """Lets no file of this process grow beyond a size, as a full disk does; pytest's own stay small."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.prove
def test_a_full_disk_is_said_in_a_line(database: Path, values: dict[str, str], small_files: Callable[[int], None]):
    copies = [database.with_name(f"{at}.db") for at in range(len(COMMANDS))]
    for copy in copies:
        shutil.copy(database, copy)
    small_files(36_000)
    found = {
        name: run(name, str(copy), {**values, "number": f"full-{at}"})
        for at, (name, copy) in enumerate(zip(COMMANDS, copies, strict=True))
        if COMMANDS[name][0] != "serves"
    }
    assert_well_told(found)
    assert found["add"].status == found["backup"].status == 1


OUTPUTS = (
    "export {out}", "export {out} --format markdown", "backup {out}", "purge {id} --report {out}",
    "restore-backup {copy} --database {out}", "calibrate {folder} --save {out}",
)  # fmt: skip


def test_an_output_that_cannot_be_written_is_said_in_a_line(database: Path, values: dict[str, str]):
    copy = Path(values["folder"]) / "copy.db"
    assert main.main(["backup", str(copy), "--database", str(database)], standalone_mode=False) in (None, 0)
    given = {**values, "out": f"{values['file']}/out", "copy": str(copy)}  # below what is no folder
    for words in OUTPUTS:
        options = ["--space", "s"] + ([] if "--database" in words else ["--database", str(database)])
        result = CliRunner().invoke(main, [*words.format(**given).split(), *options], prog_name="muisti")
        error = "" if isinstance(result.exception, SystemExit) else repr(result.exception)
        ran = Ran(result.exit_code, result.stdout, result.stderr, error)
        assert ran.status in (1, 64) and complaint(words, ran) == "", (words, ran)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("command", ["list", "spaces", "doctor", "skill"])
def test_an_output_that_is_full_is_said_in_a_line(database: Path, command: str):
    words = [sys.executable, "-c", "from muisti.service.cli import main; main()", command, "--database", str(database)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*words, "--space", "s"], stdout=full, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
        )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr and done.stderr.count("Error:") == 1, done.stderr


def test_debug_shows_the_stack_and_the_line(database: Path):
    database.write_bytes(b"no database " * 5_000)
    ran = call(str(database), "list", "--debug")
    assert "Traceback" in ran.stderr and ran.stderr.splitlines()[-1].startswith("Error: ")
