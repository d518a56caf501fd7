"""Public keys of an issuer, read from a JWKS (RFC 7517)."""

from collections.abc import Iterator, Sequence

import msgspec
from jwt import PyJWK
from jwt.algorithms import AllowedPublicKeys
from jwt.exceptions import PyJWTError

from muisti.core.model.decoding import decoder

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
