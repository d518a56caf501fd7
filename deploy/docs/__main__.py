"""`make docs`: the documents as a site, made without a network.

This step collects the pages: those of `docs`, those of the repository that they link to, and a page for each error
code. Then mkdocs renders the folder.
"""

import argparse
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from deploy.docs import llms, problems
from deploy.docs.links import FILES, PAGES, place, relinked
from deploy.docs.tabs import tabbed

ROOT = Path(__file__).parents[2]
CONFIG = Path(__file__).with_name("mkdocs.yml")
HTTP = "docs/reference/http.md"
ERRORS = "reference/errors"


def collect(root: Path) -> tuple[dict[str, str], set[str]]:
    """Return the text of each page by its path in the site, and the other files of the repository that they need."""
    pages: dict[str, str] = {}
    files: set[str] = set()
    for source in sources(root):
        text = (root / source).read_text("utf-8")
        text, wanted = relinked(problems.linked(text) if source == HTTP else text, source, root)
        pages[place(source)] = text
        files |= wanted
    pages.update((f"{ERRORS}/{name}", text) for name, text in problems.pages())
    return pages, files


def sources(root: Path) -> Iterator[str]:
    """Yield the paths of the pages in the repository."""
    yield from sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    yield from PAGES


def sections(nav: list[Mapping[str, object]]) -> dict[str, list[str]]:
    """Return the pages of each section of the navigation, in order.

    >>> sections([{"Home": "index.md"}, {"Start": ["a.md", {"B": "b.md"}]}])
    {'Home': ['index.md'], 'Start': ['a.md', 'b.md']}
    """
    return {name: [*_leaves(below)] for part in nav for name, below in part.items()}


def _leaves(below: object) -> Iterator[str]:
    if isinstance(below, str):
        yield below
    elif isinstance(below, list):
        for one in below:
            yield from _leaves(one)
    elif isinstance(below, dict):
        for one in below.values():
            yield from _leaves(one)


def write(root: Path, into: Path) -> int:
    """Fill the folder `into` with all that mkdocs reads, and return the number of pages."""
    pages, files = collect(root)
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(root / "docs", into, ignore=shutil.ignore_patterns("*.md"))
    for path in files:
        _copy(root / path, into / FILES / path)
    shutil.copytree(CONFIG.with_name("assets"), into / "assets")
    for name, text in pages.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_text(tabbed(text), "utf-8")
    parts = sections(yaml.safe_load(CONFIG.read_text("utf-8"))["nav"])
    order = [name for names in parts.values() for name in names]
    (into / "llms.txt").write_text(llms.index(parts, pages), "utf-8")
    (into / "llms-full.txt").write_text(llms.full(pages, [*order, *sorted(set(pages) - set(order))]), "utf-8")
    return len(pages)


def _copy(source: Path, target: Path) -> None:
    """Copy a file; of a folder, make a page that lists and links its files."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        names = sorted(path.name for path in source.iterdir() if path.is_file())
        for name in names:
            shutil.copy(source / name, target / name)
        listed = "\n".join(f"- [{name}]({name})" for name in names)
        (target / "index.md").write_text(f"# {source.name}\n\n{listed}\n", "utf-8")
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m deploy.docs", description=__doc__)
    parser.add_argument("into", type=Path, help="Folder that takes the pages; what it holds is removed.")
    print(f"{write(ROOT, parser.parse_args().into)} pages collected")  # noqa: T201
