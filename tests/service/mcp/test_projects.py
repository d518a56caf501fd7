"""The space of a call over HTTP that names none: that of the folder in which the client works."""

from pathlib import Path

import httpx
import pytest

from muisti.core.engine import Engine
from tests.service.keyed import administrator, with_mode
from tests.service.mcp_client import answer, call

pytestmark = pytest.mark.one_store


def in_folder(folder: object, secret: str | None = None) -> dict[str, str]:
    return {"Muisti-Folder": str(folder), **({"Authorization": f"Bearer {secret}"} if secret else {})}


@pytest.fixture
def boat(tmp_path: Path) -> Path:
    """A folder inside a repository with a remote."""
    git = tmp_path / "here" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@example.com:ann/boat.git\n')
    (tmp_path / "here" / "hull").mkdir()
    return tmp_path / "here" / "hull"


def remembered(engine: Engine, space: str) -> list[str]:
    return [one.content for one in engine.owner.read.list(space).items]


def test_a_new_space_is_created_for_a_project(client: httpx.Client, engine: Engine, boat: Path):
    answer(client, "list_memories", in_folder(boat))
    answer(client, "remember", in_folder(boat), content="The mast is ash")
    answer(client, "remember", content="Said elsewhere")
    answer(client, "remember", {**in_folder(boat), "Muisti-Project": "default"}, content="Said of all")
    assert remembered(engine, "ann.boat") == ["The mast is ash"]
    assert remembered(engine, "default") == ["Said of all", "Said elsewhere"]


@pytest.mark.parametrize("folder", ["${workspaceFolder}", "$PWD", "", "boat", "/%00", "/", "../..", "C:/boat", "/" * 9])
def test_what_is_no_folder_names_no_project(client: httpx.Client, engine: Engine, folder: str):
    before = [space.name for space in engine.spaces.list()]
    answer(client, "remember", in_folder(folder), content="Somewhere")
    assert remembered(engine, "default") == ["Somewhere"]
    assert [space.name for space in engine.spaces.list()] == before


def test_a_key_has_the_server_look_into_no_folder(keyed: httpx.Client, engine: Engine, boat: Path):
    secret = administrator(engine).secret
    answer(keyed, "remember", in_folder(boat, secret), content="By its name")
    assert remembered(engine, "hull") == ["By its name"]
    assert "ann.boat" not in [space.name for space in engine.spaces.list()]


@pytest.mark.parametrize("spaces", [("*",), ("default",), ("default", "other")])
def test_a_key_that_may_not_create_or_reach_it_uses_its_usual_space(
    keyed: httpx.Client, engine: Engine, boat: Path, spaces: tuple[str, ...]
):
    secret = with_mode(engine, "full", *spaces).secret
    answer(keyed, "remember", in_folder(boat, secret), content="As before")
    assert remembered(engine, "default") == ["As before"]


def test_a_memory_that_is_missing_creates_nothing(client: httpx.Client, engine: Engine, boat: Path):
    engine.spaces.ensure("ann.boat")
    missing = call(client, "get_memory", in_folder(boat), memory_id="01a22a50-6fb6-7d26-9496-e8007890a1eb")
    assert missing["isError"]
