"""TLS: a certificate of an unknown authority is refused, so that no impostor can listen in."""

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token


@pytest.fixture
def impostor(tmp_path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Run a TLS server with a self-signed certificate. Yield its port, and the decrypted bytes that it received."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
                with connection, context.wrap_socket(connection, server_side=True) as secured:
                    heard.append(secured.recv(1000))
            except ssl.SSLError:
                continue
            except OSError:
                return

    thread = threading.Thread(target=listen)
    thread.start()
    yield listener.getsockname()[1], heard
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def certificate(folder: Path) -> Path:
    """A file with a key and the certificate that it signed for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + made.public_bytes(Encoding.PEM)
    )
    return path


@pytest.mark.parametrize("scheme", ["https", "libsql"])
def test_a_server_that_nobody_vouches_for_is_told_nothing(impostor: tuple[int, list[bytes]], scheme: str):
    port, heard = impostor
    with pytest.raises(StoreUnavailable, match="certificate"):
        RemoteDatabase(Server(f"{scheme}://127.0.0.1:{port}", Token("secret"), "default"), seconds=2)
    assert heard == []
