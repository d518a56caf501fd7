"""Exchange the embedding model of a space while 16 clients search and one writes.

`python -m loadtests.generations [--texts N] [--model PATH] [--share X]` starts a server and stores N texts. It
measures searches before, while a shadow is built, around the switch and the roll-back, and while the shadow is dropped.
The second model is made from the shipped one, by an orthonormal projection to 128 dimensions, unless --model names
another. --share X stops and continues the server all the time, so that it runs for that share of the time, as on a busy
machine.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import httpx
import numpy as np
from rich.console import Console
from rich.table import Column, Table

from loadtests.texts import invented
from tests.core.operations.generations.models import projected

CLIENTS = 16
SLICE = 0.1  # seconds
SPACE = "/v1/spaces/default"


class Searches:
    """Clients that search without a pause, and what they met since the last look."""

    def __init__(self, client: httpx.AsyncClient, questions: list[str]) -> None:
        self._client, self._questions = client, questions
        self._ms: list[float] = []
        self._failed = self._busy = self._degraded = 0
        self._running = True

    async def run(self, number: int) -> None:
        place = number
        while self._running:
            began = time.perf_counter()
            body = {"query": self._questions[place % len(self._questions)], "limit": 10}
            answer = await self._client.post(f"{SPACE}/search", json=body)
            self._ms.append(1000 * (time.perf_counter() - began))
            if answer.status_code == 503 and answer.json()["code"] == "busy":
                self._busy += 1
                await asyncio.sleep(float(answer.headers["retry-after"]))
            elif answer.status_code != 200 or answer.json()["strategy"] != "hybrid":
                self._failed += 1
            elif answer.json()["degraded"]:
                self._degraded += 1
            place += CLIENTS

    def stop(self) -> None:
        self._running = False

    def looked(self) -> tuple[int, int, int, int, list[float]]:
        """Return searches, failures, refusals, degraded answers and milliseconds since the last call."""
        found = len(self._ms), self._failed, self._busy, self._degraded, self._ms
        self._ms, self._failed, self._busy, self._degraded = [], 0, 0, 0
        return found


@asynccontextmanager
async def serving(folder: Path, model: str) -> AsyncIterator[tuple[httpx.AsyncClient, int]]:
    """Run a server on a file in the folder, with a second model; yield a client, and the id of the process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "MUISTI_MODELS": model, "MUISTI_DATABASE_URL": f"file:{folder / 'muisti.db'}"}
    command = [sys.executable, "-m", "muisti.service", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                for _ in range(200):
                    try:
                        if (await client.get("/healthz")).status_code == 200:
                            break
                    except httpx.TransportError:
                        await asyncio.sleep(0.1)
                yield client, server.pid
        finally:
            server.send_signal(signal.SIGCONT)
            server.terminate()


async def slowed(pid: int, share: float) -> None:
    """Let a process run for a share of the time, in slices, until cancelled."""
    while share < 1:
        os.kill(pid, signal.SIGCONT)
        await asyncio.sleep(SLICE * share)
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(SLICE * (1 - share))


def good(answer: httpx.Response) -> httpx.Response:
    """Return an answer, or raise with its text when it is an error."""
    if answer.is_error:
        raise RuntimeError(f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}")
    return answer


async def fill(client: httpx.AsyncClient, texts: list[str]) -> None:
    """Store the texts."""
    for start in range(0, len(texts), 200):
        memories = [{"content": text} for text in texts[start : start + 200]]
        answer = await client.post(f"{SPACE}/memories/batch", json={"memories": memories, "on_conflict": "keep"})
        good(answer)


async def writing(client: httpx.AsyncClient, searches: Searches) -> tuple[int, int]:
    """Store ten texts a second until the searches end, and return how many, and how many were refused as busy."""
    count = refused = 0
    while searches._running:
        answer = await client.post(f"{SPACE}/memories", json={"content": f"late text {count}", "on_conflict": "keep"})
        if answer.status_code == 503:
            refused += 1
        else:
            good(answer)
        count += 1
        await asyncio.sleep(0.1)
    return count, refused


async def task_of(client: httpx.AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    """Build a model, and return the task when it has ended."""
    task = good(await client.post(f"{SPACE}/generations", json=body)).json()
    while task["ended_at"] is None:
        answer = await client.get(f"{SPACE}/tasks/{task['id']}", params={"wait": 5, "after": task["revision"]})
        task = good(answer).json()
    return task


async def measure(texts: list[str], model: str, rest: float, share: float) -> tuple[Table, list[str]]:
    """Return the table, and further lines."""
    table = Table(
        Column("phase", no_wrap=True), "seconds", "searches", "failed", "busy", "degraded", "p50 ms", "p99 ms", "max ms"
    )
    told: list[str] = []

    def row(phase: str, began: float, searches: Searches) -> None:
        count, failed, busy, degraded, ms = searches.looked()
        spread = [f"{np.percentile(ms, each):.1f}" for each in (50, 99, 100)] if ms else ["", "", ""]
        counts = map(str, (count, failed, busy, degraded))
        table.add_row(phase, f"{time.perf_counter() - began:.2f}", *counts, *spread)

    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder), model) as (client, pid):
            await fill(client, texts)
            questions = [" ".join(text.split()[:6]) for text in texts[::7]]
            searches = Searches(client, questions)
            await client.post(f"{SPACE}/search", json={"query": questions[0]})
            slow = asyncio.create_task(slowed(pid, share))
            running = [asyncio.create_task(searches.run(number)) for number in range(CLIENTS)]
            late = asyncio.create_task(writing(client, searches))
            await asyncio.sleep(1)
            searches.looked()
            began = time.perf_counter()
            await asyncio.sleep(rest)
            row("before", began, searches)
            began = time.perf_counter()
            task = await task_of(client, {"model": model})
            row("shadow is built", began, searches)
            told.append(f"build: {task['state']}, {task['done']:,} passages, {task['rate']} a second")
            for phase, path in (("switch", "switch"), ("roll-back", "rollback"), ("switch again", "switch")):
                began = time.perf_counter()
                answer = await client.post(f"{SPACE}/generations/{path}", json={})
                good(answer)
                told.append(f"{phase}: {time.perf_counter() - began:.3f} s, {answer.json()['missing']} vectors missing")
                row(phase, began, searches)
                began = time.perf_counter()
                await asyncio.sleep(rest)
                row(f"after {phase}", began, searches)
            began = time.perf_counter()
            shadow = next(one for one in (await client.get(f"{SPACE}/generations")).json()["items"] if one["served"])
            dropped = await client.delete(f"{SPACE}/generations/{shadow['generation']}")
            row("model before is dropped", began, searches)
            told.append(f"drop: {time.perf_counter() - began:.2f} s, {dropped.json()['dropped']:,} vectors")
            searches.stop()
            await asyncio.gather(*running)
            slow.cancel()
            os.kill(pid, signal.SIGCONT)
            told.append("writes meanwhile: {}, of which {} were refused".format(*await late))
            left = (await client.get(f"{SPACE}/generations")).json()["items"]
            told.append("left: " + json.dumps([{k: one[k] for k in ("model", "role", "missing")} for one in left]))
    return table, told


@click.command()
@click.option("--texts", "count", default=20_000, show_default=True, help="Texts to store.")
@click.option("--rest", default=3.0, show_default=True, help="Seconds of the phases in which nothing is done.")
@click.option("--share", default=1.0, show_default=True, help="Share of the time in which the server may run.")
@click.option("--model", help="A second model, as MUISTI_MODELS names it; by default a projection of the shipped one.")
def main(count: int, rest: float, model: str | None, share: float) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        named = model or str(projected(Path(folder) / "projected"))
        table, told = asyncio.run(measure(invented(count)[0], named, rest, share))
    console = Console(width=120)
    console.print(f"{count:,} texts, {CLIENTS} clients, second model {model or 'projected to 128 dimensions'}", table)
    for line in told:
        console.print(line)


if __name__ == "__main__":
    main()
