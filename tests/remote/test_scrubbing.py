"""A purge on sqld, and a scrub afterwards: what is left of erased names in the bytes of all files."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Conflict
from muisti.core.model.location import Location
from muisti.core.model.values import Draft
from muisti.core.operations.whole_database import scrub
from muisti.core.query.filters import Subject
from muisti.core.store.remote.scrubbing import LOG_BYTES
from tests.core.fakes import SPACE, open_engine
from tests.graph.plain import toy_reader
from tests.stores import RemoteStore

SMALL_LOG = 40_000_000


@pytest.mark.prove
def test_after_a_purge_and_a_scrub_no_name_is_in_a_byte_of_any_file(tmp_path: Path, long: bool):
    """Many short names in random order, a tenth of them erased, on a server of its own with a replica.

    With `--long`, its log is as large as logs usually are, which takes a minute.
    """
    log_bytes = LOG_BYTES if long else SMALL_LOG
    rng = random.Random(1)
    names = [f"K{rng.getrandbits(40):010x}" for _ in range(1_500)]
    gone = {name.lower().encode() for name in names if rng.random() < 0.1}

    def left(folder: Path) -> dict[str, int]:
        """Count the names in each file that has one."""
        files = {str(file): file.read_bytes().lower() for file in folder.rglob("*") if file.is_file()}
        found = {file: len(gone & set(re.findall(rb"k[0-9a-f]{10}", data))) for file, data in files.items()}
        return {file: count for file, count in found.items() if count}

    with (
        Sqld(tmp_path / "primary", log_bytes=log_bytes) as primary,
        Sqld(tmp_path / "replica", primary=primary) as replica,
    ):
        store = RemoteStore(primary, replica)
        with open_engine(store, graph_reader=toy_reader, embeddings=False) as engine:
            for start in range(0, len(names), 100):
                drafts = [
                    Draft(content=f"{one} met Ann", author="gone" if one.lower().encode() in gone else "kept")
                    for one in names[start : start + 100]
                ]
                engine.owner.write.add(SPACE, drafts, on_conflict="keep")
            engine.owner.graph.extend(SPACE)
            report = engine.eraser.subject(SPACE, Subject(author="gone"), {}, OWNER)
            assert not any(report.found.values()) and "logs of the database server" in report.unchecked
            assert not any(place.startswith("free pages") for place in report.unchecked)
            primary.checkpoint(store.namespace)
            file = str(primary.database(store.namespace))
            assert left(primary.folder)[file] < 30 < len(gone) == left(primary.folder)[f"{Path(file).parent}/wallog"]
            location = Location(url=primary.url, namespace=store.namespace)
            done = scrub(location, primary.admin_url, None, log_bytes=log_bytes)
            assert done.written > 2.5 * log_bytes
            assert left(primary.folder) == {}
            assert until(lambda: left(replica.folder) == {})
            assert engine.owner.graph.entities(SPACE).total == len(names) - len(gone) + 2


def until(what: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until a condition holds, and return whether it does."""
    ends = time.monotonic() + seconds
    while not (met := what()) and time.monotonic() < ends:
        time.sleep(0.5)
    return met


def test_a_file_has_nothing_to_scrub(tmp_path: Path):
    with pytest.raises(Conflict, match="is a file"):
        scrub(Location(url=f"file:{tmp_path / 'm.db'}"), "http://localhost:9", None)
