"""Every field of another system's file is kept somewhere, or is on the list of lost fields, with the reason."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from muisti.core.engine import Engine
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.bringing import bring
from tests.service.formats.importers.fields import LOST, fields_of, is_kept
from tests.service.formats.importers.fixtures import FIXTURES, Fixture
from tests.stores import at


def lost(fixture: Fixture, folder: Path) -> Mapping[str, object]:
    """The fields of a fixture of which no value is in the space that it came into, each with one that is lost."""
    path = folder / fixture.name
    fixture.make(path)
    with Engine(at(folder / "muisti.db").open(), WordEncoder(), Clock()) as engine:
        bring(engine, path, atomic=False)
        pages = engine.owner.read.export("default", "test", vectors=False).pages()
        kept = b"\n".join(msgspec.json.encode(record) for page in pages for record in page).decode().casefold()
    fields: defaultdict[str, list[object]] = defaultdict(list)
    for name, value in fields_of(path):
        if value not in (None, "", [], {}) and not isinstance(value, bool):
            fields[name].append(value)
    return {name: values[0] for name, values in fields.items() if not any(is_kept(value, kept) for value in values)}


@pytest.mark.parametrize("system", sorted({fixture.system for fixture in FIXTURES}))
def test_no_field_is_lost_without_a_reason(system: str, tmp_path: Path):
    found: dict[str, object] = {}
    for number, fixture in enumerate(one for one in FIXTURES if one.system == system):
        folder = tmp_path / str(number)
        folder.mkdir()
        found |= lost(fixture, folder)
    differing = {name: found.get(name) for name in found.keys() ^ LOST.get(system, {}).keys()}
    assert not differing, "keep these fields, or give the reason of each in LOST (fields.py)"
