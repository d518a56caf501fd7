"""Clients that write and read at any server, record the replies, and check them afterwards."""

import random
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.durability.server import rare_word

ADDRESSES = 6
PATIENCE_SECONDS = 60.0  # within which some server must answer
PAUSE_SECONDS = 0.05

Heard = Callable[[str, str, float, str | None], None]  # method, kind, seconds, and why there was no answer


@dataclass(slots=True)
class Entry:
    """An address with its acknowledged contents by version, its newest seq, and the number of its running writes."""

    key: str
    contents: dict[int, str] = field(default_factory=dict[int, str])
    seq: str | None = None
    asked: set[str] = field(default_factory=set[str])
    writing: int = 0

    @property
    def version(self) -> int:
        return max(self.contents, default=0)


class Clients:
    """Users of a few entries that all of them change. Any thread may call `use` and `act`."""

    def __init__(self, urls: Sequence[str], space: str, heard: Heard | None = None) -> None:
        """Take the URLs of the servers, and `heard`, which is called for each request."""
        self._urls = urls
        self._heard = heard
        self._base = f"/v1/spaces/{space}"
        self._lock = threading.Lock()
        self._local = threading.local()
        self._opened: list[httpx.Client] = []
        self.entries = [Entry(f"k{n}") for n in range(ADDRESSES)]
        self.seqs: list[str] = []
        self.retries = self.answers = 0
        self.longest = 0.0  # seconds that somebody waited for an answer, retries included

    def close(self) -> None:
        for client in self._opened:
            client.close()

    def use(self, seed: int, until: float) -> None:
        """Do this and that until then (by the monotonic clock)."""
        rng = random.Random(seed)
        while time.monotonic() < until:
            self.act(rng)

    def act(self, rng: random.Random) -> None:
        """Write, read or search. An answer that breaks a promise is an AssertionError."""
        rng.choice((self._write, self._write, self._read, self._search))(rng.choice(self.entries), rng)

    def judge(self) -> None:
        """After it all: what was acknowledged is history, once each, in order, at every server."""
        assert len(set(self.seqs)) == len(self.seqs), "a number of history was given twice"
        assert any(entry.contents for entry in self.entries)
        for entry in self.entries:
            for url in self._urls:
                self._judge(entry, url)

    def _judge(self, entry: Entry, url: str) -> None:
        headers = {} if entry.seq is None else {"muisti-min-seq": entry.seq}
        found = self._ask("GET", f"/entries/c/{entry.key}", headers=headers, url=url)
        if found.status_code == 404:
            assert not entry.contents, "an acknowledged memory is gone"
            return
        path, versions, cursor = f"/memories/{found.json()['id']}/history?limit=100", list[Any](), ""
        while cursor is not None:
            page = self._ask("GET", path + (cursor and f"&cursor={cursor}"), headers=headers, url=url).json()
            versions += page["items"]
            cursor = page["next_cursor"]
        stored = {version["memory"]["version"]: version["memory"]["content"] for version in versions}
        assert sorted(stored) == list(range(1, len(stored) + 1))
        assert {number: stored.get(number) for number in entry.contents} == entry.contents, "a write was lost"
        assert set(stored.values()) <= entry.asked and len(set(stored.values())) == len(stored), "a write was doubled"

    def _write(self, entry: Entry, rng: random.Random) -> None:
        headers = {"idempotency-key": uuid.uuid4().hex}
        if rng.random() < 0.7:
            found = self._ask("GET", f"/entries/c/{entry.key}")
            if found.status_code == 200:
                headers["if-match"] = found.headers["etag"]
        content = f"note {rare_word(rng.randrange(10**6))} {uuid.uuid4().hex}"
        with self._lock:
            entry.asked.add(content)
            entry.writing += 1
        self._put(entry, content, headers)
        with self._lock:
            entry.writing -= 1

    def _put(self, entry: Entry, content: str, headers: dict[str, str]) -> None:
        answer = self._ask("PUT", f"/entries/c/{entry.key}", {"content": content}, headers)
        if answer.status_code in (404, 412) and "if-match" in headers:
            return  # somebody else was faster
        assert answer.status_code in (200, 201), answer.text
        memory, seq = answer.json(), answer.headers["muisti-seq"]
        with self._lock:
            assert memory["version"] not in entry.contents, "one version for two writes: an update was lost"
            entry.contents[memory["version"]] = content
            self.seqs.append(seq)
            if entry.seq is None or number(seq) > number(entry.seq):
                entry.seq = seq

    def _read(self, entry: Entry, _: random.Random) -> None:
        with self._lock:
            known, seq = entry.version, entry.seq
        if seq is None:
            return
        found = self._ask("GET", f"/entries/c/{entry.key}", headers={"muisti-min-seq": seq})
        assert found.status_code == 200, found.text
        assert found.json()["version"] >= known, "an acknowledged write was not shown to who asked for it"
        assert number(found.headers["muisti-seq"]) >= number(seq)

    def _search(self, entry: Entry, _: random.Random) -> None:
        with self._lock:
            known, seq = entry.version, entry.seq
            asked, alone = len(entry.asked), entry.writing == 0
        if seq is None:
            return
        word = entry.contents[known].split()[-1]
        body = {"query": word, "mode": "keyword"}
        found = self._ask("POST", "/search", body, {"muisti-min-seq": seq})
        assert found.status_code == 200, found.text
        hits = [hit["memory"]["content"] for hit in found.json()["hits"]]
        with self._lock:
            untouched = alone and len(entry.asked) == asked
        assert len(hits) <= 1 and (hits or not untouched), "a search missed what it was asked to have seen"

    def _ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, *, url: str = ""
    ) -> httpx.Response:
        """The answer of some server, which may be busy or gone for a while."""
        began = time.monotonic()
        while True:
            answer, problem = self._tried(method, path, body, headers, url or random.choice(self._urls))
            waited = time.monotonic() - began
            if answer is not None:
                with self._lock:
                    self.answers += 1
                    self.longest = max(self.longest, waited)
                return answer
            with self._lock:
                self.retries += 1
            assert waited < PATIENCE_SECONDS, f"no answer to {method} {path}: {problem}"
            time.sleep(PAUSE_SECONDS)

    def _tried(
        self, method: str, path: str, body: Any, headers: dict[str, str] | None, url: str
    ) -> tuple[httpx.Response | None, str | None]:
        """An answer, or why there is none yet."""
        began = time.monotonic()
        try:
            answer = self._client.request(method, f"{url}{self._base}{path}", json=body, headers=headers)
            problem = answer.text if answer.status_code == 503 else None
        except httpx.TransportError as error:
            answer, problem = None, repr(error)
        if self._heard is not None:
            self._heard(method, path.split("/")[1], time.monotonic() - began, problem)
        return (answer if problem is None else None), problem

    @property
    def _client(self) -> httpx.Client:
        if not hasattr(self._local, "client"):
            self._local.client = httpx.Client(timeout=30, trust_env=False)
            with self._lock:
                self._opened.append(self._local.client)
        return self._local.client


def number(seq: str) -> int:
    return int(seq.partition(":")[2])
