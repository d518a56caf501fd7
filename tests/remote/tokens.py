"""Keys and JSON Web Tokens, as sqld reads them."""

import base64
import json
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


class Issuer:
    """Signs tokens; servers that have its key file let them in."""

    def __init__(self, folder: Path) -> None:
        self._key = Ed25519PrivateKey.generate()
        self.key_file = folder / "jwt.pem"
        self.key_file.write_bytes(self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

    def token(self, **claims: Any) -> str:
        """Return a token with these claims, valid for an hour unless they contain another time."""
        payload = {"exp": int(time.time()) + 3600} | claims
        signed = f"{_part({'alg': 'EdDSA', 'typ': 'JWT'})}.{_part(payload)}"
        return f"{signed}.{_text(self._key.sign(signed.encode()))}"


def _part(value: dict[str, Any]) -> str:
    return _text(json.dumps(value).encode())


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
