"""`python -m loadtests.structure [NAME=PACKAGE,…:TESTS …]`: the structure of Muisti, beside that of other packages.

python -m loadtests.structure starlette=src/starlette/starlette:src/starlette/tests --steps
python -m loadtests.structure before=old/core,old/service:old/tests
"""

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from loadtests.structure import steps
from loadtests.structure.files import Figures, figures, spread, words
from loadtests.tables import Table, rich_table

ROOT = Path(__file__).parents[2]
PAGES = ("docs", "README.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md", "CHANGELOG.md")
CAPABILITIES = ("graph", "document", "conversation", "webhook", "receipt", "probe", "quota", "checkpoint")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a column for each package, and with `--steps` the steps of a request."""
    parser = argparse.ArgumentParser(prog="python -m loadtests.structure", description=__doc__)
    parser.add_argument("others", nargs="*", help="NAME=PACKAGE,…:TESTS, folders of another project")
    parser.add_argument("--steps", action="store_true", help="count the calls of a plain add and a plain search too")
    options = parser.parse_args(arguments)
    found = {"Muisti": figures([ROOT / "core", ROOT / "service"], ROOT / "tests", "muisti")}
    for other in options.others:
        name, _, folders = other.partition("=")
        packages, _, tests = folders.partition(":")
        found[name] = figures([Path(package) for package in packages.split(",")], Path(tests), "")
    console = Console(width=120)
    console.print(rich_table(compared(found)))
    console.print(rich_table(placed()))
    if options.steps:
        console.print(rich_table(stepped(steps.count())))


def compared(found: dict[str, Figures]) -> Table:
    rows = [
        [field.name.replace("_", " "), *(_shown(getattr(each, field.name)) for each in found.values())]
        for field in dataclasses.fields(Figures)
    ]
    rows.append(["test lines to code lines", *(_shown(each.test_lines / each.lines) for each in found.values())])
    return Table("structure", "Structure, from the files", ["", *found], rows)


def placed() -> Table:
    """Return the folders of each capability, and the words of the documentation."""
    found = spread(ROOT, CAPABILITIES)
    rows = [[name, str(len(folders)), ", ".join(folders)] for name, folders in found.items()]
    rows.append(["words of documentation", f"{words(ROOT / page for page in PAGES):,}", ""])
    return Table("structure", "Folders that a capability touches", ["", "", "folders"], rows)


def stepped(found: Sequence[steps.Steps]) -> Table:
    rows = [[each.request, f"{each.calls:.0f}", str(each.modules), f"{each.switches:.0f}"] for each in found]
    return Table("structure", "Steps of a request", ["", "calls", "modules", "switches of module"], rows)


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".removesuffix(".00")


if __name__ == "__main__":
    main()
