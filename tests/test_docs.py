"""Everything public is documented, and the commands and code of the documents work."""

import inspect
import re
import subprocess
from pathlib import Path

import pytest

from muisti.core.model import collisions, errors
from muisti.service.settings import options

ROOT = Path(__file__).parent.parent
AT_ROOT = ("README.md", "SECURITY.md")
FILES = [*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in AT_ROOT)]
DOCS = {path.name: path.read_text("utf-8") for path in FILES}


def test_every_setting_is_documented_with_its_flag():
    lines = DOCS["settings.md"].splitlines()
    for option in options():
        row = next((line for line in lines if line.startswith(f"| `{option.variable}` | `{option.flag}` |")), None)
        assert row is not None and option.description in row


def test_every_error_of_the_core_is_in_its_tree():
    tree = errors.__doc__ or ""
    named = [*inspect.getmembers(errors, inspect.isclass), *inspect.getmembers(collisions, inspect.isclass)]
    kinds = [name for name, kind in named if issubclass(kind, errors.MuistiError)]
    assert [name for name in kinds if not re.search(rf"\b{name}\b", tree)] == []


@pytest.mark.parametrize("name", sorted(DOCS))
def test_links_between_documents_lead_somewhere(name: str):
    folder = ROOT if name in AT_ROOT else ROOT / "docs"
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", DOCS[name]):
        if "://" not in target:
            assert (folder / target).exists(), target


@pytest.mark.parametrize("name", sorted(DOCS))
def test_make_commands_in_documents_exist(name: str):
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", DOCS[name])) | set(
        re.findall(r"^make ([a-z-]+)", DOCS[name], re.MULTILINE)
    )
    assert named <= targets


@pytest.mark.parametrize("name", sorted(DOCS))
def test_a_shell_can_read_every_shell_block(name: str):
    for block in re.findall(r"```sh\n(.*?)```", DOCS[name], re.DOTALL):
        assert subprocess.run(["bash", "-n", "-c", block]).returncode == 0, block
