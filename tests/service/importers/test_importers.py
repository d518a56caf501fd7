"""Every importer: what its files hold comes in, once, and what is bad in them is named."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from core.engine import Engine
from core.errors import InvalidInput
from core.records import VersionLine
from service.importers.reading import recognised
from service.importers.sources import Source
from tests.core.fakes import Clock, WordEncoder
from tests.service.importers.bringing import bring
from tests.service.importers.fixtures import FIXTURES, Fixture
from tests.stores import at


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(at(tmp_path_factory.mktemp("importers") / "muisti.db").open(), WordEncoder(), Clock()) as opened:
        yield opened


@pytest.fixture
def space(engine: Engine, request: pytest.FixtureRequest) -> Iterator[str]:
    engine.create_space("here")
    yield "here"
    engine.delete_space("here")


def made(fixture: Fixture, folder: Path) -> Path:
    path = folder / fixture.name
    fixture.make(path)
    return path


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
def test_what_a_file_holds_comes_in_and_nothing_the_second_time(
    engine: Engine, space: str, fixture: Fixture, tmp_path: Path
):
    path = made(fixture, tmp_path)
    before = path.read_bytes() if path.is_file() else b""
    assert recognised(Source(path)) == fixture.system
    if fixture.failed:
        with pytest.raises(InvalidInput, match=r"line \d+ \("):
            bring(engine, path, space)
        assert engine.stats(space).versions == 0
    report, reading = bring(engine, path, space, atomic=not fixture.failed)
    stored = [memory for memory in listed(engine, space)]
    assert sorted(stored) == sorted(fixture.texts)
    assert (report.created, report.failed, dict(reading.skipped)) == (
        len(fixture.texts), fixture.failed, dict(fixture.skipped)
    )  # fmt: skip
    assert all(bad.place for bad in report.failures)
    seq = engine.get_space(space).seq
    again, _ = bring(engine, path, space, atomic=not fixture.failed)
    assert (again.created, again.skipped, again.import_id) == (0, {"exists": report.created}, None)
    assert engine.get_space(space).seq == seq and (path.read_bytes() if path.is_file() else b"") == before


def listed(engine: Engine, space: str) -> Iterator[str]:
    """The contents of all memories, superseded ones too."""
    for page in engine.export(space, "test", vectors=False).pages():
        for record in page:
            if isinstance(record, VersionLine):
                yield msgspec.json.decode(record.memory)["content"]
