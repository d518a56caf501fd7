"""Writes the table of importers into docs/importing.md: `python -m tests.service.importers`."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from core.engine import Engine
from core.store.file import FileDatabase
from tests.core.fakes import Clock, WordEncoder
from tests.service.importers.bringing import bring
from tests.service.importers.fixtures import FIXTURES
from tests.service.importers.table import PAGE, row


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


def main() -> None:
    table = "\n".join(rows())
    text = PAGE.read_text("utf-8")
    text = re.sub("<!-- table -->.*<!-- /table -->", f"<!-- table -->\n{table}\n<!-- /table -->", text, flags=re.DOTALL)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
