"""A long life of random steps equals a plain model, on a file and on a server; and after copies and kills."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from muisti.core.embedding.models import Models
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.operations.checkup import look
from muisti.core.store.file.database import FileDatabase
from tests.conversations.long_life import Lived
from tests.core.fakes import SPACE, Clock, WordEncoder, open_engine
from tests.stores import Stores

LONG, SHORT = 20_000, 250  # steps of one life
LIVES = 10  # with --long, on each store: 200,000 steps in all


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("seed", range(LIVES))
def test_a_long_life_equals_a_plain_model(stores: Stores, seed: int, long: bool):
    if seed and not long:
        pytest.skip("other lives are for --long")
    with open_engine(stores(), clock=Clock()) as engine:
        lived = Lived(engine, seed)
        for number in range(LONG if long else SHORT):
            lived.step()
            if number % 100 == 0:
                lived.compare()
        lived.compare()
        engine.spaces.create("copy", CONTENT_ONLY)
        lived.travel("copy")
        engine.owner.timeline.fork(SPACE, "fork")
        lived.compare(space="fork")
        stats = engine.owner.read.stats(SPACE)
        assert stats.usage is not None
        assert stats.memories == sum(len(talk.turns) for talk in lived.life.talks.values())
        assert stats.usage.memories > stats.memories  # sessions, conversations and topics count too


@pytest.mark.one_store
def test_a_purged_conversation_is_in_no_byte_of_the_file(tmp_path: Path):
    with open_engine(tmp_path / "a.db", clock=Clock()) as engine:
        lived = Lived(engine, 11)
        for _ in range(150):
            lived.step()
        while lived.known() is not None:
            lived.purge()
        assert len(lived.canaries) > 3
        for file in tmp_path.iterdir():
            content = file.read_bytes()
            assert [word for word in lived.canaries if word.encode() in content] == [], file


@pytest.mark.file_only
def test_a_copy_of_the_file_at_any_moment_is_whole(tmp_path: Path):
    """As after a kill: the file with its log, as they are between two steps."""
    path = tmp_path / "a.db"
    with open_engine(path, clock=Clock()) as engine:
        lived = Lived(engine, 5)
        for number in range(6):
            for _ in range(25):
                lived.step()
            folder = tmp_path / f"copy{number}"
            folder.mkdir()
            for name in ("a.db", "a.db-wal"):
                if (tmp_path / name).exists():
                    shutil.copy(tmp_path / name, folder / name)
            with closing(FileDatabase(folder / "a.db")) as database:
                found = look(database, Models(WordEncoder()), lambda done, total: None)
                assert not found.flaws and not found.counts and not found.segments
            with open_engine(folder / "a.db", clock=Clock()) as copied:
                again = Lived(copied, 0)
                again.life = lived.life
                again.compare()
