"""Damaged files never crash an importer and are never half stored, and the error names the place of the damage."""

from pathlib import Path

from muisti.core.engine import Engine
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.mutants import BAD, MUTANTS, WHOLE, exports, tally
from tests.stores import at


def test_a_damaged_file_is_refused_as_a_whole_and_its_place_is_named(tmp_path: Path, long: bool):
    count = MUTANTS if long else 40
    with Engine(at(tmp_path / "to.db").open(), WordEncoder(), Clock()) as engine:
        outcomes = tally(engine, count, tmp_path, exports(tmp_path))
    if long:
        assert outcomes[WHOLE] > 50 and outcomes[BAD] > 200
    assert sum(outcomes.values()) == count
