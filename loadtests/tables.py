"""Saved figures as tables: for the terminal here, for the documentation in `document.py`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

Results = Mapping[str, Mapping[int, Any]]  # by stage, then size
MEGA = 1e6
SCALES = 1.7  # times the speed of one thread that two must reach to count as unlimited


@dataclass(frozen=True, slots=True)
class Table:
    """`stage` is where it belongs in the documentation."""

    stage: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def show(results: Results, console: Console) -> None:
    for table in all_of(results):
        console.print(rich_table(table))
    for name, value in run_of(results).items():
        console.print(f"{name}: {value}")


def rich_table(table: Table) -> RichTable:
    shown = RichTable(*table.header, title=table.title)
    for row in table.rows:
        shown.add_row(*row, style="bold" if row[0].startswith("Muisti") else None)
    return shown


def all_of(results: Results) -> Iterator[Table]:
    for stage, make in MAKERS.items():
        if results.get(stage):
            yield from make(results[stage])


def run_of(results: Results) -> dict[str, str]:
    """Describe the machine, the texts, the dates and the load average of the measurements."""
    runs = [measured["run"] for sizes in results.values() for measured in sizes.values()]
    loads = [load for run in runs for load in run["load"]]
    latest = max(runs, key=lambda run: run["measured"])
    return {
        **latest["machine"],
        "text": latest["text"],
        "measured": f"{min(run['measured'] for run in runs)} to {latest['measured']}, "
        f"{sum(run['seconds'] for run in runs) / 60:.0f} minutes, load average {min(loads):.1f} to {max(loads):.1f}",
    }


def _dense(sizes: Mapping[int, Any]) -> Iterator[Table]:
    def cell(found: Any, ours: Any) -> str:
        return f"{_ms(found)} {found['recall']:.3f}"

    header = ["engine", *(f"{_short(size)} ms (p95) recall" for size in sizes)]
    header += ["times Muisti's", f"build s {_last(sizes)}", f"index MB {_last(sizes)}"]
    engines = {size: measured["engines"] for size, measured in sizes.items()}
    yield Table("dense", "dense top 10, one thread", header, _rows(engines, cell))
    percents = [percent for percent in next(iter(sizes.values()))["filtered"]]
    header = ["engine", *(f"{_short(size)}, {percent} %" for size in sizes for percent in percents)]
    names = _names({size: measured["filtered"][percents[0]] for size, measured in sizes.items()})
    rows: list[list[str]] = []
    for name in names:
        cells = [_of(measured["filtered"][percent], name) for measured in sizes.values() for percent in percents]
        rows.append([name, *("" if c is None else f"{_number(c['median'])} / {c['recall']:.3f}" for c in cells)])
    yield Table("filtered", "dense top 10 under a filter, ms / recall", header, rows)


def _lexical(sizes: Mapping[int, Any]) -> Iterator[Table]:
    header = ["engine", *(f"{_short(size)} ms (p95)" for size in sizes)]
    header += ["times Muisti's", f"build s {_last(sizes)}", f"index MB {_last(sizes)}", "same of top 10"]
    engines = {size: measured["engines"] for size, measured in sizes.items()}
    rows = _rows(engines, lambda found, _: _ms(found))
    for row in rows:
        found = [_of(measured, row[0]) for measured in engines.values()]
        row.append(f"{next(f for f in reversed(found) if f)['overlap']:.2f}")
    yield Table("lexical", "BM25 top 50 of whole questions, tokenising them included, one thread", header, rows)


def _hybrid(sizes: Mapping[int, Any]) -> Iterator[Table]:
    header = ["search", *(f"{_short(size)} ms (p95)" for size in sizes)]
    header += [f"times Muisti's, {_short(size)}" for size in sizes]
    rows: list[list[str]] = []
    for name in _names({size: measured["engines"] for size, measured in sizes.items()}):
        found = [_of(measured["engines"], name) for measured in sizes.values()]
        ours = [_of(measured["engines"], "Muisti hybrid") for measured in sizes.values()]
        rows.append([name, *(_ms(f) for f in found), *(_ratio(f, o) for f, o in zip(found, ours, strict=True))])
    yield Table("hybrid", "whole searches in process: encode, rank, fuse, fetch", header, rows)


def _context(sizes: Mapping[int, Any]) -> Iterator[Table]:
    header = ["work", *(f"{_short(size)} ms (p95)" for size in sizes)]
    header += [f"times the search, {_short(size)}" for size in sizes]
    rows: list[list[str]] = []
    for name in _names({size: measured["engines"] for size, measured in sizes.items()}):
        found = [_of(measured["engines"], name) for measured in sizes.values()]
        held = [_of(measured["engines"], "search") for measured in sizes.values()]
        rows.append([name, *(_ms(f) for f in found), *(_ratio(f, h) for f, h in zip(found, held, strict=True))])
    yield Table("context", "contexts of 1,000 tokens in process, and the search that each holds", header, rows)


def _conflicts(sizes: Mapping[int, Any]) -> Iterator[Table]:
    header = ["a memory that is", *(f"{_short(size)} ms (p95)" for size in sizes), "like it"]
    rows: list[list[str]] = []
    for name in _names({size: measured["engines"] for size, measured in sizes.items()}):
        found = [_of(measured["engines"], name) for measured in sizes.values()]
        last = next(one for one in reversed(found) if one)
        rows.append([name, *(_ms(one) for one in found), f"{last['found']:.2f}"])
    yield Table("conflicts", "search of the index for memories similar to a written one", header, rows)


def _http(sizes: Mapping[int, Any]) -> Iterator[Table]:
    header = ["service", "memories", "clients", "per second", "ms (p95, p99)", "Muisti is", "recall", "failed"]
    for key, title in (
        ("search", "searches over HTTP"),
        ("filtered", "searches over HTTP with a filter that 10 % pass"),
        ("write", "single durable writes over HTTP"),
    ):
        rows = [
            _http_row(size, row, measured[key]) for size, measured in sizes.items() for row in measured.get(key, [])
        ]
        yield Table(f"http-{key}", title, header, rows)
    rows = [
        [name, f"{size:,}", f"{start['ready']:.2f}", f"{start['first answer']:.2f}"]
        + [f"{measured['resident'][name] / MEGA:,.0f}", f"{measured['loading seconds'][name]:,.0f}"]
        for size, measured in sizes.items()
        for name, start in measured["cold start"].items()
    ]
    empty = next(iter(sizes.values()))["empty"]
    rows.insert(0, ["Muisti", "0", f"{empty['ready']:.2f}", f"{empty['first answer']:.2f}", "", ""])
    header = ["service", "memories", "ready s", "first answer s", "resident MB", "bulk load s"]
    yield Table("cold", "cold start, from process to first answer", header, rows)


def _http_row(size: int, row: Any, others: Sequence[Any]) -> list[str]:
    ours = next(o for o in others if o["name"].startswith("Muisti") and o["clients"] == row["clients"])
    mine = row["name"].startswith("Muisti")
    return [
        row["name"],
        f"{size:,}",
        str(row["clients"]),
        f"{row['per second']:,.1f}" if row["per second"] < 100 else f"{row['per second']:,.0f}",
        f"{_number(row['median'])} ({_number(row['p95'])}, {_number(row['p99'])})",
        "" if mine else f"{ours['per second'] / row['per second']:,.1f} x as fast",
        f"{row['recall']:.3f}" if "recall" in row else "",
        str(row["failures"]),
    ]


def _concurrency(sizes: Mapping[int, Any]) -> Iterator[Table]:
    ways = list(next(iter(sizes.values()))["in process"])
    rows = [
        [f"{size:,}", *(f"{measured['in process'][way]:,.0f}" for way in ways)]
        + [f"{measured['in process'][way] / measured['in process'][ways[0]]:.2f}" for way in ways[1:]]
        + [_limit(measured["in process"])]
        for size, measured in sizes.items()
    ]
    header = ["memories", *ways, *(f"{way} over 1 thread" for way in ways[1:]), "limited by"]
    yield Table("concurrency", "hybrid searches a second in process", header, rows)
    ways = [
        f"{_many(row['workers'], 'worker')}, {_many(row['clients'], 'client')}"
        for row in next(iter(sizes.values()))["over HTTP"]
    ]
    rows = [
        [f"{size:,}", *(f"{row['per second']:,.0f}" for row in measured["over HTTP"])]
        for size, measured in sizes.items()
    ]
    yield Table("workers", "hybrid searches a second over HTTP", ["memories", *ways], rows)


def _limit(rates: Mapping[str, float]) -> str:
    """Name what keeps two threads from twice the speed. Processes share no GIL, so what limits them too is another."""
    threads, processes = (rates[way] / rates["1 thread"] for way in ("2 threads", "2 processes"))
    if threads >= SCALES:
        return "nothing yet"
    return "the GIL" if processes >= threads + 0.25 else "memory bus, or a busy machine"


def _memory(sizes: Mapping[int, Any]) -> Iterator[Table]:
    names = sorted(
        {name for measured in sizes.values() for name in measured["columns"]},
        key=lambda name: -max(measured["columns"].get(name, 0) for measured in sizes.values()),
    )
    rows = [
        [f"`{name}`", *(f"{measured['columns'].get(name, 0):.1f}" for measured in sizes.values())] for name in names
    ]
    for name, key in (
        ("in all", "in use"),
        ("with reserves", "reserved"),
        ("database file", "file"),
        ("(words)", "words"),
    ):
        rows.append([name, *(f"{measured[key]:,.1f}" for measured in sizes.values())])
    header = ["column", *(f"{size:,}" for size in sizes)]
    yield Table("memory", "bytes a memory in the index, by column", header, rows)


MAKERS = {
    "dense": _dense,
    "lexical": _lexical,
    "hybrid": _hybrid,
    "context": _context,
    "conflicts": _conflicts,
    "http": _http,
    "concurrency": _concurrency,
    "memory": _memory,
}


def _rows(engines: Mapping[int, Any], cell: Any) -> list[list[str]]:
    """A row for each engine: a cell for each size, how much slower, and what the index took at the largest size."""
    rows: list[list[str]] = []
    for name in _names(engines):
        found = [_of(measured, name) for measured in engines.values()]
        ours = [_of(measured, "Muisti") for measured in engines.values()]
        last = found[-1]
        rows.append(
            [
                name,
                *("" if f is None else cell(f, o) for f, o in zip(found, ours, strict=True)),
                ", ".join(_ratio(f, o) or "-" for f, o in zip(found, ours, strict=True)),
                "" if last is None or not last["build seconds"] else f"{last['build seconds']:,.1f}",
                "" if last is None or last["bytes"] is None else f"{last['bytes'] / MEGA:,.0f}",
            ]
        )
    return rows


def _names(engines: Mapping[int, Sequence[Any]]) -> list[str]:
    return list(dict.fromkeys(engine["name"] for measured in engines.values() for engine in measured))


def _of(engines: Sequence[Any], name: str) -> Any:
    return next((engine for engine in engines if engine["name"] == name), None)


def _ms(found: Any) -> str:
    return "" if found is None else f"{_number(found['median'])} ({_number(found['p95'])})"


def _ratio(found: Any, ours: Any) -> str:
    return "" if found is None or ours is None else f"{_number(found['median'] / ours['median'])} x"


def _number(value: float) -> str:
    """Three significant digits.

    >>> _number(0.01234), _number(12.34), _number(1234.5)
    ('0.0123', '12.3', '1,234')
    """
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3g}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _short(size: int) -> str:
    return f"{size // 1_000_000}M" if size >= 1_000_000 else f"{size // 1_000}k"


def _last(sizes: Mapping[int, Any]) -> str:
    return _short(max(sizes))
