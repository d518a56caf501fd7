"""Verification of tokens, from the text of a token to its caller."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import httpx
import jwt
import msgspec
from anyio import to_thread
from jwt import PyJWK, exceptions
from jwt.algorithms import AllowedPublicKeys
from jwt.exceptions import PyJWTError
from jwt.types import Options

from muisti.core.model.decoding import decoder
from muisti.core.model.values import NAME_MAX
from muisti.service.auth.access import Access
from muisti.service.auth.challenge import Challenge
from muisti.service.auth.claims import BadToken, Reading
from muisti.service.schemas.errors import HttpError
from muisti.service.settings import Settings, names_in

# Sources of an issuer's keys: a file, or the one URL that the operator configured

PATIENCE_SECONDS = 5.0
SIZE_MAX = 1 << 18  # bytes


class Unreadable(Exception):
    """Error for keys that cannot be read. The message says why, in words for the log."""


class Source(Protocol):
    """Reader of the bytes of a JWKS."""

    async def read(self) -> bytes:
        """Read the bytes. Raises `Unreadable`."""
        ...

    async def close(self) -> None: ...


def source_of(place: str) -> Source:
    """Return the source for a value of `MUISTI_JWKS`."""
    return UrlSource(place) if "://" in place else FileSource(Path(place))


class FileSource:
    """Source in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self) -> bytes:
        try:
            return await to_thread.run_sync(self._read)
        except OSError as error:
            raise Unreadable(f"the file cannot be read: {error.strerror}") from error

    async def close(self) -> None:
        pass

    def _read(self) -> bytes:
        with self._path.open("rb") as file:
            return _within(file.read(SIZE_MAX + 1))


class UrlSource:
    """Source at a URL. Redirects are not followed, because another address may be another issuer."""

    def __init__(self, url: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Create the source. `seconds` is the longest time for the whole answer."""
        self._url, self._seconds = url, seconds
        self._http = httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=seconds)

    async def read(self) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read()
        except TimeoutError as error:
            raise Unreadable(f"the answer was not complete within {self._seconds:g} s") from error
        except httpx.HTTPError as error:
            raise Unreadable(f"there was no answer: {type(error).__name__}") from error

    async def close(self) -> None:
        await self._http.aclose()

    async def _read(self) -> bytes:
        headers = {"Accept": "application/jwk-set+json, application/json", "Accept-Encoding": "identity"}
        async with self._http.stream("GET", self._url, headers=headers) as answer:
            if answer.status_code != 200:
                raise Unreadable(f"the answer has the status {answer.status_code}, not 200")
            body = b""
            async for chunk in answer.aiter_raw():
                body = _within(body + chunk)
            return body


def _within(body: bytes) -> bytes:
    if len(body) > SIZE_MAX:
        raise Unreadable(f"there are more than {SIZE_MAX:,} bytes")
    return body


# Kind of key for each algorithm. Algorithms with a shared secret are left out on purpose.
KINDS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}


class _Jwk(msgspec.Struct, omit_defaults=True):
    """Members of a key (JWK); only a private key has `d`."""

    kty: str
    kid: str | None = None
    use: str | None = None
    alg: str | None = None
    crv: str | None = None
    n: str | None = None
    e: str | None = None
    x: str | None = None
    y: str | None = None
    d: str | None = None


class _Jwks(msgspec.Struct):
    keys: list[msgspec.Raw]


class PublicKey(msgspec.Struct, frozen=True):
    """Public key to check signatures with. `algorithm` None: any algorithm of its `kind`."""

    id: str | None
    kind: str
    algorithm: str | None
    key: AllowedPublicKeys

    def suits(self, key_id: str | None, algorithm: str) -> bool:
        """Tell whether a token may be signed with this key; one that names no key, with any of the kind."""
        return key_id in (None, self.id) and self.kind == KINDS.get(algorithm) and self.algorithm in (None, algorithm)


def read_keys(body: bytes) -> tuple[PublicKey, ...]:
    """Return the public keys for signatures, without others.

    Raises:
        ValueError: this is no JWKS.
    """
    return tuple(_public(decoder(_Jwks).decode(body).keys))


def pick(keys: Sequence[PublicKey], key_id: str | None, algorithm: str) -> PublicKey | None:
    """Return the key that a token names; for a token that names none, the only suitable key."""
    suitable = [key for key in keys if key.suits(key_id, algorithm)]
    return suitable[0] if len(suitable) == 1 or (suitable and key_id is not None) else None


def _public(raws: Sequence[msgspec.Raw]) -> Iterator[PublicKey]:
    for raw in raws:
        try:
            found = decoder(_Jwk).decode(raw)
            if found.kty in KINDS.values() and found.use in (None, "sig") and found.d is None:
                yield PublicKey(found.kid, found.kty, found.alg, PyJWK(msgspec.to_builtins(found)).key)
        except (msgspec.ValidationError, PyJWTError):  # a kind of key that is not supported
            continue


LIFETIME_SECONDS = 600.0  # after which keys are read again, while the old ones are still used
STALE_SECONDS = 3_600.0  # after which old keys are not used any more
PAUSE_SECONDS = 10.0  # least time between two readings, even if tokens name unknown keys


class IssuerKeys:
    """Cache of the keys, for use on one event loop, which it never blocks."""

    def __init__(self, source: Source, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._source, self._monotonic = source, monotonic
        self._keys: tuple[PublicKey, ...] = ()
        self._read_at = self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None, algorithm: str) -> PublicKey | None:
        """Return the key to check a token with; None when the issuer does not have it.

        Raises:
            HttpError: the keys of the issuer cannot be had.
        """
        reading = self._refresh() if self._age() >= LIFETIME_SECONDS else None
        if reading is not None and self._age() >= STALE_SECONDS:
            await asyncio.shield(reading)
        if self._age() >= STALE_SECONDS:
            raise HttpError("issuer_unavailable", "the keys of the token issuer cannot be read now; try again soon")
        found = pick(self._keys, key_id, algorithm)
        if found is None and (reading := self._refresh()) is not None:  # it may be new
            await asyncio.shield(reading)
            found = pick(self._keys, key_id, algorithm)
        return found

    async def close(self) -> None:
        """Close the source."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._source.close()

    def _age(self) -> float:
        return self._monotonic() - self._read_at

    def _refresh(self) -> asyncio.Task[None] | None:
        """Return the running reading, or start one; None when the last one was less than PAUSE_SECONDS ago."""
        if self._reading is not None and not self._reading.done():
            return self._reading
        if self._monotonic() - self._tried_at < PAUSE_SECONDS:
            return None
        self._tried_at = self._monotonic()
        self._reading = asyncio.create_task(self._read())
        return self._reading

    async def _read(self) -> None:
        try:
            keys = read_keys(await self._source.read())
        except (Unreadable, ValueError) as error:
            reason = str(error) if isinstance(error, Unreadable) else "it is no JWKS"
            logging.getLogger("muisti.tokens").warning("keys of the issuer not read", extra={"because": reason})
            return
        self._keys, self._read_at = keys, self._monotonic()


LEEWAY_SECONDS = 30  # tolerated difference between clocks
MICROSECONDS = 1_000_000
ACTOR = "jwt:"  # before the subject, in the audit log
LAST_SECOND = 253_402_300_799  # of the year 9999

_REQUIRED: Options = {"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True}
_WRONG: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.ExpiredSignatureError, "the token has expired"),
    (exceptions.ImmatureSignatureError, "the token is not valid yet"),
    (exceptions.InvalidAudienceError, "the token is for another audience: its aud is not the expected one"),
    (exceptions.InvalidIssuerError, "the token has another issuer"),
    (exceptions.MissingRequiredClaimError, "the token lacks one of exp, iss, aud, sub"),
)


def tokens_of(settings: Settings) -> "Tokens | None":
    """Return the verifier of tokens that the settings configure; None when they configure none."""
    if settings.jwks is None or settings.jwt_issuer is None or settings.jwt_audience is None:
        return None
    return Tokens(
        IssuerKeys(source_of(settings.jwks)),
        settings.jwt_issuer,
        settings.jwt_audience,
        names_in(settings.jwt_algorithms),
        Reading(settings.jwt_scope_prefix or "", settings.jwt_spaces_claim, names_in(settings.jwt_spaces)),
    )


class Tokens:
    """Verifier of the tokens of one issuer, for one audience."""

    def __init__(
        self, keys: IssuerKeys, issuer: str, audience: str, algorithms: tuple[str, ...], reading: Reading
    ) -> None:
        self._keys, self._issuer, self._audience = keys, issuer, audience
        self._algorithms, self._reading = algorithms, reading

    async def find(self, token: str, challenge: Challenge) -> Access:
        """Return the caller of a token. `challenge` is sent to a caller whose scopes do not suffice.

        Raises:
            BadToken: the token is not valid.
            HttpError: the keys of the issuer cannot be read.
        """
        algorithm, key_id = self._named(token)
        found = await self._keys.find(key_id, algorithm)
        if found is None:
            raise BadToken("the token names a key that its issuer does not have")
        claims = self._claims(token, found.key, algorithm)
        subject = claims["sub"]
        if not 1 <= len(subject) <= NAME_MAX or not subject.isprintable():
            raise BadToken(f"the claim sub must have 1 to {NAME_MAX} printable characters")
        expires_us = min(int(claims["exp"]), LAST_SECOND) * MICROSECONDS
        return Access(ACTOR + subject, self._reading.grant(claims), expires_us=expires_us, challenge=challenge)

    async def close(self) -> None:
        """Close the source of the issuer's keys."""
        await self._keys.close()

    def _named(self, token: str) -> tuple[str, str | None]:
        """Return the algorithm and the key id of a token's header, which is not verified yet."""
        try:
            header = jwt.get_unverified_header(token)
        except (exceptions.PyJWTError, RecursionError):
            raise BadToken("the token cannot be read") from None
        algorithm = header.get("alg")
        if algorithm not in self._algorithms:
            raise BadToken(f"the token must be signed with one of {', '.join(self._algorithms)}")
        return algorithm, header.get("kid")

    def _claims(self, token: str, key: Any, algorithm: str) -> dict[str, Any]:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options=_REQUIRED,
            )
        except (exceptions.PyJWTError, RecursionError, ValueError, OverflowError) as error:
            wrong = next((words for kind, words in _WRONG if isinstance(error, kind)), None)
            raise BadToken(wrong or "the signature or a claim of the token is wrong") from None
