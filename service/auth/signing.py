"""Signatures with Ed25519 as JSON Web Signatures (RFC 7515, RFC 8037), which libraries of every language verify."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import OKPAlgorithm
from jwt.utils import base64url_encode

from muisti.core.engine import Engine
from muisti.core.model.errors import StoreUnavailable

ALGORITHM = "EdDSA"


class Forged(Exception):
    """Error for a signature that does not match the text, or is from none of the keys. The message says which."""


def sign(engine: Engine, key_file: str | None, payload: bytes) -> str:
    """Return the payload with a signature, as a compact JWS. The first call without a key file creates the key.

    Raises:
        StoreUnavailable: the file has no readable key.
    """
    key_id, key = _from_file(engine, key_file) if key_file is not None else _from_database(engine)
    return jwt.PyJWS().encode(payload, key, ALGORITHM, headers={"kid": key_id, "typ": "JOSE"})


def secret(engine: Engine, key_file: str | None) -> bytes:
    """Return a secret that all processes of the database share, and that never leaves them.

    Raises:
        StoreUnavailable: the file has no readable key.
    """
    _, key = _from_file(engine, key_file) if key_file is not None else _from_database(engine)
    return hashlib.sha256(b"secret of muisti" + key.private_bytes_raw()).digest()


def verified(signed: str, keys: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the payload of a compact JWS that one of the keys (JWK) has signed.

    Raises:
        Forged: no key matches, or the signature is not valid.
    """
    try:
        key_id = jwt.get_unverified_header(signed).get("kid")
        key = next((one for one in keys if one.get("kid") == key_id), None)
        if key is None:
            raise Forged(f"none of the {len(keys)} keys is {key_id!r}, which the signature names")
        return jwt.PyJWS().decode(signed, jwt.PyJWK(dict(key)), [ALGORITHM])
    except jwt.PyJWTError as error:
        raise Forged(f"the signature is not valid: {error}") from error


def _from_database(engine: Engine) -> tuple[str, Ed25519PrivateKey]:
    found = engine.signing_keys.own()
    if found is None:
        made = Ed25519PrivateKey.generate()
        pem = made.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        key_id, public = _public(made)
        engine.signing_keys.add(key_id, public, pem.decode(), engine.now())
        found = engine.signing_keys.own()  # another replica may have been faster
        assert found is not None
    return found[0], _read(found[1].encode())


def _from_file(engine: Engine, file: str) -> tuple[str, Ed25519PrivateKey]:
    try:
        key = _read(Path(file).read_bytes())
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise StoreUnavailable("MUISTI_SIGNING_KEY_FILE names no file with an Ed25519 private key in PEM") from error
    key_id, public = _public(key)
    engine.signing_keys.add(key_id, public, None, engine.now())
    return key_id, key


def _read(pem: bytes) -> Ed25519PrivateKey:
    key = serialization.load_pem_private_key(pem, None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("no Ed25519 key")
    return key


def _public(key: Ed25519PrivateKey) -> tuple[str, str]:
    """Return the thumbprint (RFC 7638) and the JWK of the public key."""
    jwk = OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
    named = {name: jwk[name] for name in ("crv", "kty", "x")}
    digest = hashlib.sha256(json.dumps(named, separators=(",", ":"), sort_keys=True).encode()).digest()
    key_id = base64url_encode(digest).decode()
    return key_id, json.dumps({**named, "kid": key_id, "alg": ALGORITHM, "use": "sig"})
