"""Public vaults and memory files through `muisti import`, twice each, and what comes in.

    python -m loadtests.quality.brought build/public

Clones the repositories of `SOURCES` into the folder, at the commit of each where it can be had; none of their files is
committed. A note counts as one when it has text and is no template, a line of JSON as its observations, relations or
texts. Each file or vault goes into its own database. It is complete when it brings as many memories as are counted
without Muisti, and nothing the second time.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import click


class Public(NamedTuple):
    """A public repository, at a commit, with the vault or file in it that is imported."""

    repository: str
    commit: str
    path: str


SOURCES = (
    Public("obsidianmd/obsidian-help", "fa179e91e86eaff5859226cc045c81000d64e3cd", "."),
    Public("kepano/kepano-obsidian", "473697347a0eaac790a6596229c741b3915f3b77", "."),
    Public("stevejones45/memory", "714912c3de360018e8dea1761748bd58d252a044", "memory.jsonl"),
    Public("oshliaer/server-memory-editor", "3687a0adb23be92b75fa153586c21d39faaf48f0", "memory.jsonl"),
    Public("maithanhduyan/memory-graph", "8a1829f40b5d2e925956215c213e3fba21e85e46", "memory.jsonl"),
    Public("w3s1999-star/moonseed", "3c4baeeec5ac54918cd9ba3a7aa8a2bc03ad58a5", "memory.jsonl"),
    Public("umaysoftware/nextJS_media_helper", "3d3545b9b3bc553474245bd53f755c48054e2ea7", "memory.jsonl"),
    Public("tomdowns/cbatool", "c69946ceb914d47169b5d285b2da3b698edd6f37", "memory.jsonl"),
)
_FENCED = re.compile(r"\A---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)


def cloned(one: Public, folder: Path) -> Path:
    """Return the clone of a repository, made when it is missing."""
    place = folder / one.repository.replace("/", "+")
    if not place.exists():
        source = f"https://github.com/{one.repository}"
        _ = subprocess.run(["git", "clone", "--quiet", source, str(place)], check=True)
        _ = subprocess.run(["git", "-C", str(place), "checkout", "--quiet", one.commit], check=False)
    return place / one.path


def counted(path: Path) -> int:
    """Return how many memories a vault or a file of lines should bring, counted without Muisti."""
    if path.is_file():
        return len({text for line in path.read_text("utf-8-sig").splitlines() if line.strip() for text in _texts(line)})
    notes = [one for one in path.rglob("*.md") if _is_note(one.relative_to(path))]
    texts = (_FENCED.sub("", note.read_text("utf-8-sig", "replace")) for note in notes)
    return sum(bool(_COMMENT.sub("", text).strip()) for text in texts)


def _is_note(path: Path) -> bool:
    folders = path.parts[:-1]
    return not any(part.startswith(".") for part in path.parts) and "templates" not in [one.lower() for one in folders]


def _texts(line: str) -> list[tuple[str, str]]:
    """Return what a line says, each with what it is of: observations, or the line itself."""
    row = cast(Mapping[str, Any], json.loads(line))
    observations = cast(list[object], row.get("observations") or [])
    name = str(row.get("name"))
    return [(name, json.dumps(one)) for one in observations] or [("", json.dumps(row, sort_keys=True))]


def brought(path: Path, database: Path) -> Mapping[str, Any]:
    """Import a file or a vault, and return the report."""
    command = [str(Path(sys.executable).with_name("muisti")), "--database", str(database), "--space", "public"]
    environment = {**os.environ, "HOME": str(database.parent)}
    done = subprocess.run(
        [*command, "import", str(path), "--each", "--allow-secrets", "--allow-personal-data", "--json"],
        capture_output=True, check=False, text=True, env=environment,
    )  # fmt: skip
    return cast(Mapping[str, Any], json.loads(done.stdout.splitlines()[0]))


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def main(folder: Path) -> None:
    """Print a table of the sources, and end with 1 when one is not complete."""
    folder.mkdir(parents=True, exist_ok=True)
    click.echo("| repository | read as | expected | came in | failed | left out | second time | complete |")
    click.echo("| --- | --- | --- | --- | --- | --- | --- | --- |")
    is_whole = True
    for one in SOURCES:
        path = cloned(one, folder)
        with tempfile.TemporaryDirectory() as place:
            first, again = (brought(path, Path(place) / "muisti.db") for _ in range(2))
        expected = counted(path)
        known = again["skipped"].get("exists", 0)
        good = first["created"] == expected == known and not (first["failed"] or again["created"])
        is_whole = is_whole and good
        left = ", ".join(f"{count:,} {reason}" for reason, count in sorted(first["skipped"].items())) or "0"
        click.echo(
            f"| {one.repository} | {first['source']} | {expected:,} | {first['created']:,} | {first['failed']} "
            f"| {left} | {again['created']} new, {known:,} known | {'yes' if good else 'no'} |"
        )
    sys.exit(not is_whole)


if __name__ == "__main__":
    main()
