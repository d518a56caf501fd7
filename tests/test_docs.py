"""Everything public is documented, links lead somewhere, and the commands of the documents exist."""

import inspect
import re
import subprocess
from pathlib import Path

import pytest

from muisti.core.model import collisions, errors

ROOT = Path(__file__).parent.parent
AT_ROOT = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md")
FILES = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in AT_ROOT)]
DOCS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in FILES}
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE = ("core", "service", "clients", "integrations", "loadtests", "deploy")


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as Markdown viewers make them from their texts."""
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads)
    named = re.findall(r'<a id="([^"]+)">', text)
    return {*named, *(re.sub(r"[^\w\- ]", "", word).strip().replace(" ", "-") for word in words)}


def test_every_error_of_the_core_is_in_its_tree():
    tree = errors.__doc__ or ""
    named = [*inspect.getmembers(errors, inspect.isclass), *inspect.getmembers(collisions, inspect.isclass)]
    kinds = [name for name, kind in named if issubclass(kind, errors.MuistiError)]
    assert [name for name in kinds if not re.search(rf"\b{name}\b", tree)] == []


@pytest.mark.parametrize("name", sorted(DOCS))
def test_links_between_documents_lead_to_a_file_and_to_a_heading_of_it(name: str):
    folder = (ROOT / name).parent
    for target, anchor in LINK.findall(FENCE.sub("", DOCS[name])):
        if "://" in target or target.startswith("mailto:"):
            continue
        found = (folder / target).resolve() if target else ROOT / name
        assert found.exists(), target
        page = found.relative_to(ROOT).as_posix()
        assert not anchor or page not in DOCS or anchor in anchors(DOCS[page]), f"{target}#{anchor}"


def test_code_names_only_documents_that_exist():
    files = (path for folder in CODE for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".ts", ".md"))
    texts = {path: path.read_text("utf-8") for path in files if not {"node_modules", "build"} & {*path.parts}}
    pages = {page.name for page in FILES}
    named = {(path.name, page) for path, text in texts.items() for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text)}
    wrong = [f"{where}: {page}" for where, page in named if Path(page).name in pages and not (ROOT / page).exists()]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(DOCS))
def test_make_commands_in_documents_exist(name: str):
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)(?![a-z/-])", DOCS[name])) | set(
        re.findall(r"^make ([a-z-]+)(?![a-z/-])", DOCS[name], re.MULTILINE)
    )
    assert named <= targets


@pytest.mark.parametrize("name", sorted(DOCS))
def test_a_shell_can_read_every_shell_block(name: str):
    for block in re.findall(r"```sh\n(.*?)```", DOCS[name], re.DOTALL):
        assert subprocess.run(["bash", "-n", "-c", block]).returncode == 0, block
