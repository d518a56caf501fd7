"""Damaged files never crash an importer, never come in by half, and the place of the damage is named."""

from pathlib import Path

from core.engine import Engine
from core.values import Draft
from service.lines import compressed, encoded
from tests.core.fakes import Clock, WordEncoder
from tests.service.importers.fixtures import Fixture
from tests.service.importers.mutants import tally
from tests.stores import at


def own(data: bytes, name: str) -> Fixture:
    """An export of Muisti itself."""

    def make(path: Path) -> None:
        path.write_bytes(data)

    return Fixture("muisti", name, make, ())


def test_a_damaged_file_is_refused_as_a_whole_and_its_place_is_named(tmp_path: Path, long: bool):
    with Engine(at(tmp_path / "from.db").open(), WordEncoder(), Clock()) as source:
        source.add("default", [Draft(content=f"memory {n} of a space") for n in range(5)], on_conflict="keep")
        out = b"".join(encoded(page) for page in source.export("default", "test", vectors=True).pages())
    more = [own(out, "export.ndjson"), own(b"".join(compressed([out])), "export.ndjson.zst")]
    with Engine(at(tmp_path / "to.db").open(), WordEncoder(), Clock()) as engine:
        told = tally(engine, 1_000 if long else 40, tmp_path, more)
    if long:
        assert told["came in whole"] > 50 and told["refused, or without the bad lines (`--each`)"] > 200
    assert sum(told.values()) == (1_000 if long else 40)
