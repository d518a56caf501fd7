"""Files made to do harm, and what is merely strange in good ones."""

import copy
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from muisti.core.engine import Engine
from muisti.core.model.errors import InvalidInput
from muisti.service.formats.importers.items import Unreadable
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.bringing import bring
from tests.stores import at

MEM0 = '{"id": "a", "memory": "Likes tea", "user_id": "u"}'


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 50_000_000 + b"]")


def overlapping(path: Path) -> None:
    """Make a ZIP whose many members share the same few bytes; each alone expands within the limits."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 10_000_000 + b"]")
        (first,) = archive.infolist()
        for number in range(1_000):
            member = copy.copy(first)
            member.filename = member.orig_filename = f"{number}.json"
            archive.filelist.append(member)
            archive.NameToInfo[member.filename] = member


def outside(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../conversations.json", "[]")


def encrypted(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", "[]")
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        data[data.index(mark) + offset] |= 1
    path.write_bytes(data)


def view(path: Path) -> None:
    """Make a file of Zakira in which an endless recursive view replaces a table."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW memories AS WITH RECURSIVE n(category) AS (SELECT 1 UNION ALL SELECT 1 FROM n) "
                           "SELECT category, 'k' AS key, 'd' AS data FROM n")  # fmt: skip
    connection.close()


def written(text: str | bytes) -> Callable[[Path], None]:
    data = text.encode() if isinstance(text, str) else text

    def make(path: Path) -> None:
        path.write_bytes(data)

    return make


REFUSED = {
    "a bomb": (bomb, "too large when unpacked"),
    "a bomb of members that share their bytes": (overlapping, "too large when unpacked"),
    "a member that leads out": (outside, "leads out of the archive"),
    "an encrypted archive": (encrypted, "damaged or encrypted"),
    "a view for a table": (view, "--from NAME names it: muisti, vipune"),
    "nested beyond measure": (written("[" * 100_000), "no JSON|of no known form"),
    "a list nested beyond measure": (written(f"[{MEM0}, " + "[" * 100_000), "item 0"),
    "a line without an end": (written('{"type": "entity", "name": "a"}\n' + "x" * (17 << 20)), "file:2.: the line is"),
    "a number without an end": (written(f'[{MEM0}, {{"memory": {"9" * 5_000}}}]'), "item 0|no JSON"),
    "nothing": (written(" \n"), "is empty"),
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(at(tmp_path_factory.mktemp("hostile") / "muisti.db").open(), WordEncoder(), Clock()) as opened:
        yield opened


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_made_to_do_harm_is_refused_by_name(engine: Engine, tmp_path: Path, name: str):
    make, message = REFUSED[name]
    make(tmp_path / "file")
    with pytest.raises((Unreadable, InvalidInput), match=message):
        bring(engine, tmp_path / "file")
    assert engine.owner.read.stats("default").versions == 0


def test_a_folder_is_not_left_by_its_links(engine: Engine, tmp_path: Path):
    vault = tmp_path / "Vault"
    vault.mkdir()
    (tmp_path / "secret.md").write_text("Not of this vault")
    (vault / "link.md").symlink_to(tmp_path / "secret.md")
    (vault / "loop").symlink_to(vault)
    (vault / "note.md").write_text("Of this vault")
    engine.spaces.create("vault")
    assert bring(engine, vault, "vault")[0].created == 1


def test_what_is_strange_in_a_good_file_comes_in(engine: Engine, tmp_path: Path):
    rows = [
        {
            "id": "1", "memory": "With \0 and \ud800", "user_id": "u", "created_at": "9" * 400,
            "metadata": {"": 1, "n": 2**62},
        },
        {"id": "2", "memory": "word " * 30_000, "categories": "a, b,, " + "c" * 900, "created_at": "yesterday"},
        {"id": "3", "memory": "Deep", "metadata": json.loads("[" * 60 + "]" * 60), "updated_at": -1e300},
        {"id": "3", "memory": "The same id again"},
    ]  # fmt: skip
    (tmp_path / "list.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(rows).encode())
    engine.spaces.create("strange")
    report, reading = bring(engine, tmp_path / "list.json", "strange")
    assert (report.created, report.skipped, reading.read) == (5, {}, 4)
    found = engine.owner.read.list("strange").items
    assert sorted(memory.metadata.get("part", "") for memory in found) == ["", "", "", "1/2", "2/2"]
