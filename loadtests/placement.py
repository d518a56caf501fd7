"""Spaces over several databases under load: users write and search, spaces move, servers and databases are killed.

`python -m loadtests.placement` starts sqld databases and servers. It prints what was lost, doubled, stale or seen of
another tenant. It also prints how long writes were refused, and the latency before, during and after the moves.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deploy.cluster.sqld import Sqld

START_SECONDS = 120.0
TIMEOUT_SECONDS = 15.0


@dataclass
class Seen:
    """Answers as users saw them.

    `kept` has the texts of acknowledged writes by space, `tried` those that may be there too.
    """

    kept: dict[str, set[str]] = field(default_factory=dict)
    tried: dict[str, set[str]] = field(default_factory=dict)
    codes: Counter[str] = field(default_factory=Counter)
    foreign: int = 0
    stale: int = 0
    times: dict[str, list[float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    phase: str = "before"


class Server:
    """A Muisti that can be killed and started again on its port."""

    def __init__(self, url: str, folder: Path, number: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = (folder / f"server-{number}.log").open("ab")
        self._environment = os.environ | {
            "MUISTI_DATABASE_URL": url, "MUISTI_DATABASE_NAMESPACE": "main", "MUISTI_PORT": str(self.port),
            "MUISTI_EMBEDDINGS": "off", "MUISTI_DATABASE_TIMEOUT": "5",
        }  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = [sys.executable, "-m", "muisti.service", "serve"]
        self._process = subprocess.Popen(words, env=self._environment, stdout=self._log, stderr=self._log)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200:
                    return
            time.sleep(0.2)
        raise TimeoutError("a server did not start")

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._log.close()


@contextmanager
def fleet(folder: Path, databases: int, servers: int) -> Iterator[tuple[list[Sqld], list[Server]]]:
    """Start the databases and the servers; the first database is the directory."""
    with ExitStack() as stack:
        started: list[Sqld] = []
        for number in range(databases):
            place = folder / f"sqld-{number}"
            place.mkdir()
            one = stack.enter_context(Sqld(place))
            one.create("main")
            started.append(one)
        replicas = [Server(started[0].url, folder, number) for number in range(servers)]
        for one in replicas:
            stack.callback(one.stop)
        environment = os.environ | {"MUISTI_EMBEDDINGS": "off", "MUISTI_DATABASE_NAMESPACE": "main"}
        muisti = [sys.executable, "-m", "muisti.service", "--database", started[0].url]
        for number, one in enumerate(started[1:], 1):
            words = [*muisti, "placement", "add", f"d{number}", one.url, "--namespace", "main"]
            subprocess.run(words, env=environment, check=True, capture_output=True)
        for one in replicas:
            one.start()
        yield started, replicas


def user(number: int, servers: list[Server], spaces: list[str], seen: Seen, stop: threading.Event) -> None:
    """Write texts of one's own, search for the last, and look for the texts of others."""
    rng = random.Random(number)
    client = httpx.Client(timeout=TIMEOUT_SECONDS)
    count = 0
    while not stop.is_set():
        space, server = rng.choice(spaces), rng.choice(servers)
        count += 1
        text = f"canary {space} written by user {number} as number {count}"
        with seen.lock:
            seen.tried.setdefault(space, set()).add(text)
        answer = _asked(client, server, f"/v1/spaces/{space}/memories", {"content": text, "on_conflict": "keep"}, seen)
        if answer is None or answer.status_code != 201:
            continue
        with seen.lock:
            seen.kept.setdefault(space, set()).add(text)
        seq = answer.headers["Muisti-Seq"]
        body = {"query": "", "mode": "recent", "limit": 20}
        found = _asked(client, rng.choice(servers), f"/v1/spaces/{space}/search", body, seen, {"Muisti-Min-Seq": seq})
        if found is not None and found.status_code == 200:
            texts = [hit["memory"]["content"] for hit in found.json()["hits"]]
            with seen.lock:
                seen.foreign += sum(not one.startswith(f"canary {space} ") for one in texts)
                seen.stale += text not in texts and len(texts) < body["limit"]
    client.close()


def _asked(
    client: httpx.Client, server: Server, path: str, body: Any, seen: Seen, headers: dict[str, str] | None = None
) -> httpx.Response | None:
    began = time.monotonic()
    try:
        answer = client.post(server.url + path, json=body, headers=headers or {})
    except httpx.HTTPError:
        with seen.lock:
            seen.codes["no answer"] += 1
        return None
    took = time.monotonic() - began
    code = "ok" if answer.status_code < 300 else answer.json().get("code", str(answer.status_code))
    with seen.lock:
        seen.codes[f"{seen.phase} {code}"] += 1
        seen.times.setdefault(seen.phase, []).append(took)
    return answer


def run(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run all, and return the result."""
    rng, seen, stop = random.Random(given.seed), Seen(), threading.Event()
    with fleet(folder, given.databases, given.servers) as (databases, servers):
        spaces = [f"tenant-{number}" for number in range(given.spaces)]
        for space in spaces:
            httpx.post(f"{servers[0].url}/v1/spaces", json={"name": space}, timeout=60).raise_for_status()
        users = [
            threading.Thread(target=user, args=(number, servers, spaces, seen, stop)) for number in range(given.users)
        ]
        for one in users:
            one.start()
        time.sleep(given.seconds / 4)
        seen.phase, until = "during", time.monotonic() + given.seconds / 2
        names = ["main", *(f"d{number}" for number in range(1, given.databases))]
        asked = kills = 0
        while time.monotonic() < until:
            if asked < given.moves:
                body = {"units": [rng.choice(spaces)], "target": rng.choice(names)}
                with suppress(httpx.HTTPError):
                    asked += httpx.post(f"{rng.choice(servers).url}/v1/placement/moves", json=body).status_code == 202
            if kills < given.kills and rng.random() < 0.2:
                kills += 1
                victim = rng.choice([*servers, *databases])
                victim.kill()
                victim.start()
            time.sleep(given.seconds / 2 / max(1, given.moves))
        _settled(servers[0])
        seen.phase = "after"
        time.sleep(given.seconds / 4)
        stop.set()
        for one in users:
            one.join()
        return _judged(servers[0], spaces, seen, asked, kills)


def _settled(server: Server) -> None:
    """Wait until no move is under way."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with suppress(httpx.HTTPError):
            found = httpx.get(f"{server.url}/v1/placement", timeout=30)
            if found.status_code == 200 and all(one["ended_at"] for one in found.json()["moves"]):
                return
        time.sleep(0.5)


def _judged(server: Server, spaces: list[str], seen: Seen, asked: int, kills: int) -> dict[str, Any]:
    lost = doubled = strange = 0
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for space in spaces:
            texts = Counter(_texts(client, space))
            lost += len(seen.kept.get(space, set()) - texts.keys())
            doubled += sum(count > 1 for count in texts.values())
            strange += len(texts.keys() - seen.tried.get(space, set()))
        check = client.get("/v1/placement/check").json()
        moves = client.get("/v1/placement").json()["moves"]
    return {
        "acknowledged": sum(map(len, seen.kept.values())), "lost": lost, "doubled": doubled, "strange": strange,
        "stale": seen.stale, "of another tenant": seen.foreign, "moves": asked, "kills": kills,
        "fenced ms": [round(one["fenced_ms"]) for one in moves if one["ended_at"]],
        "p99 ms": {phase: _p99(times) for phase, times in seen.times.items()},
        "answers": dict(sorted(seen.codes.items())), "check": check["ok"], "misplaced": check["misplaced"],
    }  # fmt: skip


def _p99(seconds: list[float]) -> float:
    return round(1000 * sorted(seconds)[int(len(seconds) * 0.99)], 1)


def _texts(client: httpx.Client, space: str) -> Iterator[str]:
    cursor: str | None = None
    while True:
        params = {"limit": "100"} | ({"cursor": cursor} if cursor else {})
        page = client.get(f"/v1/spaces/{space}/memories", params=params).raise_for_status().json()
        yield from (one["content"] for one in page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            return


def main() -> None:
    """Run with the sizes of the command line, and print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (
        ("databases", 4), ("servers", 3), ("spaces", 2_000), ("users", 16), ("moves", 200), ("kills", 20), ("seed", 1),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="muisti-placement-") as folder:
        result = run(Path(folder), given)
    sys.stdout.write(f"{json.dumps(result, indent=2)}\n")
    failed = any(result[name] for name in ("lost", "doubled", "strange", "stale", "of another tenant"))
    sys.exit(1 if failed or not result["check"] else 0)


if __name__ == "__main__":
    main()
