"""Every installation of a target of the Makefile is found and resolved; a new one needs no entry."""

import re
from pathlib import Path

import pytest

from deploy import installs

ROOT = Path(__file__).parents[2]
PINS = re.compile(r"^[\w.-]+==", re.MULTILINE)


@pytest.fixture(scope="module")
def found() -> dict[str, list[installs.Install]]:
    return {target: installs.installs(target) for target in installs.targets()}


def test_every_list_of_packages_belongs_to_a_target(found: dict[str, list[installs.Install]]):
    lists = [path for path in (ROOT / "deploy").rglob("*.txt") if PINS.search(path.read_text("utf-8"))]
    read = "\n".join(str(one) for some in found.values() for one in some)
    read += "\n".join(path.read_text("utf-8") for path in lists if path.name == "requirements.txt")  # -r ../image/…
    apart = {"constraints.txt", "peers.txt"}  # joined to build/peers.txt
    assert [path.name for path in lists if path.name not in apart and path.name not in read] == []


def test_targets_that_need_nothing_install_nothing(found: dict[str, list[installs.Install]]):
    assert found["help"] == found["clean"] == found["image"] == []
    assert len(found["bench"]) > len(found["test"]) >= 3


@pytest.mark.parametrize("line", [
    "npx install thing", "build/x/bin/uv sync && apt-get install -y git", "python -m tool install x", "go install a@v1",
])  # fmt: skip
def test_an_installation_that_cannot_be_read_fails(line: str):
    with pytest.raises(installs.Unreadable):
        list(installs.read(f"echo 'install nothing'\n{line}\n"))


def test_what_cannot_be_resolved_fails_with_the_name_of_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(installs, "targets", lambda: ["bench", "test"])
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\ncase "$*" in *dev,peers*) echo "sumy wants setuptools<82" >&2; exit 1 ;; esac\n')
    uv.chmod(0o755)
    assert installs.main(uv) == 1
    assert re.search(r"FAILED: make bench: pip install .*\nsumy wants", capsys.readouterr().out)
