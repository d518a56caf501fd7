"""The encoder of an endpoint against a real server that fails in every way."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from muisti.core.embedding.models import PROBES, recognise
from muisti.core.model.errors import ModelUnavailable
from muisti.core.support.memo import Reread
from muisti.core.support.waiting import WouldWait, without_waiting
from muisti.service.outgoing.addresses import Allowed
from muisti.service.providers.endpoint import Endpoint, EndpointEncoder
from muisti.service.runtime.models import allowed_by
from muisti.service.settings import Settings
from tests.core.fakes import WordEncoder
from tests.service.providers import embedding_server as fakes
from tests.service.providers.embedding_server import EmbeddingServer, embedding_server

KEY = "sk-a-secret-that-nobody-may-see"
TEXTS = ["the river is wide", "a stone in the lamp", "winter market garden", "signal of the engine", "harbour letter"]


MADE: list[EndpointEncoder] = []


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server
        for made in MADE:
            made.close()
        MADE.clear()


class Pauses(list[float]):
    """Stands for waiting between tries, and keeps how long each was."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def encoder(server: EmbeddingServer, pauses: Pauses | None = None, **changes: object) -> EndpointEncoder:
    """An encoder that knows its model."""
    made = unsettled(server, pauses, **changes)
    made.settle(recognise(made.configuration, made.probe(), []))
    server.asked.clear()
    server.headers.clear()
    return made


def unsettled(server: EmbeddingServer, pauses: Pauses | None = None, **changes: object) -> EndpointEncoder:
    values = {"url": server.url, "model": "words", "key": KEY, "seconds": 5.0, "query_seconds": 5.0, **changes}
    endpoint = Endpoint(**values)
    allowed = Allowed((f"127.0.0.1:{server.server_port}",), private=True)
    MADE.append(EndpointEncoder(endpoint, allowed, Pauses() if pauses is None else pauses))
    return MADE[-1]


@pytest.mark.parametrize("form", ["float", "base64"])
def test_vectors_are_those_of_the_model_in_the_order_of_the_texts(server: EmbeddingServer, form: str):
    made = encoder(server, form=form)
    assert np.allclose(made.encode(TEXTS), WordEncoder().encode(TEXTS), atol=1e-6)
    assert np.allclose(made.encode_query("the lamp"), WordEncoder().encode_query("the lamp"), atol=1e-6)
    assert server.asked[0]["encoding_format"] == form
    assert made.encode([]).shape == (0, 64)


def test_requests_are_bounded_in_texts_and_in_tokens(server: EmbeddingServer):
    made = encoder(server, items=3)
    assert np.allclose(made.encode(TEXTS), WordEncoder().encode(TEXTS), atol=1e-6)
    assert [len(body["input"]) for body in server.asked] == [3, 3, 2]  # each with a probe
    made = encoder(server, tokens=100)
    long = ["word " * 60, "other " * 60, "third " * 60]
    assert np.allclose(made.encode(long), WordEncoder().encode(long), atol=1e-6)
    assert [len(body["input"]) for body in server.asked] == [2, 2, 2]


def test_prefixes_go_before_passages_and_queries(server: EmbeddingServer):
    made = encoder(server, query_prefix="query: ", passage_prefix="passage: ", dimensions=64)
    made.encode(["a text"])
    made.encode_query("a question")
    assert [body["input"] for body in server.asked] == [
        [f"passage: {PROBES[0]}", "passage: a text"],
        ["query: a question"],
    ]
    assert all(body["dimensions"] == 64 for body in server.asked)
    assert made.identity != encoder(server).identity


def test_the_key_is_sent_and_read_again_when_its_file_changes(server: EmbeddingServer, tmp_path: Path):
    file = tmp_path / "key"
    file.write_text("first\n")
    made = encoder(server, key=None, key_file=Reread(file))
    made.encode(["a"])
    file.write_text("second key\n")
    made.encode(["a"])
    assert [headers["Authorization"] for headers in server.headers] == ["Bearer first", "Bearer second key"]
    file.unlink()
    with pytest.raises(ModelUnavailable, match="file with its key cannot be read"):
        made.encode(["a"])


FAULTS = {
    "500": (fakes.status(500), "answered 500"),
    "timeout": (fakes.late(0.6), "in time"),
    "trickle": (fakes.trickling, "in time"),
    "lacks one": (fakes.changed(lambda items: items[1:]), "other places"),
    "twice": (fakes.changed(lambda items: [*items[1:], items[1]]), "other places"),
    "dimensions": (
        fakes.changed(lambda items: [{**item, "embedding": item["embedding"][:-1]} for item in items]),
        "63 dimensions instead of 64",
    ),
    "unlike": (
        fakes.changed(lambda items: [*items[:-1], {**items[-1], "embedding": [1.0]}]),
        "1 dimensions instead of 64",
    ),
    "nan": (
        fakes.changed(lambda items: [{**item, "embedding": [1e999, *item["embedding"][1:]]} for item in items]),
        "not finite|no list",
    ),
    "zeros": (fakes.changed(lambda items: [{**item, "embedding": [0.0] * 64} for item in items]), "have no length"),
    "base64": (fakes.changed(lambda items: [{**item, "embedding": "%%%"} for item in items]), "not base64"),
    "truncated": (fakes.truncated, "did not answer: RemoteProtocolError"),
    "garbage": (fakes.garbage, "no list of embeddings"),
}


SLOW = ("timeout", "trickle")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_tried_again_and_a_lasting_one_is_told(server: EmbeddingServer, name: str):
    fault, why = FAULTS[name]
    pauses = Pauses()
    made = encoder(server, pauses, seconds=0.3 if name in SLOW else 10.0)
    server.faults = [fault, fault]
    assert np.allclose(made.encode(TEXTS), WordEncoder().encode(TEXTS), atol=1e-6)
    assert pauses == [1.0, 2.0]
    server.always = fault
    with pytest.raises(ModelUnavailable, match=why):
        made.encode(TEXTS)


def test_after_some_failures_the_endpoint_is_left_alone(server: EmbeddingServer):
    made = encoder(server)
    server.always = fakes.status(503)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="answered 503"):
            made.encode(["a"])
    assert len(server.asked) == 3
    with pytest.raises(ModelUnavailable, match="answered 503"):
        made.encode_query("a")
    assert len(server.asked) == 3


def test_a_short_retry_after_is_waited_for_and_a_long_one_is_not(server: EmbeddingServer):
    pauses = Pauses()
    made = encoder(server, pauses)
    server.faults = [fakes.status(429, retry_after="3")]
    with pytest.raises(ModelUnavailable, match="answered 429"):  # because no time passes in this test
        made.encode(["a"])
    assert pauses == [3.0]
    made, pauses[:] = encoder(server, pauses), []
    server.faults = [fakes.status(429, retry_after="120")]
    with pytest.raises(ModelUnavailable, match="answered 429"):
        made.encode(["a"])
    assert pauses == []


@pytest.mark.parametrize("code", [301, 307, 401, 403, 404])
def test_what_a_retry_does_not_change_is_not_tried_again(server: EmbeddingServer, code: int):
    made = encoder(server)
    server.always = fakes.status(code, location="http://127.0.0.1:1/")
    with pytest.raises(ModelUnavailable, match=f"answered {code}"):
        made.encode(["a"])
    assert len(server.asked) == 1


def test_a_text_that_the_endpoint_refuses_gets_no_vector_and_stops_no_other(server: EmbeddingServer):
    made = encoder(server)
    server.always = fakes.refuses_long
    texts = [*TEXTS, "far too long " * 20, "short again"]
    vectors = made.encode(texts)
    assert not vectors[5].any()
    others = [0, 1, 2, 3, 4, 6]
    assert np.allclose(vectors[others], WordEncoder().encode([texts[place] for place in others]), atol=1e-6)


def test_an_endpoint_that_refuses_everything_is_not_taken_for_one_that_refuses_a_text(server: EmbeddingServer):
    made = encoder(server)
    server.always = fakes.status(400)
    with pytest.raises(ModelUnavailable, match="answered 400"):
        made.encode(TEXTS)
    assert len(server.asked) == 2


def test_vectors_of_a_model_that_has_changed_are_never_taken(server: EmbeddingServer):
    made = encoder(server)
    before = made.identity
    server.encoder = WordEncoder("another")
    with pytest.raises(ModelUnavailable, match="has another model now"):
        made.encode(TEXTS)
    made.settle(recognise(made.configuration, made.probe(), []))
    assert made.identity != before
    assert np.allclose(made.encode(TEXTS), WordEncoder("another").encode(TEXTS), atol=1e-6)


def test_the_identity_bears_small_differences_and_no_others(server: EmbeddingServer):
    made = unsettled(server)
    first = recognise(made.configuration, made.probe(), [])
    noise = np.random.default_rng(1).standard_normal(first.vectors.shape) * 1e-3
    again = (first.vectors + noise).astype(np.float32)
    again /= np.linalg.norm(again, axis=1, keepdims=True)
    assert recognise(made.configuration, again, [first]) is first
    other = np.roll(first.vectors, 1, axis=1)
    assert recognise(made.configuration, other, [first]).identity != first.identity


def test_before_the_first_answer_the_model_is_unavailable(server: EmbeddingServer):
    made = unsettled(server)
    assert made.identity.endswith("0" * 16)
    for ask in (lambda: made.encode(["a"]), lambda: made.encode_query("a")):
        with pytest.raises(ModelUnavailable, match="has not answered yet"):
            ask()
    assert server.asked == []


def test_a_query_waits_no_longer_than_its_budget_and_is_remembered(server: EmbeddingServer):
    made = encoder(server, query_seconds=0.2)
    server.faults = [fakes.late(0.3)]
    with pytest.raises(ModelUnavailable, match=r"within 0\.2 s"):
        made.encode_query("the river")
    made.close()  # waits for the late answer
    with without_waiting():
        assert np.allclose(made.encode_query("the river"), WordEncoder().encode_query("the river"), atol=1e-6)
        with pytest.raises(WouldWait):
            made.encode_query("the stone")
    assert len(server.asked) == 1


def test_no_secret_and_no_text_is_in_an_error(server: EmbeddingServer):
    for name, (fault, _) in FAULTS.items():
        made = encoder(server, seconds=0.3 if name in SLOW else 10.0)
        server.always = fault
        with pytest.raises(ModelUnavailable) as raised:
            made.encode(["a private text"])
        server.always = None
        chain, error = "", raised.value
        while error is not None:
            chain += repr(error)
            error = error.__cause__
        assert KEY not in chain and "private" not in chain
    assert KEY not in repr(unsettled(server)) + str(vars(encoder(server))["_poster"])


@pytest.mark.parametrize(("url", "private", "why"), [
    ("http://10.0.0.1/v1", False, "must begin with https"),
    ("https://10.0.0.1/v1", False, "private network .MUISTI_EMBEDDING_PRIVATE"),
    ("https://169.254.169.254/v1", False, "private network"), ("https://[fd00::1]/v1", False, "private network"),
])  # fmt: skip
def test_a_request_goes_only_where_it_may(url: str, private: bool, why: str):
    settings = Settings(embedding_url=url, embedding_model="m", embedding_private=private)
    made = EndpointEncoder(Endpoint(url=url, model="m"), allowed_by(settings), Pauses())
    with pytest.raises(ModelUnavailable, match=f"may not be asked: .*{why}"):
        made.probe()


@pytest.mark.parametrize("url", ["http://localhost:11434/v1", "http://127.0.0.1:8080", "http://[::1]:80/v1"])
def test_this_machine_may_be_named_outright(url: str):
    allowed = allowed_by(Settings(embedding_url=url, embedding_model="m"))
    assert allowed.check(url + "/embeddings")[0].path.endswith("/embeddings")


def test_waiting_between_tries_ends_when_the_server_stops(server: EmbeddingServer):
    made = EndpointEncoder(
        Endpoint(url=server.url, model="words"), Allowed((f"127.0.0.1:{server.server_port}",), private=True)
    )
    server.always = fakes.status(500)
    made.stop()
    with pytest.raises(ModelUnavailable, match="no longer asked"):
        made.probe()
    assert server.asked == []
