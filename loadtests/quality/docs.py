"""Tables of measurements in pages of the documentation, between `<!-- name -->` and `<!-- /name -->`."""

import re
from collections.abc import Sequence
from pathlib import Path


def put_table(page: Path, name: str, lines: Sequence[str]) -> None:
    """Put a table at its place in a page.

    Raises:
        ValueError: the page has no such place.
    """
    place = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
    text = page.read_text("utf-8")
    if not place.search(text):
        raise ValueError(f"{page} has no place for the table {name!r}")
    page.write_text(place.sub(lambda _: "\n".join(lines) + "\n", text), "utf-8")
