"""An index in a file beside the database, as its arrays lie in memory, so that the next start maps it.

The database records the digest of each file, its seal, and deletes it in the transaction of an erasure. A file without
a seal is not used: one that is torn, damaged, of another layout, or from another past of the database.
"""

import fcntl
import mmap
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.index.columns import Buffer
from muisti.core.index.dialogue import Scalar
from muisti.core.index.postings import Postings
from muisti.core.index.rows import Rows
from muisti.core.kernels import Ints
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import index_rows
from muisti.core.store.sql.index_rows import Chain
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import ANALYZER

FORMAT = 1  # changes whenever the arrays mean something else
BLOCK = 1 << 14  # bytes; each array begins with a block of its own, and the digest has a sum of each
CHUNK = 64 * BLOCK
LEAST = 10_000  # rows of an index that is saved; fewer are unpacked in milliseconds
SPARE_ROOM = 16  # a column has room for this part of its rows more, so that the first write need not copy it
FREE = 2  # times the size of a file that must be free on the disk
NEW = "new-"  # begins the name of a file that is being written
_CHANGING = ("died", "embedded", "scales", "_before", "_after")  # columns written in place


class _Array(NamedTuple):
    """Where an array is: its type, the shape of a row, rows that are used, rows of room, and the first block."""

    dtype: str
    shape: tuple[int, ...]
    used: int
    room: int
    block: int


class _Head(msgspec.Struct, frozen=True):
    """All of an index but its arrays. `firsts` are the first rows of the pieces."""

    format: int
    analyzer: str
    chain: Chain
    seq: int
    units: list[int]
    blanks: int
    sessions: list[tuple[Scalar, bytes, bytes]]
    speakers: list[str]
    firsts: list[int]
    arrays: dict[str, _Array]
    blocks: int


class Image(NamedTuple):
    """An index at one change, to be written to a file: views of its arrays, and copies of those that may change."""

    head: _Head
    arrays: Mapping[str, npt.NDArray[Any]]


class Mapped(NamedTuple):
    """Rows and pieces of an index at change `seq`, mapped from a file."""

    rows: Rows
    pieces: list[Postings]
    seq: int


def image(chain: Chain, seq: int, rows: Rows, pieces: Sequence[Postings], units: Ints) -> Image:
    """Return the image of an index, which must not be changed meanwhile."""
    buffers = rows.buffers()
    arrays: dict[str, npt.NDArray[Any]] = {
        name: buffer.view().copy() if name.endswith(_CHANGING) else buffer.view() for name, buffer in buffers.items()
    }
    for number, piece in enumerate(pieces):
        arrays |= {f"{number}.{place}": array for place, array in enumerate(piece.arrays)}
    places: dict[str, _Array] = {}
    block = 0
    for name, array in arrays.items():
        room = len(array) + (len(array) // SPARE_ROOM if name in buffers else 0)
        places[name] = _Array(array.dtype.str, array.shape[1:], len(array), room, block)
        block += -(-room * array[:1].nbytes // BLOCK)
    sessions, speakers = rows.dialogues.state()
    firsts = [piece.first for piece in pieces]
    head = _Head(
        *(FORMAT, ANALYZER, chain, seq, units.tolist(), rows.vectors.blanks),
        *(sessions, speakers, firsts, places, block),
    )
    return Image(head, arrays)


def save(database: Database, folder: Path, space: SpaceRow, found: Image) -> None:
    """Write an image to a file, seal it, and remove the files that no seal names.

    Raises:
        OSError: the file cannot be written.
        MuistiError: the database cannot be used.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    if shutil.disk_usage(folder).free < FREE * found.head.blocks * BLOCK:
        return
    with _new_file(folder) as file:
        digest = _written(file, found)
        os.fsync(file.fileno())
        os.rename(file.name, folder / digest.hex())
    with suppress(Refused):  # another process has erased or recreated the space
        database.write(index_rows.set_seal(space, found.head.chain, found.head.seq, digest))
    sweep(database, folder)


@contextmanager
def _new_file(folder: Path) -> Generator[IO[bytes]]:
    """Make a locked file; `sweep` removes those that are not locked, whose process was killed."""
    with tempfile.NamedTemporaryFile(prefix=NEW, dir=folder, delete=False) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield cast(IO[bytes], file)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(file.name)


def _written(file: IO[bytes], found: Image) -> bytes:
    """Write an image, and return its digest. Room of columns becomes a hole in the file."""
    head = msgspec.msgpack.encode(found.head)
    head = len(head).to_bytes(8, "little") + head
    head += bytes(-len(head) % BLOCK)
    file.write(head)
    sums = np.zeros(found.head.blocks, np.uint64)
    for name, array in found.arrays.items():
        data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        place = found.head.arrays[name].block
        for start in range(0, len(data), CHUNK):
            part = data[start : start + CHUNK].tobytes()  # copied, so that what is summed is what is written
            part += bytes(-len(part) % BLOCK)
            at = place + start // BLOCK
            some = _sums(part)
            sums[at : at + len(some)] = some
            file.seek(len(head) + at * BLOCK)
            file.write(part)
    file.truncate(len(head) + found.head.blocks * BLOCK)
    file.flush()
    return _digest(head, sums)


def _sums(data: bytes | mmap.mmap, start: int = 0) -> npt.NDArray[np.uint64]:
    """Return the sum of the words of each block, which a change of any byte changes."""
    return np.frombuffer(data, np.uint64, offset=start).reshape(-1, BLOCK // 8).sum(axis=1)


def _digest(head: bytes, sums: npt.NDArray[np.uint64]) -> bytes:
    return blake2b(head + sums.tobytes(), digest_size=32).digest()


def load(database: Database, folder: Path, chain: Chain, rows: Rows, units: Ints) -> Mapped | None:
    """Map the sealed file of an index into the empty `rows`; return None where there is none that fits."""
    (found,) = database.read([index_rows.seal(chain)])
    if not found:
        return None
    digest = cast(bytes, found[0][0])
    try:
        with (folder / digest.hex()).open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        head, start = _head(data, digest)
        if (head.format, head.analyzer, head.chain, head.units) != (FORMAT, ANALYZER, chain, units.tolist()):
            return None
        return _mapped(data, head, start, rows)
    except (OSError, ValueError, KeyError, msgspec.MsgspecError):
        return None


def _head(data: mmap.mmap, digest: bytes) -> tuple[_Head, int]:
    """Return the head of a file and the place of its first block.

    Raises:
        ValueError, msgspec.MsgspecError: the file is not the one that was sealed.
    """
    size = 8 + int.from_bytes(data[:8], "little")
    size += -size % BLOCK
    if len(data) % BLOCK or size > len(data) or _digest(data[:size], _sums(data, size)) != digest:
        raise ValueError("not the sealed file")
    return msgspec.msgpack.decode(data[8 : 8 + int.from_bytes(data[:8], "little")], type=_Head), size


def _mapped(data: mmap.mmap, head: _Head, start: int, rows: Rows) -> Mapped:
    """Raises ValueError or KeyError when the file has other columns."""

    def array(name: str, dtype: "np.dtype[Any] | None" = None) -> npt.NDArray[Any]:
        place = head.arrays[name]
        if dtype is not None and dtype.str != place.dtype:
            raise ValueError(f"{name} has another type")
        count = place.room * int(np.prod(place.shape, dtype=np.int64))
        flat = np.frombuffer(data, place.dtype, count, start + place.block * BLOCK)
        return flat.reshape(place.room, *place.shape)

    buffers: dict[str, Buffer[Any]] = rows.buffers()
    whole = {name: array(name, buffer.view().dtype) for name, buffer in buffers.items()}
    if any(whole[name].shape[1:] != buffer.view().shape[1:] for name, buffer in buffers.items()):
        raise ValueError("vectors have other dimensions")
    for name, buffer in buffers.items():
        buffer.adopt(whole[name], head.arrays[name].used)
    rows.vectors.restore(len(rows), head.blanks)
    rows.dialogues.restore(len(rows), head.sessions, head.speakers)
    columns = len(Postings.__dataclass_fields__) - 2  # all but `first` and `table`
    pieces = [
        Postings(first, *(array(f"{number}.{place}") for place in range(columns)))
        for number, first in enumerate(head.firsts)
    ]
    return Mapped(rows, pieces, head.seq)


def sweep(database: Database, folder: Path) -> int:
    """Remove the files that no seal names; return how many could not be removed."""
    if not folder.is_dir():
        return 0
    (found,) = database.read([index_rows.seals()])
    sealed = {cast(bytes, digest).hex() for (digest,) in found}
    left = 0
    for path in folder.iterdir():
        if path.name not in sealed and not (path.name.startswith(NEW) and _is_locked(path)):
            try:
                path.unlink(missing_ok=True)
            except OSError:
                left += 1
    return left


def _is_locked(path: Path) -> bool:
    with suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
