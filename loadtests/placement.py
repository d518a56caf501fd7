"""Spaces over several databases under load: users write and search, spaces move, servers and databases are killed.

`python -m loadtests.placement` starts sqld databases and servers. Kills go on beside the moves: of a server, a database
and the directory. Servers are also paused for longer than they may hold a move. It prints what was lost, doubled, stale
or seen of another tenant. It also prints how moves ended, which writes they refused, and the latency around them.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deploy.cluster.muisti import Muisti
from deploy.cluster.sqld import Sqld
from muisti.core.databases import open_database
from muisti.core.model.buckets import bucket_of, unit_of
from muisti.core.model.errors import MuistiError
from muisti.core.model.location import Location
from muisti.core.placement.directory import LEASE_US, Directory

NAMESPACE = "main"
SETTLE_SECONDS = 180.0
TIMEOUT_SECONDS = 15.0
TRIES = 12  # of a write, with its key
DOWN_SECONDS = 2.0  # of a database, before somebody starts it again
# Of the probe that starts a database again whose writes hang, as in deploy/kubernetes/sqld.yaml.
PROBE_SECONDS, PROBE_TIMEOUT, PROBES = 10.0, 15.0, 3
PROBE = {"requests": [{"type": "execute", "stmt": {"sql": "BEGIN IMMEDIATE"}}, {"type": "close"}]}
SHOWN = 100  # of the newest memories, among which a reader must see its own


@dataclass
class Seen:
    """Answers as users saw them.

    `kept` has the texts of acknowledged writes by space, `tried` those that may be there too. `waits` has the seconds
    until a write was stored that was refused because its space moved.
    """

    kept: dict[str, set[str]] = field(default_factory=dict)
    tried: dict[str, set[str]] = field(default_factory=dict)
    codes: dict[str, Counter[str]] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    foreign: int = 0
    stale: int = 0
    times: dict[str, list[float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    phase: str = "before"

    def answered(self, code: str, took: float | None) -> None:
        """Count an answer, or that there was none."""
        with self.lock:
            self.codes.setdefault(self.phase, Counter())[code] += 1
            if took is not None:
                self.times.setdefault(self.phase, []).append(took)


@contextmanager
def fleet(folder: Path, databases: int, servers: int) -> Iterator[tuple[list[Sqld], list[Muisti]]]:
    """Start the databases and the servers; the first database is the directory."""
    with ExitStack() as stack:
        started: list[Sqld] = []
        for number in range(databases):
            one = stack.enter_context(Sqld(folder / f"sqld-{number}"))
            one.create(NAMESPACE)
            started.append(one)
        running = [_server(folder / f"server-{number}", started[0]) for number in range(servers)]
        environment = os.environ | {"MUISTI_EMBEDDINGS": "off", "MUISTI_DATABASE_NAMESPACE": NAMESPACE}
        muisti = [sys.executable, "-m", "muisti.service", "--database", started[0].url]
        for number, one in enumerate(started[1:], 1):
            words = [*muisti, "placement", "add", f"d{number}", one.url, "--namespace", NAMESPACE]
            subprocess.run(words, env=environment, check=True, capture_output=True)
        for one in running:
            stack.enter_context(one)
        yield started, running


def _server(folder: Path, first: Sqld) -> Muisti:
    settings = {"database_url": first.url, "database_namespace": NAMESPACE, "database_timeout": "5"}
    return Muisti(folder, port=0, embeddings="off", **settings)


class User:
    """A user who writes texts of its own, and must then see them and nobody else's."""

    def __init__(self, number: int, servers: list[Muisti], spaces: list[str], seen: Seen) -> None:
        self._number, self._servers, self._spaces, self._seen = number, servers, spaces, seen
        self._rng = random.Random(number)

    def run(self, stop: threading.Event) -> None:
        with httpx.Client(timeout=TIMEOUT_SECONDS) as client:
            count = 0
            while not stop.is_set():
                count += 1
                self._once(client, self._rng.choice(self._spaces), count)

    def _once(self, client: httpx.Client, space: str, count: int) -> None:
        text = f"canary {space} written by user {self._number} as number {count}"
        with self._seen.lock:
            self._seen.tried.setdefault(space, set()).add(text)
        seq = self._stored(client, space, text)
        if seq is None:
            return
        with self._seen.lock:
            self._seen.kept.setdefault(space, set()).add(text)
        body = {"query": "", "mode": "recent", "limit": SHOWN}
        found = self._asked(client, f"/v1/spaces/{space}/search", body, {"Muisti-Min-Seq": seq})
        if found is not None and found.status_code == 200:
            texts = [hit["memory"]["content"] for hit in found.json()["hits"]]
            with self._seen.lock:
                self._seen.foreign += sum(not one.startswith(f"canary {space} ") for one in texts)
                self._seen.stale += text not in texts

    def _stored(self, client: httpx.Client, space: str, text: str) -> str | None:
        """Write as clients do, again with the same key until a server has stored it; return the seq."""
        body, refused = {"content": text, "on_conflict": "keep"}, None
        key = {"Idempotency-Key": uuid.uuid4().hex}
        for _ in range(TRIES):
            answer = self._asked(client, f"/v1/spaces/{space}/memories", body, key)
            if answer is not None and answer.status_code == 201:
                if refused is not None:
                    with self._seen.lock:
                        self._seen.waits.append(time.monotonic() - refused)
                return str(answer.headers["Muisti-Seq"])
            if answer is not None and _code(answer) == "space_moving":
                refused = time.monotonic() if refused is None else refused
            time.sleep(0.1)
        return None

    def _asked(self, client: httpx.Client, path: str, body: Any, headers: dict[str, str]) -> httpx.Response | None:
        began = time.monotonic()
        try:
            answer = client.post(self._rng.choice(self._servers).url + path, json=body, headers=headers)
        except httpx.HTTPError:
            self._seen.answered("no answer", None)
            return None
        self._seen.answered(_code(answer), time.monotonic() - began)
        return answer


def _code(answer: httpx.Response) -> str:
    if answer.is_success:
        return "ok"
    try:
        return str(answer.json()["code"])
    except ValueError:  # a server that stops ends a request that takes too long, without a body of ours
        return str(answer.status_code)


class Killer:
    """Kills servers and databases, one after another, and starts them again. `kills` counts them by kind."""

    def __init__(self, databases: list[Sqld], servers: list[Muisti], rng: random.Random) -> None:
        self._databases, self._servers, self._rng = databases, servers, rng
        self.kills: Counter[str] = Counter()
        self._restarting = threading.Lock()

    def run(self, number: int, pause: float, stop: threading.Event) -> None:
        kinds: list[tuple[str, Callable[[], None]]] = [
            ("server", self._server), ("database", self._database), ("paused server", self._paused),
            ("server", self._server), ("directory", self._directory),
        ]  # fmt: skip
        for turn in range(number):
            if stop.wait(pause):
                return
            name, kill = kinds[turn % len(kinds)]
            kill()
            self.kills[name] += 1

    def _server(self) -> None:
        victim = self._rng.choice(self._servers)
        victim.kill()
        victim.start()

    def _database(self) -> None:
        self._restarted(self._rng.choice(self._databases[1:] or self._databases))

    def _directory(self) -> None:
        self._restarted(self._databases[0])

    @contextmanager
    def watching(self) -> Generator[None]:
        """Within this, a database whose writes hang is started again."""
        ended = threading.Event()
        watch = threading.Thread(target=self._watch, args=(ended,), daemon=True)
        watch.start()
        try:
            yield
        finally:
            ended.set()
            watch.join()

    def _watch(self, ended: threading.Event) -> None:
        late: Counter[int] = Counter()
        headers = {"Host": f"{NAMESPACE}.localhost"}
        while not ended.wait(PROBE_SECONDS):
            for one in self._databases:
                late[one.port] += 1
                with suppress(httpx.TransportError):
                    httpx.post(f"{one.url}/v3/pipeline", json=PROBE, headers=headers, timeout=PROBE_TIMEOUT)
                    late[one.port] = 0
                if late[one.port] == PROBES:
                    self._restarted(one)
                    self.kills["hung database"] += 1
                    late[one.port] = 0

    def _restarted(self, victim: Sqld) -> None:
        with self._restarting:
            victim.kill()
            time.sleep(DOWN_SECONDS)
            victim.start()

    def _paused(self) -> None:
        pid = self._rng.choice(self._servers).pid
        if pid is not None:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(LEASE_US / 1e6 + 2)
            os.kill(pid, signal.SIGCONT)


def asked(given: argparse.Namespace, servers: list[Muisti], spaces: list[str], stop: threading.Event) -> int:
    """Ask for moves of spaces and buckets, one after another; return how many were begun."""
    rng, begun = random.Random(given.seed + 1), 0
    names = ["main", *(f"d{number}" for number in range(1, given.databases))]
    while begun < given.moves and not stop.wait(given.seconds / 2 / given.moves):
        space = rng.choice(spaces)
        unit = rng.choice((space, unit_of(bucket_of(space))))
        body = {"units": [unit], "target": rng.choice(names)}
        with suppress(httpx.HTTPError):
            answer = httpx.post(f"{rng.choice(servers).url}/v1/placement/moves", json=body, timeout=TIMEOUT_SECONDS)
            begun += len(answer.json()["items"]) if answer.is_success else 0
    return begun


def run(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run all, and return the result."""
    with fleet(folder, given.databases, given.servers) as (databases, servers):
        killer = Killer(databases, servers, random.Random(given.seed))
        with killer.watching():
            return _run(given, databases, servers, killer)


def _run(given: argparse.Namespace, databases: list[Sqld], servers: list[Muisti], killer: Killer) -> dict[str, Any]:
    seen, stop, calm = Seen(), threading.Event(), threading.Event()
    spaces = [f"tenant-{number}" for number in range(given.spaces)]
    with httpx.Client(base_url=servers[0].url, timeout=60) as client:
        for space in spaces:
            client.post("/v1/spaces", json={"name": space}).raise_for_status()
    using = [User(number, servers, spaces, seen) for number in range(given.users)]
    users = [threading.Thread(target=one.run, args=(stop,), daemon=True) for one in using]
    killing = threading.Thread(
        target=killer.run, args=(given.kills, given.seconds / 2 / max(1, given.kills), calm), daemon=True
    )
    try:
        for one in users:
            one.start()
        time.sleep(given.seconds / 4)
        seen.phase = "during"
        killing.start()
        timer = threading.Timer(3 * given.seconds, calm.set)
        timer.daemon = True
        timer.start()
        begun = asked(given, servers, spaces, calm) if given.moves else 0
        killing.join()
        timer.cancel()
        left = _settled(databases[0])
        seen.phase = "after"
        time.sleep(given.seconds / 4)
    finally:
        stop.set()
        calm.set()
    for one in users:
        one.join()
    return _judged(databases[0], servers[0], spaces, seen) | {
        "moves begun": begun, "moves left": left, "kills": dict(killer.kills), "kills asked": given.kills,
    }  # fmt: skip


@contextmanager
def _directory(first: Sqld) -> Iterator[Directory]:
    with closing(open_database(Location(url=first.url, namespace=NAMESPACE))) as database:
        yield Directory(database)


def _settled(first: Sqld) -> int:
    """Wait until no move is under way; return how many still are."""
    until, left = time.monotonic() + SETTLE_SECONDS, -1
    while left and time.monotonic() < until:
        with suppress(MuistiError), _directory(first) as directory:
            left = len(directory.moves())
        time.sleep(0.5)
    return left


def _judged(first: Sqld, server: Muisti, spaces: list[str], seen: Seen) -> dict[str, Any]:
    lost = doubled = strange = 0
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for space in spaces:
            texts = Counter(_texts(client, space))
            lost += len(seen.kept.get(space, set()) - texts.keys())
            doubled += sum(count > 1 for count in texts.values())
            strange += len(texts.keys() - seen.tried.get(space, set()))
        check = client.get("/v1/placement/check").json()
    with _directory(first) as directory:
        moves = [one for one in directory.moves(ended=1_000_000) if one.ended_at is not None]
    fenced = sorted(one.fenced_us / 1000 for one in moves if one.fences)
    refused = sum(codes["space_moving"] for codes in seen.codes.values())
    return {
        "acknowledged": sum(map(len, seen.kept.values())), "lost": lost, "doubled": doubled, "strange": strange,
        "stale": seen.stale, "of another tenant": seen.foreign,
        "moves": dict(Counter(one.step for one in moves)),
        "errors": dict(Counter(one.error for one in moves if one.error)),
        "fenced ms": {"median": _at(fenced, 0.5), "p99": _at(fenced, 0.99), "longest": _at(fenced, 1.0)},
        "refused writes": refused, "refused writes per move": round(refused / max(1, len(moves)), 3),
        "longest wait of a refused write ms": round(1000 * max(seen.waits, default=0.0)),
        "p99 ms": {phase: round(1000 * _at(sorted(times), 0.99), 1) for phase, times in seen.times.items()},
        "answers": {phase: dict(codes) for phase, codes in seen.codes.items()},
        "check": check["ok"], "misplaced": check["misplaced"],
    }  # fmt: skip


def _at(values: list[float], share: float) -> float:
    return round(values[min(len(values) - 1, int(len(values) * share))], 4) if values else 0.0


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
    failed = any(result[name] for name in ("lost", "doubled", "strange", "stale", "of another tenant", "moves left"))
    sys.exit(1 if failed or not result["check"] else 0)


if __name__ == "__main__":
    main()
