"""Tokens of an issuer: what they open, and what they do not."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from litestar.testing import TestClient
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    handle_protected_resource_response,
)

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import API, draft
from tests.service.issuer import AUDIENCE, NAME, Issuer, SigningKey
from tests.service.keyed import administrator
from tests.stores import FileStore, Stores

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
PUBLIC = "https://memory.example"


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """On files alone: a token is judged before a database is asked."""
    return lambda: FileStore(tmp_path_factory.mktemp("store") / "muisti.db")


@pytest.fixture(scope="module")
def keys() -> dict[str, SigningKey]:
    return {name: SigningKey(name, f"key-{name}") for name in ALGORITHMS}


@pytest.fixture
def issuer(keys: dict[str, SigningKey]) -> Iterator[Issuer]:
    with Issuer(*keys.values()) as opened:
        yield opened


def settings(issuer: Issuer, **more: Any) -> Settings:
    names = {"jwks": issuer.url, "jwt_issuer": NAME, "jwt_audience": AUDIENCE, "public_url": PUBLIC}
    return Settings(**{**names, "jwt_algorithms": ",".join(ALGORITHMS), **more})


@pytest.fixture
def open_app(engine: Engine, issuer: Issuer) -> Callable[..., TestClient[Any]]:
    return lambda **more: TestClient(create_app(settings(issuer, **more), engine=engine))


@pytest.fixture
def client(open_app: Callable[..., TestClient[Any]]) -> Iterator[httpx.Client]:
    with open_app() as opened:
        yield opened


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_opens_what_it_says(client: httpx.Client, keys: dict[str, SigningKey]):
    for algorithm, key in keys.items():
        token = bearer(key.sign(scope="openid read append", muisti_spaces=["default"]))
        assert client.post(f"{API}/memories", json=draft(algorithm), headers=token).status_code == 201
        assert client.get("/v1/spaces", headers=token).json()["items"][0]["name"] == "default"


def test_what_a_token_does_not_name_it_does_not_open(client: httpx.Client, keys: dict[str, SigningKey], engine: Engine):
    engine.spaces.create("other")
    key = keys["ES256"]
    for claims, status in (
        ({"muisti_spaces": "default", "scope": None, "scp": ["read"]}, 200), ({"muisti_spaces": ["def*"]}, 200),
        ({"muisti_spaces": ["other"]}, 404), ({"muisti_spaces": None}, 404), ({"scope": "append"}, 403),
        ({"scope": None}, 403),
        ({"scope": "write delete"}, 403),  # neither is valid without read
    ):  # fmt: skip
        answer = client.get(f"{API}/stats", headers=bearer(key.sign(**claims)))
        assert answer.status_code == status, claims
    assert answer.json()["code"] == "forbidden"
    challenge = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope", scope="read"' in challenge and "resource_metadata=" in challenge


def test_scopes_may_have_a_prefix_and_spaces_another_claim(
    open_app: Callable[..., TestClient[Any]], keys: dict[str, SigningKey]
):
    names = {"jwt_scope_prefix": "muisti:", "jwt_spaces_claim": "https://a.example/spaces", "jwt_spaces": "default"}
    with open_app(**names) as client:
        sign = keys["RS256"].sign
        for claims, status in (
            ({"scope": "read"}, 403),
            ({"scope": "muisti:read"}, 200),  # of the spaces of tokens that name none
            ({"scope": "muisti:read", "https://a.example/spaces": ["other"]}, 404),
        ):
            assert client.get(f"{API}/stats", headers=bearer(sign(**claims))).status_code == status
        assert client.get("/.well-known/oauth-protected-resource").json()["scopes_supported"][0] == "muisti:read"


def test_a_token_does_what_a_key_does(client: httpx.Client, keys: dict[str, SigningKey], engine: Engine):
    everything = bearer(keys["EdDSA"].sign(scope="read append write delete admin"))
    made = client.post(f"{API}/memories", json=draft(), headers=everything).json()
    assert client.delete(f"{API}/memories/{made['id']}", headers=everything).status_code == 204
    items = client.get("/v1/audit", headers=everything).json()["items"]
    assert (items[0]["actor"], items[0]["action"]) == ("jwt:ada", "memory_deleted")
    key = {"name": "child", "mode": "read-only", "spaces": ["default"]}
    child = client.post("/v1/keys", json=key, headers=everything)
    assert child.status_code == 201 and child.json()["expires_at"] is not None  # no later than the token's
    assert client.post("/v1/keys", json=key, headers=bearer(keys["EdDSA"].sign())).status_code == 403
    assert client.get(f"{API}/stats", headers=administrator(engine).headers).status_code == 200
    assert client.get(f"{API}/stats").status_code == 401


def segment(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def unsigned(key: SigningKey) -> str:
    """The claims of a good token under the algorithm `none`."""
    head = segment(json.dumps({"alg": "none", "kid": key.id}).encode())
    return f"{head}.{key.sign().split('.')[1]}."


def confused(key: SigningKey) -> str:
    """Return a token that is signed with the public key as if it were a shared secret (algorithm confusion)."""
    head = segment(json.dumps({"alg": "HS256", "kid": key.id}).encode())
    signed = f"{head}.{key.sign().split('.')[1]}"
    public = json.dumps(key.public()).encode()
    return f"{signed}.{segment(hmac.new(public, signed.encode(), hashlib.sha256).digest())}"


BAD: dict[str, Callable[[SigningKey], str]] = {
    "the token has expired": lambda key: key.sign(exp=int(time.time()) - 60),
    "the token is not valid yet": lambda key: key.sign(nbf=int(time.time()) + 600),
    "its aud is not": lambda key: key.sign(aud="https://other.example"),
    "another issuer": lambda key: key.sign(iss="https://issuer.example.evil"),
    "lacks one of": lambda key: key.sign(sub=None),
    "lacks one of exp": lambda key: key.sign(exp=None),
    "printable": lambda key: key.sign(sub="a\nb"),
    "must be signed with": unsigned,
    "must be signed with one": confused,
    "the signature": lambda key: SigningKey("RS256", key.id).sign(),
    "names a key": lambda key: SigningKey("RS256", "nobody's").sign(),
    "a key that its issuer does not": lambda key: SigningKey("ES256", key.id).sign(),
    "must name spaces": lambda key: key.sign(muisti_spaces=["../etc"]),
    "is no list": lambda key: key.sign(scope={"read": True}),
    "cannot be read": lambda key: f"ey{'A' * 9}.{'x'}.y",
    "be read": lambda key: segment(b'{"a":' + b"[" * 20_000) + ".e30.e30",
}


def test_a_bad_token_opens_nothing_and_says_why(client: httpx.Client, keys: dict[str, SigningKey]):
    for why, make in BAD.items():
        answer = client.get(f"{API}/stats", headers=bearer(make(keys["RS256"])))
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized"), answer.text
        told = answer.headers["www-authenticate"]
        assert why in answer.json()["detail"] and 'Bearer realm="muisti", error="invalid_token"' in told
        assert f'resource_metadata="{PUBLIC}/.well-known/oauth-protected-resource"' in told


def test_clocks_may_differ_by_half_a_minute(client: httpx.Client, keys: dict[str, SigningKey]):
    token = keys["RS256"].sign(exp=int(time.time()) - 10, nbf=int(time.time()) + 10)
    assert client.get(f"{API}/stats", headers=bearer(token)).status_code == 200


def test_without_tokens_there_is_no_metadata(engine: Engine):
    with TestClient(create_app(Settings(), engine=engine)) as client:
        for path in ("", "/mcp"):
            answer = client.get(f"/.well-known/oauth-protected-resource{path}")
            assert (answer.status_code, answer.json()["code"]) == (404, "no_route")
        assert "resource_metadata" not in client.get("/v1/spaces", headers=bearer("mk_x")).headers["www-authenticate"]


def test_a_client_of_mcp_finds_out_where_tokens_come_from(client: httpx.Client):
    """With the functions of the official SDK, from the refusal to the metadata."""
    refused = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    response = httpx2.Response(refused.status_code, headers=dict(refused.headers))
    assert refused.status_code == 401 and extract_scope_from_www_auth(response) is None
    told = extract_resource_metadata_from_www_auth(response)
    urls = build_protected_resource_metadata_discovery_urls(told, f"{PUBLIC}/mcp")
    assert urls[0] == urls[1] == f"{PUBLIC}/.well-known/oauth-protected-resource/mcp"
    for url, resource in ((urls[0], f"{PUBLIC}/mcp"), (urls[2], PUBLIC)):
        answer = client.get(url.removeprefix(PUBLIC))
        request = httpx2.Request("GET", url)
        copied = httpx2.Response(200, content=answer.content, headers=dict(answer.headers), request=request)
        found = anyio.run(handle_protected_resource_response, copied)
        assert found is not None
        assert str(found.resource).rstrip("/") == resource
        assert [str(server).rstrip("/") for server in found.authorization_servers] == [NAME]
        assert found.scopes_supported == ["read", "append", "write", "delete"]
        assert found.bearer_methods_supported == ["header"]


def test_without_a_public_url_the_metadata_names_the_server_as_it_was_called(open_app: Callable[..., TestClient[Any]]):
    with open_app(public_url=None) as client:
        for host, name in (("memory.local:8321", "memory.local:8321"), ("a,b", "localhost")):
            headers = {"Host": host}
            found = client.get("/.well-known/oauth-protected-resource/mcp", headers=headers).json()
            assert found["resource"] == f"http://{name}/mcp"
            refused = client.post("/mcp", headers=headers).headers["www-authenticate"]
            assert refused.count(f'"http://{name}/.well-known/oauth-protected-resource/mcp"') == 1
