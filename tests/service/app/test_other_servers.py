"""The application runs under another ASGI server, with the settings of the environment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from deploy.cluster.ports import free_ports


@pytest.mark.parametrize("workers", ["1", "2"])
def test_uvicorn_serves_it(tmp_path: Path, workers: str):
    (port,) = free_ports(1)
    environment = {**os.environ, "MUISTI_DATABASE_URL": f"file:{tmp_path / 'a.db'}", "MUISTI_EMBEDDINGS": "off"}
    command = ["uvicorn", "--port", str(port), "--workers", workers, "--factory", "muisti.service.app:create_app"]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=tmp_path, env=environment, stdout=log, stderr=log
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as api:
            while server.poll() is None:
                try:
                    api.get("/readyz")
                    break
                except httpx.TransportError:
                    time.sleep(0.05)
            stored = (
                api.post("/v1/spaces", json={"name": "s"}),
                api.post("/v1/spaces/s/memories", json={"content": "hello"}),
            )
            assert [one.status_code for one in stored] == [201, 201], (tmp_path / "log").read_text()
            assert api.get("/v1/spaces/s/memories").json()["items"][0]["content"] == "hello"
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
