"""An issuer of tokens: real keys, and a real server on loopback that gives its public ones."""

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

NAME = "https://issuer.example"
AUDIENCE = "https://memory.example/mcp"

_MAKE: dict[str, tuple[Callable[[], Any], Any]] = {
    "RS": (lambda: rsa.generate_private_key(65537, 2048), RSAAlgorithm),
    "PS": (lambda: rsa.generate_private_key(65537, 2048), RSAAlgorithm),
    "ES": (lambda: ec.generate_private_key(ec.SECP256R1()), ECAlgorithm),
    "Ed": (ed25519.Ed25519PrivateKey.generate, OKPAlgorithm),
}


class SigningKey:
    """A key pair of the issuer."""

    def __init__(self, algorithm: str, key_id: str) -> None:
        make, self._kind = _MAKE[algorithm[:2]]
        self.algorithm, self.id, self.private = algorithm, key_id, make()

    def public(self, **members: object) -> dict[str, Any]:
        """The public key as a JWKS has it."""
        return {**self._kind.to_jwk(self.private.public_key(), as_dict=True), "kid": self.id, **members}

    def sign(self, headers: dict[str, Any] | None = None, **claims: object) -> str:
        """Return a signed token with `claims`; claims that are None are left out."""
        now = int(time.time())
        plain = {"iss": NAME, "aud": AUDIENCE, "sub": "ada", "exp": now + 60, "scope": "read", "muisti_spaces": ["*"]}
        given = {name: value for name, value in {**plain, **claims}.items() if value is not None}
        return jwt.encode(given, self.private, self.algorithm, headers={"kid": self.id, **(headers or {})})


class Issuer:
    """Server of `answer`, a status, headers and a body, at `url`, which counts its requests."""

    def __init__(self, *keys: SigningKey) -> None:
        self.asked = 0
        self.answer: tuple[int, dict[str, str], bytes] = (200, {}, b"")
        self.publish(*(key.public() for key in keys))
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                status, headers, body = issuer.answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/jwks.json"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def publish(self, *keys: dict[str, Any]) -> None:
        self.answer = (200, {"Content-Type": "application/jwk-set+json"}, json.dumps({"keys": keys}).encode())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
