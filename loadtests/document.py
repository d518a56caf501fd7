"""The tables as Markdown, put between `<!-- bench:name -->` and `<!-- /bench -->` of a page."""

import re
from collections.abc import Mapping
from pathlib import Path

from loadtests.tables import Table

PLACE = re.compile(r"(<!-- bench:(?P<name>[a-z-]+) -->\n).*?(<!-- /bench -->)", re.DOTALL)


def put(found: Mapping[str, str], page: Path) -> None:
    """Write Markdown into the places of these names."""

    def place(match: re.Match[str]) -> str:
        return match[1] + found[match["name"]] + match[3] if match["name"] in found else match[0]

    page.write_text(PLACE.sub(place, page.read_text("utf-8")), "utf-8")


def markdown(table: Table) -> str:
    lines = [table.header, ["---"] * len(table.header)]
    lines += [[f"**{cell}**" if cell else "" for cell in row] if row[0] == "Muisti" else row for row in table.rows]
    return f"{table.title[0].upper()}{table.title[1:]}:\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
