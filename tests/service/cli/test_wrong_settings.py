"""A setting that cannot work ends a command or a server in one line, with the exit code of the documents."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = "not a database, though long enough to be read as one " * 20


def run(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    command = [sys.executable, "-m", "muisti.service", "--database", "a.db", *arguments]
    return subprocess.run(command, cwd=folder, env={**kept, **environ}, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text(TEXT)
    (tmp_path / "bad.toml").write_text("port = ")
    (tmp_path / "unknown.toml").write_text("prot = 1")
    return tmp_path


@pytest.mark.parametrize("command", [("search", "x"), ("serve", "--port", "0")])
@pytest.mark.parametrize(
    ("options", "environ", "code", "said"),
    [
        (("--database", "folder"), {}, 1, "folder cannot be opened"),
        (("--database", "text"), {}, 1, "damaged or is no database"),
        pytest.param(
            ("--database", "http://127.0.0.1:1"), {}, 1, "cannot be reached",
            marks=pytest.mark.prove,  # waits for it
        ),
        (("--database", "foo://x"), {}, 64, "expected file:PATH"), (("--config", "bad.toml"), {}, 64, "is not TOML"),
        (("--config", "unknown.toml"), {}, 64, "the nearest is port"),
        (("--config", "folder"), {}, 64, "cannot be read"), ((), {"MUISTI_LOG_LEVEL": "loud"}, 64, "MUISTI_LOG_LEVEL"),
        ((), {"MUISTI_SECOND_MODEL": "nowhere"}, 64, "MUISTI_SECOND_MODEL"),
    ],
)  # fmt: skip
def test_one_line(
    folder: Path, command: tuple[str, ...], options: tuple[str, ...], environ: dict[str, str], code: int, said: str
):
    ended = run(folder, *options, *command, **environ)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (code, "", 1), ended
    assert said in ended.stderr


@pytest.mark.parametrize(("name", "value", "workers", "said"), [
    ("MUISTI_MODEL", "/nowhere/model", "1", "no static model that can be loaded"),
    ("MUISTI_MODEL", "/nowhere/model", "2", "no static model that can be loaded"),
    ("MUISTI_MODEL", "folder", "1", "no static model that can be loaded"),
    ("MUISTI_MODEL", "onnx:nowhere", "1", "neither a folder nor an installed package"),
    ("MUISTI_CALIBRATION", "nowhere", "1", "No such file"), ("MUISTI_ENTITIES", "spacy:none", "1", "muisti[spacy]"),
])  # fmt: skip
def test_a_server_without_what_its_settings_name_ends_in_one_line(
    folder: Path, name: str, value: str, workers: str, said: str
):
    ended = run(folder, "serve", "--port", "0", "--workers", workers, **{name: value})
    assert (ended.returncode, len(ended.stderr.splitlines())) == (64, 1), ended
    assert said in ended.stderr


def test_what_needs_no_vectors_works_without_its_model(folder: Path):
    assert run(folder, "add", "We deploy on Tuesdays").returncode == 0
    for mode in ("keyword", "hybrid"):
        found = run(folder, "search", "deploy", "--mode", mode, MUISTI_MODEL="/nowhere/model")
        assert found.returncode == 0 and "We deploy on Tuesdays" in found.stdout, found
        assert ("ranked by keyword only" in found.stderr) == (mode == "hybrid")
    assert run(folder, "list", MUISTI_MODEL="/nowhere/model").returncode == 0


def test_a_port_in_use_is_named(folder: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run(folder, "serve", "--port", str(taken.getsockname()[1]))
    assert (ended.returncode, len(ended.stderr.splitlines())) == (64, 1), ended
    assert "already in use" in ended.stderr
