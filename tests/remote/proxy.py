"""A proxy on loopback that does to connections what networks do, at random but the same way each time."""

import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from typing import Literal

Fault = Literal["cut before", "cut after request", "cut in answer", "reset", "error", "delay", "half request", "repeat"]
FAULTS: tuple[Fault, ...] = (
    "cut before", "cut after request", "cut in answer", "reset", "error", "delay", "half request", "repeat",
)  # fmt: skip
ERROR = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\nconnection: close\r\n\r\noops"
RESET = struct.pack("ii", 1, 0)  # closing sends RST


class Proxy:
    """Passes requests on to a port, each whole; `choose` says what happens to one."""

    def __init__(self, port: int, choose: Callable[[], Fault | None]) -> None:
        self._target = port
        self._choose = choose
        self._lock = threading.Lock()
        self.done = Counter[Fault]()
        self._under_way = 0
        self.most_at_once = 0  # requests that were under way
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._stopping = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for a connection
        self._listener.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while not self._stopping:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                self._requests(client)
            except OSError:
                return  # one of the two has gone, as they may

    def _requests(self, client: socket.socket) -> None:
        while request := _message(client):
            with self._lock:
                fault = self._choose()
                if fault is not None:
                    self.done[fault] += 1
            if fault == "cut before":
                return
            if fault == "reset":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return
            with self._lock:
                self._under_way += 1
                self.most_at_once = max(self.most_at_once, self._under_way)
            try:
                answer = self._forward(request, fault)
            finally:
                with self._lock:
                    self._under_way -= 1
            if answer is None:
                return
            if fault == "error":
                client.sendall(ERROR)
                return
            if fault == "cut in answer":
                client.sendall(answer[: len(answer) // 2])
                return
            client.sendall(answer)

    def _forward(self, request: bytes, fault: Fault | None) -> bytes | None:
        """The server's answer; None when the client gets none."""
        if fault == "repeat":
            self._ask(request)
        if fault == "half request":
            with socket.create_connection(("127.0.0.1", self._target)) as server:
                server.sendall(request[: len(request) // 2])
            return None
        if fault in ("cut after request", "delay"):
            # The client is gone before the server begins: it arrives late, and nobody hears the answer.
            late = threading.Timer(random.uniform(0, 0.1) if fault == "delay" else 0, self._ask, (request,))
            late.daemon = True
            late.start()
            return None
        return self._ask(request)

    def _ask(self, request: bytes) -> bytes | None:
        try:
            with socket.create_connection(("127.0.0.1", self._target)) as server:
                server.sendall(request)
                return _message(server)
        except OSError:
            return None


def _message(connection: socket.socket) -> bytes:
    """One whole HTTP message, empty when the other side has closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(1 << 16)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if b"content-length" in fields:
        length = int(fields[b"content-length"])
        while len(body) < length:
            piece = connection.recv(1 << 16)
            if not piece:
                return b""
            body += piece
    elif fields.get(b"transfer-encoding") == b"chunked":
        while not body.endswith(b"0\r\n\r\n"):
            body += connection.recv(1 << 16)
    return head + b"\r\n\r\n" + body
