"""The server process reports when it is ready, and loses nothing when it stops."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.service.app.server import environment, listen, run
from muisti.service.settings import Settings, SettingsError, load
from muisti.service.version import installed_version
from tests.core.fakes import Clock
from tests.service.fakes import API, draft
from tests.stores import at, settings_at


@contextmanager
def serving(
    folder: Path, module: str = "muisti.service", **variables: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and its URL."""
    given = {"MUISTI_PORT": "0", "MUISTI_EMBEDDINGS": "off", **settings_at(folder / "m.db")}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", module],
        env={**plain, **given, **variables},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            words = (word for line in process.stderr for word in json.loads(line)["event"].split())
            yield process, next(word for word in words if word.startswith("http://"))
        finally:
            process.kill()


def stop(process: subprocess.Popen[str]) -> str:
    """Ask the server to stop, and give the rest of its log."""
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate()
    return log


def test_the_package_is_run_as_the_command_is(tmp_path: Path):
    """No argument is passed over: each has its meaning, or is refused."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}

    def told(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "muisti.service", *words]
        return subprocess.run(command, env=plain, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    assert installed_version() in told("--version").stdout
    assert "--port" in told("serve", "--help").stdout
    for words in (("--port", "0"), ("serve", "--porrt", "0"), ("serve", "extra"), ("nothing",)):
        refused = told(*words)
        assert refused.returncode == 64 and refused.stderr, words
    taken = told("serve", "--port", "nonsense")
    assert taken.returncode != 0 and "port" in taken.stderr
    assert not (tmp_path / "muisti.db").exists()


def test_requests_that_do_not_arrive_stop_nobody_and_are_cut_off(tmp_path: Path):
    post = f"POST {API}/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
    whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    slow = (b"", b"G", post, post + b"Content-Length: 100\r\n\r\n{", post + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{")
    with serving(tmp_path, MUISTI_REQUEST_TIMEOUT="1") as (process, url):
        address = (httpx.URL(url).host, httpx.URL(url).port or 0)
        connections = [socket.create_connection(address, timeout=30) for _ in range(len(slow) + 2)]
        *waiting, used, endless = connections
        for connection, sent in zip(waiting, slow, strict=True):
            connection.sendall(sent)
        used.sendall(whole)
        assert used.recv(4096).startswith(b"HTTP/1.1 200")
        used.sendall(b"\r\n")  # ends uvicorn's own wait for the next request
        with suppress(OSError):  # it may be closed before all is sent
            endless.sendall(b"GET / HTTP/1.1\r\n")
            for _ in range(100):
                endless.sendall(b"X: " + b"x" * 8_000 + b"\r\n")
        assert httpx.get(f"{url}/healthz").status_code == 200
        with httpx.Client(base_url=url) as client:  # a connection that waits between requests is not late
            assert client.get("/healthz").status_code == 200
            for connection in connections:
                with suppress(ConnectionResetError):
                    while connection.recv(4096):
                        pass
                connection.close()
            assert client.get("/healthz").status_code == 200
        assert "crash" not in stop(process)


def test_an_answer_that_nobody_reads_is_cut_off(tmp_path: Path):
    large = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 40  # more than the system's buffers hold
    with serving(tmp_path, MUISTI_REQUEST_TIMEOUT="1") as (process, url):
        address = (httpx.URL(url).host, httpx.URL(url).port or 0)
        with socket.create_connection(address, timeout=30) as connection:
            connection.sendall(large)
            ended = select.poll()
            ended.register(connection, select.POLLHUP | select.POLLERR)
            assert httpx.get(f"{url}/healthz").status_code == 200
            assert ended.poll(30_000)
        assert "crash" not in stop(process)


def test_a_request_that_has_begun_is_answered_before_the_server_stops(tmp_path: Path):
    body = json.dumps(draft()).encode()
    head = f"POST {API}/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serving(tmp_path) as (process, url):
        address = httpx.URL(url)
        with socket.create_connection((address.host, address.port or 0)) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:10])
            assert httpx.get(f"{url}/healthz").status_code == 200  # by now the server has begun with it
            process.send_signal(signal.SIGTERM)
            while True:  # until the server takes no more connections
                try:
                    httpx.get(f"{url}/healthz")
                except httpx.TransportError:
                    break
            connection.sendall(body[10:])
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        _, log = process.communicate()
    assert answer.startswith(b"HTTP/1.1 201")
    assert process.returncode == 0
    assert "Traceback" not in log
    with Engine(at(tmp_path / "m.db").open(), None, Clock()) as engine:
        assert engine.owner.read.stats("default").memories == 1


def test_a_client_that_hangs_up_is_no_crash(tmp_path: Path):
    head = f"POST {API}/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serving(tmp_path) as (process, url):
        address = httpx.URL(url)
        with socket.create_connection((address.host, address.port or 0)) as connection:
            connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            assert httpx.get(f"{url}/healthz").status_code == 200
        assert httpx.get(f"{url}/v1/spaces").status_code == 200
        log = stop(process)
    assert "crash" not in log and '"status":400' in log


def test_every_write_that_was_acknowledged_is_there_after_a_stop(tmp_path: Path):
    def add(url: str, number: int) -> str | None:
        try:
            response = httpx.post(f"{url}{API}/memories", json=draft(f"memory {number}"))
        except httpx.TransportError:
            return None
        return response.json()["id"] if response.status_code == 201 else None

    with serving(tmp_path) as (process, url), ThreadPoolExecutor(8) as clients:
        answers = [clients.submit(add, url, number) for number in range(200)]
        answers[40].result()
        stop(process)
        acknowledged = {answer.result() for answer in answers} - {None}
    assert process.returncode == 0
    with Engine(at(tmp_path / "m.db").open(), None, Clock()) as engine:
        stored = {engine.owner.read.get("default", memory_id).memory.id for memory_id in acknowledged if memory_id}
    assert stored == acknowledged


def test_several_workers_share_one_file(tmp_path: Path):
    with serving(tmp_path, MUISTI_WORKERS="2") as (process, url):
        transport = httpx.HTTPTransport(retries=20)  # the workers need a moment
        with httpx.Client(base_url=url, transport=transport, timeout=60) as client:
            for number in range(20):
                added = client.post(f"{API}/memories", json=draft(f"memory {number}"), headers={"Connection": "close"})
                found = client.post(
                    f"{API}/search", json={"query": f"memory {number}"}, headers={"Connection": "close"}
                )
                assert found.json()["hits"][0]["memory"]["id"] == added.json()["id"]
        stop(process)


def test_workers_do_not_outlive_the_process_that_started_them(tmp_path: Path):
    with serving(tmp_path, MUISTI_WORKERS="2") as (process, url):
        transport = httpx.HTTPTransport(retries=20)
        with httpx.Client(base_url=url, transport=transport, timeout=60) as client:
            assert client.get("/healthz").status_code == 200
        process.kill()
        process.wait()
        with pytest.raises(ConnectionRefusedError):
            while True:  # until the last worker has let go of the port
                socket.create_connection((httpx.URL(url).host, httpx.URL(url).port or 0)).close()
                time.sleep(0.05)


def test_a_server_without_keys_listens_on_this_machine_only():
    with pytest.raises(SettingsError, match="no keys"):
        run(Settings(host="0.0.0.0"))


def test_a_port_that_is_taken_is_an_error_of_the_settings():
    with listen(Settings(port=0)) as listener, pytest.raises(SettingsError, match="cannot listen.*--port"):
        run(Settings(port=listener.getsockname()[1]))


def test_the_environment_of_a_worker_says_what_the_settings_say(tmp_path: Path):
    settings = Settings(port=1, embeddings=False, shutdown_grace=1.5, database_url=f"file:{tmp_path}/m.db", workers=3)
    assert load(environment(settings), None, {}) == settings
