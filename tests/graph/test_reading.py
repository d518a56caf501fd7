"""The sweep of the graph reads a space that is quiet, or far behind, and leaves one alone that is written to."""

import pytest

from muisti.core.engine import Engine
from muisti.service.background import tasks as graph
from muisti.service.background.tasks import GraphReading
from tests.core.fakes import SPACE, add, open_engine
from tests.graph.plain import toy_reader
from tests.stores import Stores


def looks(engine: Engine, reading: GraphReading) -> list[str]:
    return [one for one in reading.where(engine, 0) if one == SPACE]


def test_a_space_is_read_when_little_was_written_between_two_looks(stores: Stores, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graph, "QUIET", 0)
    with open_engine(stores(), graph_reader=toy_reader) as engine:
        reading = GraphReading()
        for text in ("Ann met Bob", "Bob met Carl", "Carl met Dora"):
            add(engine, text)
            assert looks(engine, reading) == []
        assert looks(engine, reading) == [SPACE]
        assert not reading.step(engine, SPACE, 0)
        assert engine.owner.graph.status(SPACE).pending == 0
        assert looks(engine, reading) == []
        monkeypatch.setattr(graph, "MANY", 1)
        add(engine, "Eve met Ann", "Eve met Bob")
        assert looks(engine, reading) == [SPACE]
        monkeypatch.setattr(graph, "MANY", 100)
        add(engine, "Eve met Bob again", "Eve met Carl")
        assert looks(engine, reading) == []
        monkeypatch.setattr(graph, "QUIET", 1)
        add(engine, "Eve met Dora")
        assert looks(engine, reading) == [SPACE]
