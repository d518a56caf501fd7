"""The keys of an issuer: which are taken, from where, how often, and what an attacker cannot make of it."""

import asyncio
import json
from pathlib import Path

import pytest

from muisti.service.auth.tokens import (
    LIFETIME_SECONDS,
    PAUSE_SECONDS,
    SIZE_MAX,
    STALE_SECONDS,
    FileSource,
    IssuerKeys,
    Source,
    Unreadable,
    UrlSource,
    read_keys,
    source_of,
)
from muisti.service.schemas.errors import HttpError
from muisti.service.settings import SettingsError, load
from tests.service.issuer import Issuer, SigningKey


@pytest.fixture(scope="module")
def keys() -> dict[str, SigningKey]:
    return {name: SigningKey(name, f"key-{name}") for name in ("RS256", "ES256")}


def test_only_public_keys_for_signatures_are_taken_from_an_issuer(keys: dict[str, SigningKey]):
    key = keys["RS256"]
    jwks = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}, key.public(use="enc"), key.public(alg="HS256"),
        key.public(alg="RSA-OAEP"), {**key.public(), "d": "AQAB"}, {"kty": "EC", "crv": "P-256", "x": "!", "y": ["?"]},
        key.public(kid="good", use="sig", x5c=["..."]),
    ]  # fmt: skip
    assert [one.id for one in read_keys(json.dumps({"keys": jwks}).encode())] == ["good"]
    for bad in (b"", b"[]", b"{}", b'{"keys": 1}', b"<html>", b"[" * 100_000, b"\xff"):
        with pytest.raises(ValueError):
            read_keys(bad)


class Copied:
    """A key source whose answer a test sets, and which counts its reads."""

    def __init__(self, *keys: SigningKey) -> None:
        self.readings, self.down = 0, False
        self.publish(*keys)

    def publish(self, *keys: SigningKey) -> None:
        self._body = json.dumps({"keys": [key.public() for key in keys]}).encode()

    async def read(self) -> bytes:
        self.readings += 1
        if self.down:
            raise Unreadable("down")
        return self._body

    async def close(self) -> None:
        pass


def test_keys_are_read_once_and_again_when_one_is_new(keys: dict[str, SigningKey]):
    async def work() -> None:
        old, new = keys["RS256"], keys["ES256"]
        source, now = Copied(old), [0.0]
        known = IssuerKeys(source, lambda: now[0])
        for _ in range(3):
            assert await known.find(old.id, "RS256") is not None
        assert source.readings == 1
        source.publish(new)
        for number in range(50):  # whoever guesses makes us ask no oftener
            assert await known.find(f"guess-{number}", "RS256") is None
        assert source.readings == 1
        now[0] += PAUSE_SECONDS
        assert await known.find(new.id, "ES256") is not None and source.readings == 2
        assert await known.find(None, "ES256") is not None and await known.find(None, "RS256") is None
        source.down = True
        now[0] += LIFETIME_SECONDS
        assert await known.find(new.id, "ES256") is not None  # while the issuer is down
        now[0] += STALE_SECONDS
        with pytest.raises(HttpError) as caught:
            await known.find(new.id, "ES256")
        assert caught.value.code == "issuer_unavailable"
        source.down = False
        now[0] += PAUSE_SECONDS
        assert await known.find(new.id, "ES256") is not None
        await known.close()

    asyncio.run(work())


def read(source: Source) -> bytes:
    async def work() -> bytes:
        try:
            return await source.read()
        finally:
            await source.close()

    return asyncio.run(work())


def test_the_keys_may_stand_in_a_file(tmp_path: Path):
    path = tmp_path / "jwks.json"
    with pytest.raises(Unreadable, match="No such file"):
        read(source_of(str(path)))
    path.write_bytes(b"{}")
    assert read(source_of(str(path))) == b"{}"
    path.write_bytes(b" " * (SIZE_MAX + 1))
    with pytest.raises(Unreadable, match="more than"):
        read(FileSource(path))


def test_a_url_leads_nowhere_else(tmp_path: Path, keys: dict[str, SigningKey]):
    secret = tmp_path / "secret"
    secret.write_text('{"keys": []}')
    with Issuer(*keys.values()) as inner, Issuer() as outer:
        for target in (inner.url, secret.as_uri(), "http://169.254.169.254/latest/meta-data"):
            for status in (301, 302, 307, 308):
                outer.answer = (status, {"Location": target}, b"")
                with pytest.raises(Unreadable, match=f"status {status}"):
                    read(UrlSource(outer.url))
        assert inner.asked == 0


def test_a_url_that_answers_badly_gives_no_keys():
    with Issuer() as issuer:
        issuer.answer = (200, {}, b" " * (SIZE_MAX + 1))
        with pytest.raises(Unreadable, match="more than"):
            read(UrlSource(issuer.url))
        issuer.answer = (200, {"Content-Length": "100"}, b"{")  # and then nothing more
        with pytest.raises(Unreadable, match="no answer|no whole answer"):
            read(UrlSource(issuer.url, seconds=0.2))
        issuer.answer = (503, {}, b"")
        with pytest.raises(Unreadable, match="503"):
            read(UrlSource(issuer.url))
        url = issuer.url
    with pytest.raises(Unreadable, match="ConnectError"):
        read(UrlSource(url))


def test_others_do_not_wait_for_an_issuer_that_does_not_answer(keys: dict[str, SigningKey]):
    class Hanging:
        def __init__(self) -> None:
            self.let_go = asyncio.Event()

        async def read(self) -> bytes:
            await self.let_go.wait()
            return json.dumps({"keys": [keys["RS256"].public()]}).encode()

        async def close(self) -> None:
            pass

    async def work() -> None:
        source = Hanging()
        known = IssuerKeys(source)
        gone, asking = (asyncio.create_task(known.find("key-RS256", "RS256")) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()  # a client that hangs up takes nothing away from the next
        source.let_go.set()
        assert await asking is not None
        await known.close()

    asyncio.run(work())


@pytest.mark.parametrize("place", [
    "file:///etc/passwd", "file:/etc/passwd", "ftp://a.example/jwks", "http://a.example/jwks", "https://",
    "http://169.254.169.254/latest", "https://169.254.169.254/latest", "https://[fe80::1]/", "https://0.0.0.0/",
    "https://me:secret@a.example/", "https://a.example/#x", "https://a.example:port/", "http://localhost.evil/",
    "https://[::ffff:169.254.169.254]/",
])  # fmt: skip
def test_a_place_of_keys_that_is_not_safe_is_no_setting(place: str):
    with pytest.raises(SettingsError) as caught:
        load({"MUISTI_JWKS": place}, None, {})
    assert "secret" not in str(caught.value) and "MUISTI_JWKS is" in str(caught.value)


def test_settings_of_tokens_go_together():
    both = {"MUISTI_JWKS": "https://a.example/jwks", "MUISTI_JWT_ISSUER": "https://a.example/"}
    with pytest.raises(SettingsError, match="missing: MUISTI_JWT_AUDIENCE"):
        load(both, None, {})
    found = load({**both, "MUISTI_JWT_AUDIENCE": "muisti", "MUISTI_PUBLIC_URL": "https://b.example/"}, None, {})
    assert (found.jwt_issuer, found.public_url) == ("https://a.example/", "https://b.example")
    for algorithms in ("none", "HS256", "RS256,HS256"):
        with pytest.raises(SettingsError):
            load({"MUISTI_JWT_ALGORITHMS": algorithms}, None, {})
