"""The public keys of an issuer as a JWKS (RFC 7517) has them."""

from collections.abc import Iterator, Sequence

import msgspec
from jwt import PyJWK
from jwt.algorithms import AllowedPublicKeys
from jwt.exceptions import PyJWTError

# What a key must be for an algorithm. There is none here that needs a shared secret.
KINDS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}


class _Jwk(msgspec.Struct, omit_defaults=True):
    """The public members of a key; `d` is there in a private one only."""

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
    """A key that signatures can be checked with. `algorithm` None: any of its `kind`."""

    id: str | None
    kind: str
    algorithm: str | None
    key: AllowedPublicKeys

    def suits(self, key_id: str | None, algorithm: str) -> bool:
        """Whether a token may be signed with it: one that names no key, with any of the kind."""
        return key_id in (None, self.id) and self.kind == KINDS.get(algorithm) and self.algorithm in (None, algorithm)


def read_keys(body: bytes) -> tuple[PublicKey, ...]:
    """The public keys for signatures; others are passed over.

    Raises:
        ValueError: this is no JWKS.
    """
    return tuple(_public(msgspec.json.decode(body, type=_Jwks).keys))


def pick(keys: Sequence[PublicKey], key_id: str | None, algorithm: str) -> PublicKey | None:
    """The key that a token names; the only one that suits when it names none."""
    suitable = [key for key in keys if key.suits(key_id, algorithm)]
    return suitable[0] if len(suitable) == 1 or (suitable and key_id is not None) else None


def _public(raws: Sequence[msgspec.Raw]) -> Iterator[PublicKey]:
    for raw in raws:
        try:
            found = msgspec.json.decode(raw, type=_Jwk)
            if found.kty in KINDS.values() and found.use in (None, "sig") and found.d is None:
                yield PublicKey(found.kid, found.kty, found.alg, PyJWK(msgspec.to_builtins(found)).key)
        except (msgspec.ValidationError, PyJWTError):  # of a kind that we do not know
            continue
