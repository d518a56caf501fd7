"""Admission control immediately refuses the requests that would wait too long, and no others."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from muisti.core.engine import Engine
from muisti.core.store.database import Ended, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.service.app.app import create_app
from muisti.service.app.protocol import AdmittingProtocol, Config
from muisti.service.app.server import listen
from muisti.service.runtime.admission import EXEMPT, Admission, Line, Turns
from muisti.service.settings import Settings
from tests.core.fakes import Clock as Time
from tests.core.fakes import WordEncoder
from tests.service.fakes import API, Breakable, draft

SEARCH = ("POST", f"{API}/search")


class Clock:
    """Clock in seconds, which a test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Threads:
    """Something that does one thing at a time, for which requests wait in a line."""

    def __init__(self, clock: Clock, line: Line, takes: float) -> None:
        self._clock, self._line, self._takes = clock, line, takes
        self._free_at = clock.now
        self.waiting: list[float] = []
        self.waited: list[float] = []

    def ask(self) -> None:
        self._line.enter()
        self.waiting.append(self._clock.now)

    def work(self) -> None:
        """Run the waiting requests that can have begun by now."""
        now = self._clock.now
        while self.waiting and max(self._free_at, self.waiting[0]) <= now:
            came = self.waiting.pop(0)
            self._clock.now = max(self._free_at, came)
            self._line.leave()
            self.waited.append(self._clock.now - came)
            self._free_at = self._clock.now + self._takes
        self._clock.now = now


def simulated(admission: Admission, clock: Clock, threads: Threads, gap: float, seconds: float) -> list[bool]:
    """Simulate searches that arrive every `gap` seconds, and return which were admitted."""
    let_in: list[bool] = []
    until = clock.now + seconds
    while clock.now < until:
        clock.now += gap
        threads.work()
        let_in.append(admission.admits(*SEARCH))
        if let_in[-1]:
            threads.ask()
    return let_in


@pytest.mark.parametrize("times", [2, 10, 50])
@pytest.mark.parametrize("takes", [0.001, 0.01])
def test_under_overload_nobody_waits_longer_than_he_may_and_no_time_is_lost(takes: float, times: int):
    clock = Clock()
    admission = Admission(0.5, 256, clock)
    threads = Threads(clock, admission.search, takes)
    assert all(simulated(admission, clock, threads, takes * 1.01, 200 * takes))  # as fast as it can
    simulated(admission, clock, threads, takes / times, 2.0)  # before it knows better, it fills its places
    assert max(threads.waited) <= 256 * takes
    began = len(threads.waited)
    simulated(admission, clock, threads, takes / times, 4.0)
    waited = threads.waited[began:]
    assert max(waited) < 0.6
    assert len(waited) * takes > 0.95 * 4.0
    assert all(simulated(admission, clock, threads, takes * 2, 2.0)[-50:])


def test_nobody_is_turned_away_who_has_not_to_wait():
    clock = Clock()
    admission = Admission(0.5, 256, clock)
    threads = Threads(clock, admission.search, 0.01)
    assert all(simulated(admission, clock, threads, 0.0101, 10.0))


def test_a_line_that_stands_still_is_closed_after_a_while_and_one_that_is_full_at_once():
    clock = Clock()
    admission = Admission(0.5, 100, clock)
    admission.search.enter()
    clock.now += 4.9
    assert admission.admits(*SEARCH)  # an index is loaded, say: what moved fast will do so again
    clock.now += 0.2
    assert not admission.admits(*SEARCH)
    fresh = Admission(0.5, 100, clock)
    while fresh.admits(*SEARCH):
        fresh.search.enter()
    assert 50 <= len(fresh.search) <= 100


def test_lines_stand_for_what_a_request_needs():
    admission = Admission(0.5, 4)
    reads, writes, tools = ("GET", f"{API}/memories"), ("POST", f"{API}/memories"), ("POST", "/mcp")
    kinds = {SEARCH, reads, writes, tools}
    for line, closed in (
        (admission.search, {SEARCH, tools}),
        (admission.store, {reads, writes, tools}),
        (admission.disk, {writes, tools}),
        (admission.loop, kinds),
    ):
        for _ in range(4):
            line.enter()
        assert {kind for kind in kinds if not admission.admits(*kind)} == closed
        assert all(admission.admits("GET", path) for path in EXEMPT)
        for _ in range(4):
            line.give_up()
    assert all(admission.admits(*kind) for kind in kinds)


def test_requests_that_wait_for_the_loop_count_in_the_lines_that_they_will_enter_alone():
    async def scenario() -> tuple[list[bool], list[bool]]:
        clock = Clock()
        admission = Admission(0.5, 256, clock)
        write = ("POST", f"{API}/generations/switch")
        for _ in range(100):  # until the database was slow
            admission.store.enter()
            clock.now += 0.1
            admission.store.leave()
        for _ in range(16):
            admission.begin(*SEARCH, lambda: None)
        one = [admission.admits(*write), admission.admits(*SEARCH)]
        for _ in range(16):
            admission.begin(*write, lambda: None)
        two = [admission.admits(*write), admission.admits(*SEARCH)]
        while len(admission.loop):
            await asyncio.sleep(0)
        assert not any(line.coming for line in (admission.search, admission.store, admission.disk))
        return one, two

    assert asyncio.run(scenario()) == ([True, True], [False, True])


def test_one_begins_in_a_turn_of_the_event_loop_and_all_begin_in_order():
    async def scenario() -> tuple[list[int], list[int]]:
        turns, begun, at = Turns(Line()), list[int](), list[int]()
        turn = 0

        def begin(number: int) -> None:
            begun.append(number)
            at.append(turn)

        for number in range(3):
            turns.begin(lambda number=number: begin(number))
        for turn in range(1, 6):  # read by `begin`
            await asyncio.sleep(0)
            if turn == 4:
                turns.begin(lambda: begin(3))
        return begun, at

    begun, at = asyncio.run(scenario())
    assert begun == [0, 1, 2, 3] and len(set(at)) == 4


@contextmanager
def served(engine: Engine, **settings: int | str) -> Iterator[str]:
    """Run a server in a thread, and yield its URL."""
    with running(engine, 5, **settings) as (url, _):
        yield url


@contextmanager
def running(engine: Engine, idle: int = 5, **settings: int | str) -> Iterator[tuple[str, asyncio.AbstractEventLoop]]:
    """Run a server. Yield its URL and its event loop. It closes connections that are idle for `idle` seconds."""
    given = Settings(port=0, **settings)  # pyright: ignore[reportArgumentType]
    app = create_app(given, engine=engine)
    config = Config(app, http=AdmittingProtocol, ws="none", lifespan="on", proxy_headers=False, log_config=None)
    config.connections, config.timeout_keep_alive = given.connection_limit, idle
    server = uvicorn.Server(config)
    with listen(given) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", server.servers[0].get_loop()
        finally:
            server.should_exit = True
            thread.join()


def post(body: bytes, *headers: str) -> bytes:
    lines = (f"POST {API}/memories HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers)
    return "\r\n".join((*lines, f"Content-Length: {len(body)}", "", "")).encode() + body


def exchange(address: tuple[str, int], sent: bytes, ends: bytes) -> bytes:
    """Send bytes on a new connection. Return the answer up to `ends`, or until the connection is closed."""
    heard = b""
    with socket.create_connection(address, timeout=30) as connection:
        connection.sendall(sent)
        while ends not in heard and (data := connection.recv(65_536)):
            heard += data
    return heard


@pytest.mark.file_only
def test_an_overloaded_server_says_so_lives_and_keeps_what_it_let_in(tmp_path: Path, clock: Time):
    database = Breakable(FileDatabase(tmp_path / "m.db"))
    engine = Engine(database, WordEncoder(), clock)
    memories, alive = f"{API}/memories", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held, queue = list[tuple[Sequence[Statement], Ended]](), database.queue
    with served(engine, queue_limit=4) as url, httpx.Client(base_url=url, timeout=60) as client:
        address = (httpx.URL(url).host, httpx.URL(url).port or 0)
        client.post(memories, json=draft())  # from now on the space is known, and a write waits for the disk alone
        database.queue = lambda statements, ended: (held.append((statements, ended)), True)[1]
        with ThreadPoolExecutor(12) as users:
            asked = [
                users.submit(client.post, memories, json=draft(f"note {n}", on_conflict="keep")) for n in range(12)
            ]
            while sum(one.done() for one in asked) < 8:  # four wait, at most
                time.sleep(0.01)
            refused = client.post(memories, json=draft(), headers={"X-Request-Id": "mine"})
            assert (refused.status_code, refused.json()["code"]) == (503, "busy")
            assert (refused.headers["retry-after"], refused.headers["x-request-id"]) == ("1", "mine")
            again = [client.post(memories, json=draft(), headers={"X-Request-Id": f"{n}"}) for n in range(3)]
            assert [(one.status_code, one.headers["x-request-id"]) for one in again] == [
                (503, f"{n}") for n in range(3)
            ]
            assert again[0].json() == refused.json()
            assert {**again[0].headers, "x-request-id": "mine"} == {**refused.headers}
            assert (client.head(f"{API}/stats").status_code, client.get(f"{API}/stats").status_code) == (200, 200)
            assert client.post(memories, content=b"x" * 300_000).status_code == 503
            assert client.post(f"{API}/search", json={"query": "deploy"}).status_code == 200
            assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]

            many = exchange(address, post(b"{}") * 2_000 + alive, b'"ok"')
            assert many.count(b"HTTP/1.1 503 ") == 2_000 and many.count(b"HTTP/1.1 200 ") == 1
            dropped = exchange(address, post(b"x" * 300_000) + alive, b'"ok"')
            assert dropped.count(b"HTTP/1.1 503 ") == dropped.count(b"HTTP/1.1 200 ") == 1
            waiting = exchange(address, post(b"{}", "Expect: 100-continue")[:-2], b"never")
            assert waiting.startswith(b"HTTP/1.1 503 ") and b"connection: close" in waiting

            database.queue = queue
            for statements, ended in held:
                queue(statements, ended)
        answers = [one.result().status_code for one in asked]
        assert set(answers) == {201, 503}
        assert client.get(f"{API}/stats").json()["memories"] - 1 == answers.count(201)
    engine.close()


def test_a_connection_too_many_is_told_and_closed_unless_it_asks_for_health(engine: Engine):
    with served(engine, connection_limit=1) as url, httpx.Client(base_url=url, timeout=60) as first:
        assert first.get(f"{API}/stats").status_code == 200
        refused = httpx.get(f"{url}{API}/stats", timeout=60)
        assert (refused.status_code, refused.headers["connection"]) == (503, "close")
        assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
        assert first.get(f"{API}/stats").status_code == 200


def test_a_request_that_comes_as_an_idle_connection_ends_is_answered(engine: Engine):
    """The event loop was busy until the idle timeout was over, and has not yet read the request."""
    alive = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    began, busy = threading.Event(), threading.Event()

    def keep_busy() -> None:
        loop.remove_reader(ours)
        began.set()
        busy.wait()

    with ExitStack() as stack:
        ours, theirs = (stack.enter_context(one) for one in socket.socketpair())
        url, loop = stack.enter_context(running(engine, idle=1))
        address = ("127.0.0.1", httpx.URL(url).port or 0)
        asking = stack.enter_context(socket.create_connection(address, timeout=30))
        asking.sendall(alive)
        assert received(asking).startswith(b"HTTP/1.1 200 ")
        loop.call_soon_threadsafe(loop.add_reader, ours, keep_busy)
        theirs.send(b"x")  # other input, then, keeps it busy
        began.wait()
        asking.sendall(alive)
        time.sleep(1.1)
        busy.set()
        assert received(asking).startswith(b"HTTP/1.1 200 ")
        assert asking.recv(65_536) == b""  # and then it ends


def received(connection: socket.socket) -> bytes:
    """Read an answer of `/healthz`, whose head and body may arrive apart."""
    answer = b""
    while not answer.endswith(b'"ok"}') and (more := connection.recv(65_536)):
        answer += more
    return answer
