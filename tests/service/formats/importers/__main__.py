"""Write the tables of outcomes.md: `python -m tests.service.formats.importers`."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from muisti.core.engine import Engine
from muisti.core.store.file.database import FileDatabase
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.bringing import bring
from tests.service.formats.importers.fixtures import FIXTURES
from tests.service.formats.importers.mutants import MUTANTS, exports, tally
from tests.service.formats.importers.table import PAGE, row


def rows() -> Iterator[str]:
    yield "| system | file | rows | came in | passed over | failed, at | second time |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for fixture in FIXTURES:
        with (
            tempfile.TemporaryDirectory() as folder,
            Engine(FileDatabase(Path(folder) / "muisti.db"), WordEncoder(), Clock()) as engine,
        ):
            path = Path(folder) / fixture.name
            fixture.make(path)
            report, reading = bring(engine, path, atomic=False)
            again, _ = bring(engine, path, atomic=False)
        yield row(fixture, reading, report, again)


def damaged() -> Iterator[str]:
    """Yield a table of outcomes of damaged files. Stop at a file that crashes, is half stored, or is not named."""
    yield "| what became of it | files |"
    yield "| --- | --- |"
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(FileDatabase(Path(folder) / "muisti.db"), WordEncoder(), Clock()) as engine,
    ):
        outcomes = tally(engine, MUTANTS, Path(folder), exports(Path(folder)))
    yield from (f"| {what} | {count} |" for what, count in outcomes.most_common())
    yield "| crashed, came in by half, came in again the second time, or was refused without a place | 0 |"


def main() -> None:
    text = PAGE.read_text("utf-8")
    for name, lines in (("table", rows()), ("mutants", damaged())):
        place = f"<!-- {name} -->.*<!-- /{name} -->"
        text = re.sub(place, "\n".join([f"<!-- {name} -->", *lines, f"<!-- /{name} -->"]), text, flags=re.DOTALL)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
