"""Links of a page: those that leave the folder of the documents lead to copies inside the site."""

import os.path
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
# Pages of the repository that are part of the site, and their names there.
PAGES: Mapping[str, str] = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "AGENTS.md": "project/agents.md",
    "SECURITY.md": "project/reporting.md",
    "clients/python/README.md": "reference/python-client.md",
    "clients/typescript/README.md": "reference/typescript-client.md",
    "deploy/model/README.md": "project/model-training.md",
    "core/embedding/weights/MODEL.md": "project/embedding-model.md",
    "core/graph/entities/weights/MODEL.md": "project/tagger-model.md",
}
FILES = "files"  # folder of the site that has other linked files, such as manifests


def place(path: str) -> str:
    """Return where a path of the repository is in the site.

    >>> place("docs/why/why.md"), place("SECURITY.md"), place("deploy/compose.yaml")
    ('why/why.md', 'project/reporting.md', 'files/deploy/compose.yaml')
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return PAGES.get(path, f"{FILES}/{path}")


def relinked(text: str, source: str, root: Path) -> tuple[str, set[str]]:
    """Return a page with the links that hold in the site, and the files outside of `docs` that it needs there.

    `source` is the path of the page in the repository, whose folder is `root`.
    """
    wanted: set[str] = set()
    here = PurePosixPath(source).parent.as_posix()
    there = PurePosixPath(place(source)).parent.as_posix()

    def moved(link: re.Match[str]) -> str:
        if "://" in link[2] or link[2].startswith("mailto:"):
            return link[0]
        target = os.path.normpath(os.path.join(here, link[2]))
        if not target.startswith("docs/") and target not in PAGES:
            wanted.add(target)
        folder = "/index.md" if (root / target).is_dir() else ""
        return f"{link[1]}{os.path.relpath(place(target), there)}{folder}{link[3] or ''}{link[4]}"

    parts = FENCED.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts), wanted
