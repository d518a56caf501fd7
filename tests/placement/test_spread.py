"""The fixed part of placement: the bucket of a name, how names spread, and what a plan evens out."""

from array import array
from collections import Counter

from muisti.core.model.buckets import BUCKETS, bucket_of, in_unit, unit_of
from muisti.core.placement.directory import Map, Target
from muisti.core.placement.planning import Size, plan

DATABASES = 16
NAMES = 1_000_000


def even() -> Map:
    buckets = array("H", [bucket % DATABASES for bucket in range(BUCKETS)])
    return Map(1, buckets, {}, {id_: Target(id=id_, name=f"d{id_}", url="") for id_ in range(DATABASES)})


def test_buckets_are_fixed_for_ever():
    known = {"default": 709, "acme": 2754, "a": 970, "tenant-000001": 2738}
    assert {name: bucket_of(name) for name in known} == known
    assert in_unit(unit_of(17)) == 17
    assert in_unit("acme") is None


def test_a_million_names_spread_over_sixteen_databases_within_a_tenth():
    known = even()
    counts = Counter(known.buckets[bucket_of(f"tenant-{number}")] for number in range(NAMES))
    mean = NAMES / DATABASES
    assert len(counts) == DATABASES
    assert all(abs(count - mean) <= mean / 10 for count in counts.values()), counts


def test_a_plan_evens_out_sizes_and_empties_what_is_drained():
    buckets = array("H", [0] * BUCKETS)
    targets = {id_: Target(id=id_, name=f"d{id_}", url="") for id_ in range(3)}
    known = Map(1, buckets, {}, targets)
    sizes = {0: {unit_of(bucket): Size(1, 10, 1_000 + bucket % 7 * 100) for bucket in range(300)}, 1: {}, 2: {}}
    proposed = plan(known, sizes, 1_000)
    held = {0: sum(size.bytes for size in sizes[0].values()), 1: 0, 2: 0}
    total = held[0]
    for one in proposed:
        held[one.source] -= one.bytes
        held[one.target] += one.bytes
    assert all(abs(size - total / 3) <= total / 3 / 5 for size in held.values()), held
    drained = Map(1, buckets, {}, targets | {0: Target(id=0, name="d0", url="", draining=True)})
    left = {unit_of(bucket) for bucket in range(BUCKETS)} - {one.unit for one in plan(drained, sizes, BUCKETS)}
    assert not left
