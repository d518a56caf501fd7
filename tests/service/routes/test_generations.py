"""The models of a space over HTTP: a key that only reads learns their names, and not where they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder, add
from tests.service.fakes import API
from tests.service.keyed import administrator, caller
from tests.stores import at

pytestmark = pytest.mark.one_store

HOST, FOLDER = "models.example:8080", "/srv/private"
NAMES = [f"words@{HOST}", f"onnx:{FOLDER}/further"]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    encoders = [WordEncoder(str(number), name=name) for number, name in enumerate(NAMES)]
    with Engine(at(tmp_path / "a.db").open(), encoders[0], Clock(), others=encoders[1:]) as engine:
        add(engine, "red fox", space="default")
        yield engine


def test_places_of_models_are_for_administrators(engine: Engine):
    reader, owner = caller(engine, ("read",)), administrator(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        seen = client.get(f"{API}/generations", headers=reader.headers)
        assert [one["model"] for one in seen.json()["items"]] == ["words"]
        assert seen.json()["models"] == ["words", "onnx:further"]
        assert HOST not in seen.text and FOLDER not in seen.text
        whole = client.get(f"{API}/generations", headers=owner.headers).json()
        assert [one["model"] for one in whole["items"]] == NAMES[:1] and whole["models"] == NAMES
