"""The fast path and the general path give the same status, the same headers and the same body."""

from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app import fast_path
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import API, draft

pytestmark = pytest.mark.one_store

SHORT = "application/json"
LONG = "application/json; charset=utf-8"  # the same, and not plain
VARYING = frozenset({"x-request-id", "server-timing", "muisti-seq", "etag", "location"})

REQUESTS: list[tuple[str, bytes]] = [
    (f"{API}/search", b'{"query": "deploy on friday"}'),
    (
        f"{API}/search",
        b'{"query": "deploy", "mode": "keyword", "explain": true, "reference_time": "2027-01-01T00:00:00Z"}',
    ),
    (f"{API}/search", b'{"query": "deploy", "highlight": true, "limit": 1}'),
    (f"{API}/search", b'{"query": "nothing of the kind", "min_evidence": "strong"}'),
    (f"{API}/search", b'{"query": "x", "limit": 0}'),
    (f"{API}/search", b'{"query": "x", "mode": "telepathy"}'),
    (f"{API}/search", b'{"quary": "x"}'),
    (f"{API}/search", b'{"query": '),
    (f"{API}/search", b'{"query": "\xff"}'),
    (f"{API}/search", b""),
    (f"{API}/search", b"[" * 100_000),
    ("/v1/spaces/nowhere/search", b'{"query": "x"}'),
    (f"{API}/memories", b'{"content": "Never deploy on a Friday."}'),
    (f"{API}/memories", b'{"content": ""}'),
    (f"{API}/memories", b'{"content": "x", "on_conflict": "maybe"}'),
    ("/v1/spaces/nowhere/memories", b'{"content": "x"}'),
]


@pytest.mark.parametrize(("path", "body"), REQUESTS, ids=[f"{path} {body[:40]!r}" for path, body in REQUESTS])
def test_both_ways_answer_alike(client: httpx.Client, path: str, body: bytes):
    client.post(f"{API}/memories", json=draft("Never deploy on a Friday."))
    short, long = (client.post(path, content=body, headers={"Content-Type": kind}) for kind in (SHORT, LONG))
    assert seen(short) == seen(long)


def test_an_idempotency_key_takes_the_long_way_and_is_honoured(client: httpx.Client):
    answers = [client.post(f"{API}/memories", json=draft("once"), headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotent-replayed"] == "true"


def test_a_body_over_the_limit_is_too_large(engine: Engine):
    with TestClient(create_app(Settings(body_limit=10_000), engine=engine)) as client:
        answer = client.post(f"{API}/search", json={"query": "x" * 20_000})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_fault_is_answered_and_told_without_content(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    canary = "".join(reversed("terces"))  # the log shows lines of the program

    async def broken(*_: object) -> Any:
        raise RuntimeError(canary)

    way = fast_path.Way("/v1/spaces/{space}/search", fast_path.SearchBody, broken, "read")
    monkeypatch.setattr(fast_path, "WAYS", {"/search": way})
    answer = client.post(f"{API}/search", json={"query": "x"})
    logs = [vars(record) for record in caplog.records]
    assert [line["error"] for line in logs if line["msg"] == "crash"] == ["RuntimeError"]
    assert "secret" not in str(logs)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text


def seen(answer: httpx.Response) -> tuple[int, dict[str, str], Any]:
    headers = {name: value for name, value in answer.headers.items() if name not in VARYING}
    return answer.status_code, headers, answer.json()
