"""One process at a time has a lease, as the clock of the database says."""

import threading

from muisti.core.engine import Engine
from tests.core.fakes import open_engine
from tests.stores import Stores

LONG = 600.0  # seconds
OVER = -1.0  # a lease that has ended when anybody looks


def test_a_lease_is_one_owners_until_it_is_given_back(engine: Engine):
    leases = engine.leases
    assert leases.take("work", "a", LONG) == 0
    assert 0 < leases.take("work", "b", LONG) <= LONG
    assert leases.take("other", "b", LONG) == 0
    leases.give_back("work", "b")  # not b's to give
    assert leases.take("work", "b", LONG) > 0
    leases.give_back("work", "a")
    assert leases.take("work", "b", LONG) == 0
    assert leases.take("work", "a", LONG) > 0


def test_the_owner_prolongs_a_lease_and_another_takes_over_when_it_ends(engine: Engine):
    leases = engine.leases
    assert leases.take("work", "a", OVER) == 0
    assert leases.take("work", "a", LONG) == 0
    assert leases.take("work", "b", OVER) > LONG - 60
    assert leases.take("work", "a", OVER) == 0
    assert leases.take("work", "b", LONG) == 0
    assert leases.take("work", "a", LONG) > 0  # who was late has lost it
    leases.give_back("work", "b", rest=LONG)
    for owner in "ab":
        assert LONG - 60 < leases.take("work", owner, LONG) <= LONG


def test_of_many_who_want_a_lease_at_once_one_gets_it(stores: Stores):
    store = stores()
    with open_engine(store) as one, open_engine(store) as two:
        start = threading.Barrier(8)
        waits = dict[str, float]()

        def want(owner: str, engine: Engine) -> None:
            start.wait()
            waits[owner] = engine.leases.take("work", owner, LONG)

        threads = [threading.Thread(target=want, args=(str(n), (one, two)[n % 2])) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(waits) == 8 and list(waits.values()).count(0) == 1
