"""Charts of office files as tables: the categories, and a column for each series."""

from collections.abc import Iterator

from muisti.core.parsing.blocks import table
from muisti.core.parsing.formats.package import Element


def title_of(chart: Element) -> str:
    """Return the title of a chart; empty when it has none."""
    title = chart.find("c-chart/c-title")
    return "" if title is None else " ".join("".join(one.text or "" for one in title.iter("a-t")).split())


def chart_table(chart: Element) -> str:
    """Return the values of a chart as a table in Markdown; empty when it has none."""
    columns: list[list[str]] = []
    for series in chart.iter("c-ser"):
        if not columns:
            columns.append(["", *_values(series, "c-cat")])
        columns.append([next(_values(series, "c-tx"), ""), *_values(series, "c-val")])
    height = max(map(len, columns), default=0)
    if height < 2:
        return ""
    return table([[column[at] if at < len(column) else "" for column in columns] for at in range(height)])


def _values(series: Element, tag: str) -> Iterator[str]:
    found = series.find(tag)
    if found is not None:
        for value in found.iter("c-v"):
            yield value.text or ""
