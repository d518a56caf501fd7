"""Whatever the network does: what was acknowledged is there, once, and what was refused is not."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.model.errors import StoreFull, StoreUnavailable
from muisti.core.store.database import Database, Refused, Statement
from muisti.core.store.remote import retry
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from tests.remote.proxy import FAULTS, Fault, Proxy
from tests.stores import RemoteStore

MANY_FAULTS, FEW_FAULTS = 1_000, 300  # many with --long
THREADS = 8
SHARE = 0.4  # of requests that something happens to

TABLES = [
    Statement("CREATE TABLE counter (n INTEGER NOT NULL) STRICT"),
    Statement("INSERT INTO counter VALUES (0)"),
    Statement("CREATE TABLE log (n INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT"),
]
# A name that is there already is refused; so a write that is sent twice would be refused, not merely counted twice.
COUNT = "UPDATE counter SET n = n + 1"
NOTE = "INSERT INTO log SELECT n, ? FROM counter"
NUMBER = Statement("SELECT n FROM counter")


def add(database: Database, name: str) -> int:
    """Note a name under the next number; gives the number."""
    rows = database.write([Statement(COUNT), Statement(NOTE, (name,)), NUMBER])
    number = rows[2][0][0]
    assert isinstance(number, int)
    return number


def log(database: Database) -> dict[str, int]:
    (rows,) = database.read([Statement("SELECT name, n FROM log")])
    noted = {str(name): int(str(n)) for name, n in rows}
    assert len(noted) == len(rows), "a write was done twice"
    return noted


def chooser(seed: int) -> tuple[list[bool], Callable[[], Fault | None]]:
    """Return what says what happens to the next request, and a cell: nothing while the network is whole."""
    broken, rng = [False], random.Random(seed)
    return broken, lambda: rng.choice(FAULTS) if broken[0] and rng.random() < SHARE else None


@pytest.mark.prove
def test_of_many_faults_none_loses_or_doubles_a_write(sqld: Sqld, long: bool):
    faults = MANY_FAULTS if long else FEW_FAULTS
    store = RemoteStore(sqld)
    store.open().write(TABLES)
    broken, choose = chooser(7)
    acknowledged: dict[str, int] = {}
    unknown: set[str] = set()
    lock = threading.Lock()
    with Proxy(sqld.port, choose) as proxy:
        database = RemoteDatabase(Server(proxy.url, Token(), store.namespace), seconds=20)
        broken[0] = True

        def work(thread: int) -> None:
            turn = 0
            while sum(proxy.done.values()) < faults:
                turn += 1
                name = f"{thread}-{turn}"
                try:
                    number = add(database, name)
                except StoreUnavailable:
                    with lock:
                        unknown.add(name)
                else:
                    with lock:
                        acknowledged[name] = number
                    assert log(database)[name] == number  # read your write

        with ThreadPoolExecutor(THREADS) as pool:
            for outcome in [pool.submit(work, thread) for thread in range(THREADS)]:
                outcome.result()
        assert set(proxy.done) == set(FAULTS)
    direct = store.open()
    noted = log(direct)
    assert {name: noted.get(name) for name in acknowledged} == acknowledged
    assert set(noted) <= set(acknowledged) | unknown
    assert sorted(noted.values()) == list(range(1, len(noted) + 1))
    assert direct.read([NUMBER]) == [[(len(noted),)]]
    meters = database.meters
    assert meters.commit_seconds.read()[()].up_to[-1] >= len(acknowledged)
    assert sum(meters.retries.read().values()) >= faults / 2  # each fault but those that nobody waited for
    assert len(unknown) * 20 <= len(acknowledged)  # clients see at most a retry, and that seldom


def test_a_refusal_is_a_refusal_whatever_happens_to_the_replies(sqld: Sqld):
    """Compare-and-set under faults: of the clients that claim a number one gets it, and the others are refused."""
    store = RemoteStore(sqld)
    store.open().write([*TABLES, Statement("CREATE UNIQUE INDEX once ON log (name)")])
    broken, choose = chooser(8)
    with Proxy(sqld.port, choose) as proxy:
        database = RemoteDatabase(Server(proxy.url, Token(), store.namespace), seconds=20)
        broken[0] = True

        def claim(place: int) -> str | None:
            name = f"seat {place % 20}"
            try:
                return f"{name} {add(database, name)}"
            except Refused:
                return None

        with ThreadPoolExecutor(THREADS) as pool:
            claims = list(pool.map(claim, range(100)))
    noted = log(store.open())
    assert sorted(claim for claim in claims if claim) == sorted(f"{name} {n}" for name, n in noted.items())
    assert len(noted) == 20


def test_when_no_answer_ever_comes_the_caller_is_told_that_the_outcome_is_unknown(sqld: Sqld):
    store = RemoteStore(sqld)
    store.open().write(TABLES)
    broken = [False]
    with Proxy(sqld.port, lambda: "cut after request" if broken[0] else None) as proxy:
        database = RemoteDatabase(Server(proxy.url, Token(), store.namespace), seconds=1)
        broken[0] = True
        with pytest.raises(StoreUnavailable, match="may or may not be stored"):
            add(database, "a")
        assert database.meters.retries.read()["primary", "no_answer"] > 0
        broken[0] = False
        assert add(database, "b") == len(log(database))


def test_a_server_that_is_not_there_or_does_not_speak_hrana_is_told_within_the_time(sqld: Sqld):
    with Proxy(sqld.port, lambda: None) as gone:
        pass
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        RemoteDatabase(Server(gone.url, Token(), "default"), seconds=1)
    with pytest.raises(StoreUnavailable, match="Hrana"):
        RemoteDatabase(Server(f"{sqld.url}/elsewhere", Token(), "default"), seconds=3)


def test_a_server_that_is_killed_and_comes_back_is_waited_for(sqld_of_its_own: Sqld):
    store = RemoteStore(sqld_of_its_own)
    database = store.open()
    database.write(TABLES)
    numbers = [add(database, f"{turn}") for turn in range(5)]
    for turn in range(5, 10):
        sqld_of_its_own.kill()
        back = threading.Timer(0.2, sqld_of_its_own.start)
        back.start()
        numbers.append(add(database, f"{turn}"))
        back.join()
    assert numbers == list(range(1, 11)) == sorted(log(database).values())


def test_a_database_that_is_full_says_so_and_goes_on_reading(sqld: Sqld):
    sqld.create("narrow", max_db_size="300KB")
    database = RemoteDatabase(Server(sqld.url, Token(), "narrow"))
    database.write(TABLES)
    number = add(database, "a")
    with pytest.raises(StoreFull, match="nothing was stored"):
        add(database, "x" * 1_000_000)
    assert log(database) == {"a": number}


def test_the_ids_of_old_writes_go_and_the_count_stays(sqld: Sqld, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(retry, "SWEEP_EVERY", 10**9)
    database = RemoteStore(sqld).open()
    database.write(TABLES)
    for turn in range(5):
        add(database, str(turn))
    database.write([Statement("UPDATE muisti_writes SET at = 0 WHERE id <> x''")])
    monkeypatch.setattr(retry, "SWEEP_EVERY", 1)
    database.write([Statement(COUNT)])
    ids = Statement("SELECT count(*) FROM muisti_writes WHERE id <> x''")
    assert database.read([ids, retry.COUNT]) == [[(1,)], [(8,)]]  # the last write's own


def test_threads_of_one_process_write_one_after_another(sqld: Sqld):
    store = RemoteStore(sqld)
    store.open().write(TABLES)
    with Proxy(sqld.port, lambda: None) as proxy:
        database = RemoteDatabase(Server(proxy.url, Token(), store.namespace))
        with ThreadPoolExecutor(16) as threads:
            numbers = list(threads.map(lambda n: add(database, str(n)), range(64)))
        noted = log(database)
        database.close()
    assert sorted(numbers) == list(range(1, 65))
    assert noted == {str(n): number for n, number in enumerate(numbers)}
    assert proxy.most_at_once == 1, "writes waited at the server, where each would hold a connection"
