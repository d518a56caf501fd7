"""Vectors of texts: as model2vec computes them, and what our models may say besides."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model2vec import StaticModel
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from muisti.core.embedding.encoder import SHIPPED, StaticEncoder, Tokens
from muisti.core.kernels.pooling import pool_tokens
from muisti.core.model.errors import InvalidInput
from tests.core import twins

WORDS = ["[UNK]", "red", "green", "blue", "lamp", "lake"]
texts = st.lists(st.sampled_from([*WORDS[1:], "nowhere"]), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with weights, and fewer vectors than tokens."""
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()  # pyright: ignore[reportAttributeAccessIssue]  # a property without setter type
    rng = np.random.default_rng(7)
    model = StaticModel(
        rng.standard_normal((3, 16)).astype(np.float32), tokenizer, normalize=True,
        weights=rng.random(len(WORDS)).astype(np.float32), token_mapping=np.array([0, 1, 2, 0, 1, 2]), max_length=None,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("models") / "small"
    model.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def reference(folder: Path) -> StaticModel:
    return StaticModel.from_pretrained(folder)


@given(st.lists(texts, min_size=1, max_size=20))
def test_vectors_are_those_of_model2vec(folder: Path, reference: StaticModel, asked: list[str]):
    wanted = np.asarray(reference.encode(asked), np.float32)
    np.testing.assert_allclose(StaticEncoder(str(folder)).encode(asked), wanted, atol=1e-6)


def test_vectors_of_the_shipped_model_are_those_of_model2vec():
    asked = ["How do I reset my password?", "def get_user(name): pass", "版本 3", "", "la la la la land"] * 4
    shipped = StaticModel.from_pretrained(SHIPPED)
    found = StaticEncoder().encode(asked)
    config = json.loads((SHIPPED / "config.json").read_text("utf-8"))
    if "repeats" not in config and shipped.weights is None:
        np.testing.assert_allclose(found, shipped.encode(asked, max_length=None), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1, 1, 1, 0, 1] * 4, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.booleans(), st.sampled_from([np.int8, np.float32]))
def test_pooling_agrees_with_numpy(seed: int, count: int, damped: bool, dtype: type):
    rng = np.random.default_rng(seed)
    table = rng.integers(-127, 128, (5, 16)).astype(dtype)
    places, weights = rng.integers(0, 5, 9), rng.random(9).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 12, count))]).astype(np.int64)
    tokens = rng.integers(0, 9, starts[-1])
    found, wanted = np.empty((count, 16), np.float32), np.empty((count, 16), np.float32)
    pool_tokens(table, places, weights, tokens, starts, damped, found)
    twins.pool_tokens(table, places, weights, tokens, starts, damped, wanted)
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_questions_have_weights_of_their_own_and_repetitions_may_count_less(folder: Path, tmp_path: Path):
    ours = Path(shutil.copytree(folder, tmp_path / "ours"))
    arrays = load_file(ours / "model.safetensors")
    heavy = np.where(np.arange(len(WORDS)) == WORDS.index("red"), 1, 0).astype(np.float32)
    save_file(arrays | {"query_weights": heavy}, ours / "model.safetensors")
    config = json.loads((ours / "config.json").read_text("utf-8"))
    (ours / "config.json").write_text(json.dumps(config | {"repeats": "sqrt"}), "utf-8")
    plain, encoder = StaticEncoder(str(folder)), StaticEncoder(str(ours))
    np.testing.assert_allclose(encoder.encode_query("red lake"), encoder.encode(["red"])[0], atol=1e-6)
    twice, four = plain.encode(["red red lake"])[0], "red red red red lake"
    np.testing.assert_allclose(encoder.encode([four])[0], twice, atol=1e-6)
    assert encoder.identity != plain.identity


def test_without_weights_of_its_own_a_question_has_the_vector_of_its_text_and_cannot_be_changed(folder: Path):
    encoder = StaticEncoder(str(folder))
    vector = encoder.encode_query("red lake")
    np.testing.assert_allclose(vector, encoder.encode(["red lake"])[0], atol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_spoilt_model_is_refused_by_name(tmp_path: Path, missing: str):
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "model"))
    for spoil in (lambda path: path.write_text("{"), Path.unlink):
        spoil(folder / missing)
        with pytest.raises(InvalidInput, match="no static model that can be loaded"):
            StaticEncoder(str(folder)).encode(["x"])


def test_vectors_that_do_not_fit_the_tokenizer_are_refused(folder: Path, tmp_path: Path):
    other = Path(shutil.copytree(SHIPPED, tmp_path / "model"))
    shutil.copy(folder / "tokenizer.json", other)
    with pytest.raises(InvalidInput, match="do not fit the 6 tokens"):
        StaticEncoder(str(other)).encode(["x"])


def test_the_shipped_model_puts_like_beside_like():
    encoder = StaticEncoder()
    vectors = encoder.encode(["How do I reset my password?", "password reset instructions", "The cat sat on the mat."])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3
    assert encoder.identity == StaticEncoder().identity
    assert len(TOKENS) == TOKENIZER.get_vocab_size() and TOKENS.unknown == TOKENIZER.token_to_id("[UNK]")


def test_a_limit_of_the_model_never_cuts_a_passage_whatever_other_threads_do(tmp_path: Path):
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "model"))
    limited = json.loads((folder / "config.json").read_text("utf-8")) | {"max_length": 4}
    (folder / "config.json").write_text(json.dumps(limited), "utf-8")
    texts = [
        f"a rather long note about item {n} that goes on and on about lamps, lakes and libraries" for n in range(40)
    ]
    wanted, encoder = StaticEncoder().encode(texts), StaticEncoder(str(folder))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: encoder.encode([texts[n % 40]])[0], range(400)))
    for n, vector in enumerate(found):
        np.testing.assert_allclose(vector, wanted[n % 40], atol=1e-6)


RULES = (SHIPPED / "tokenizer.json").read_bytes()
TOKENIZER = Tokenizer.from_buffer(RULES)
TOKENS = Tokens(RULES)
PIECES = ["[UNK]", "[PAD]", "Ann", "’s", "naïve", "\x00", "\x1f", "\n", "\t", " ", "  ", "-", "_", "3.5", "版本",
          "e\u0301", "\u0301", "\u3000", "\u00a0", "\u200d", "ﬁ", "İ", "x" * 101, "don't", "#", "[", "UNK]", "🙂",
          "\x7f", "\x85"]  # fmt: skip


@given(
    st.lists(
        st.one_of(st.sampled_from(PIECES), st.text(max_size=5), st.from_regex(r"[A-Za-z0-9]{1,12}", fullmatch=True)),
        max_size=12,
    ).map("".join)
)
def test_words_have_the_tokens_that_they_have_within_their_text(text: str):
    tokens, starts = TOKENS.of([text, text])
    assert tokens.tolist() == 2 * TOKENIZER.encode(text, add_special_tokens=False).ids
    assert starts.tolist() == [0, len(tokens) // 2, len(tokens)]


def test_no_text_loads_the_library():
    assert loads_library("What did Ann say of port 5432? Wo ist Łódź? 版本 [UNK] \x1f") is False


@pytest.mark.parametrize("library", ["huggingface_hub", "tokenizers"])
def test_a_model_that_needs_another_package_names_the_extra(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model = "someone/a-model"
    if library == "tokenizers":
        model = str(shutil.copytree(SHIPPED, tmp_path / "model"))
        rules = json.loads(RULES) | {"pre_tokenizer": {"type": "Whitespace"}}
        (tmp_path / "model" / "tokenizer.json").write_text(json.dumps(rules), "utf-8")
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InvalidInput, match=rf"needs {library}.*muisti\[models\]"):
        StaticEncoder(model).encode(["text"])


def loads_library(text: str) -> bool:
    """Whether a new process has loaded the tokenizer's library when it has embedded a text."""
    program = (
        f"import sys\nfrom muisti.core.embedding.encoder import StaticEncoder\nStaticEncoder().encode_query({text!r})\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program + "print('tokenizers' in sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    )
    return found.stdout.strip() == "True"
