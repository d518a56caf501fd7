"""Tables as Markdown in pages: those of the bench between `<!-- bench:name -->` and `<!-- /bench -->`, others too."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadtests.tables import Table

PLACE = re.compile(r"(<!-- bench:(?P<name>[a-z-]+) -->\n).*?(<!-- /bench -->)", re.DOTALL)


def put(found: Mapping[str, str], page: Path) -> None:
    """Write Markdown into the places of these names."""

    def place(match: re.Match[str]) -> str:
        return match[1] + found[match["name"]] + match[3] if match["name"] in found else match[0]

    page.write_text(PLACE.sub(place, page.read_text("utf-8")), "utf-8")


def put_table(page: Path, name: str, lines: Sequence[str]) -> None:
    """Put a table at its place in a page, between `<!-- name -->` and `<!-- /name -->`.

    Raises:
        ValueError: the page has no such place.
    """
    place = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
    text = page.read_text("utf-8")
    if not place.search(text):
        raise ValueError(f"{page} has no place for the table {name!r}")
    page.write_text(place.sub(lambda _: "\n".join(lines) + "\n", text), "utf-8")


def markdown(table: Table) -> str:
    lines = [table.header, ["---"] * len(table.header)]
    lines += [[f"**{cell}**" if cell else "" for cell in row] if row[0] == "Muisti" else row for row in table.rows]
    return f"{table.title[0].upper()}{table.title[1:]}:\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
