"""The program of a worker process: it reads one file after the other from its input, within limits.

    python -m muisti.core.parsing.worker SECONDS

It opens no file but Python's own modules, starts no process, and writes to its output alone. Where the system can
do so, it is shut off from the network. It ends after so many seconds without a file, when its input ends, and after
a file that used up its memory.
"""

import ctypes
import errno
import io
import math
import os
import resource
import select
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, NamedTuple

from msgspec import structs

from muisti.core.model.unreadable import Broken, Empty, FileTooLarge, NoText, TimedOut, Unreadable
from muisti.core.model.values import is_blank
from muisti.core.parsing import frames
from muisti.core.parsing.detect import Format
from muisti.core.parsing.formats import READERS, Reader
from muisti.core.parsing.frames import Kind
from muisti.core.parsing.parsed import About, refusal
from muisti.core.parsing.pieces import Piece

# Shut a process off from the network, from other programs and from other processes, by a filter of system calls


class _Machine(NamedTuple):
    """A processor: its number in the kernel's audit, and the numbers of the system calls that are refused."""

    audit: int
    refused: Mapping[str, int]


_X86 = _Machine(
    0xC000003E,
    {
        "socket": 41, "connect": 42, "socketpair": 53, "execve": 59, "ptrace": 101, "process_vm_readv": 310,
        "process_vm_writev": 311, "execveat": 322, "io_uring_setup": 425, "pidfd_getfd": 438,
    },
)  # fmt: skip
_ARM = _Machine(
    0xC00000B7,
    {
        "socket": 198, "connect": 203, "socketpair": 199, "execve": 221, "ptrace": 117, "process_vm_readv": 270,
        "process_vm_writev": 271, "execveat": 281, "io_uring_setup": 425, "pidfd_getfd": 438,
    },
)  # fmt: skip
MACHINES = {"x86_64": _X86, "aarch64": _ARM}
_X32 = 0x40000000  # system calls of another interface of x86-64 have numbers from here on
_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # operations of a filter
_NUMBER, _AUDIT = 0, 4  # places of what is loaded
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def confine() -> bool:
    """Refuse this process the network, other programs and other processes from now on; return whether that worked."""
    machine = MACHINES.get(os.uname().machine) if sys.platform == "linux" else None
    if machine is None:
        return False
    program = b"".join(_instructions(machine))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    given = _Program(len(program) // 8, program)
    return libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(given), 0, 0) == 0


def _instructions(machine: _Machine) -> Iterator[bytes]:
    """Yield the filter: calls of another processor's interface and those named are refused, all others allowed."""
    numbers = [*machine.refused.values()]
    yield _instruction(_LOAD, _AUDIT)
    yield _instruction(_EQUAL, machine.audit, otherwise=len(numbers) + 3)
    yield _instruction(_LOAD, _NUMBER)
    yield _instruction(_AT_LEAST, _X32, then=len(numbers) + 1)
    for place, number in enumerate(numbers):
        yield _instruction(_EQUAL, number, then=len(numbers) - place)
    yield _instruction(_RETURN, _ALLOW)
    yield _instruction(_RETURN, _REFUSE)


def _instruction(operation: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """Return an instruction; `then` and `otherwise` are how many it skips."""
    return struct.pack("=HBBI", operation, then, otherwise, value)


MEMORY = 1 << 30  # bytes of address space
OFTEN = 0.5  # seconds of processor time after which pieces are sent, however few they are
BATCH = 1 << 16  # characters of pieces that are sent together
LONGEST = 1 << 20  # characters of a piece at most; a longer one is sent in parts
# What a file may cost by its size: seconds of processor time and characters for any file, and more for each byte.
SECONDS, BYTES_A_SECOND = 6, 10_000
CHARACTERS, EXPANDS = 4 << 20, 100
NICE = 10  # lower priority than the server: a file waits rather than a search
LIMITS = {
    resource.RLIMIT_AS: MEMORY,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: 32,
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_CORE: 0,
}


def file_reader(form: str) -> Reader:
    """Return the reader of a format."""
    return READERS[Format(form)]()


def main(reader_of: Callable[[str], Reader] = file_reader) -> None:
    """Read files until the input ends; `reader_of` gives the reader of a job by its form."""
    source = io.FileIO(0, closefd=False)
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the messages
    _limit()
    _send(target, frames.message(Kind.READY, frames.Started(confine())))
    idle = float(sys.argv[1])
    while select.select([source], [], [], idle)[0]:
        received = _receive(source, target)
        if received is None:
            return
        if not _Reading(target, *received, reader_of).run():
            return


def _limit() -> None:
    os.nice(NICE)
    for limit, value in LIMITS.items():
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):  # a system without this limit
            continue


def _receive(source: io.FileIO, target: BinaryIO) -> tuple[frames.Job, bytearray] | None:
    """Return a job and the content of its file; None when the input ended."""
    data, job = bytearray(), None
    while header := _exactly(source, frames.HEADER.size):
        kind, length = frames.HEADER.unpack(header)
        body = _exactly(source, length)
        if Kind(kind) is Kind.JOB:
            job = frames.decode(body, type=frames.Job)
            _send(target, frames.message(Kind.READY))
        elif job is not None and not length:
            return job, data
        else:
            data += body
    return None


def _exactly(source: io.FileIO, size: int) -> bytes:
    out = b""
    while len(out) < size:
        data = source.read(size - len(out))
        if not data:
            return b""
        out += data
    return out


def _send(target: BinaryIO, data: bytes) -> None:
    target.write(data)
    target.flush()


class _Reading:
    """The reading of one file: pieces go out as they come, and each renews the processor time until the next."""

    def __init__(self, target: BinaryIO, job: frames.Job, data: bytearray, reader_of: Callable[[str], Reader]) -> None:
        self._reader_of, self._target, self._job, self._data = reader_of, target, job, data
        self._characters = 0
        self._blank = True
        self._seconds = min(job.options.seconds, SECONDS + len(data) // BYTES_A_SECOND)
        self._ends = _used() + self._seconds
        self._most = min(job.options.max_characters, CHARACTERS + len(data) * EXPANDS)
        self._sent = _used()

    def run(self) -> bool:
        """Read the file and send the result. Return whether the process is fit for another file."""
        try:
            about = About(more_time=self._more_time)
            self._read(about)
        except Unreadable as refusal:
            self._refuse(refusal)
        except (MemoryError, RecursionError) as error:
            del self._data
            what = "memory" if isinstance(error, MemoryError) else "nesting"
            self._refuse(FileTooLarge(f"Reading the file needs more {what} than a file may use."), last=True)
            return False
        except Exception as error:  # noqa: BLE001  # a library may raise anything when a file is damaged
            self._refuse(Broken(f"The file cannot be read: {type(error).__name__}: {error}"[:300]))
        else:
            _send(
                self._target,
                frames.message(Kind.FACTS, frames.Facts(about.title, about.pages, about.language, about.notes)),
            )
            _send(self._target, frames.message(Kind.END))
        return True

    def _read(self, about: About) -> None:
        batch: list[Piece] = []
        size = 0
        self._renew()
        for piece in self._pieces(about):
            batch.append(piece)
            size += len(piece.text)
            if size >= BATCH or _used() > self._sent + OFTEN:
                self._send(batch)
                batch, size = [], 0
        if self._blank:
            raise (
                NoText(f"The file holds images alone. {refusal()}")
                if about.images
                else Empty("The file holds no text.")
            )
        self._send(batch)

    def _pieces(self, about: About) -> Iterator[Piece]:
        """Yield the pieces with text that can be stored, none longer than a message holds."""
        for piece in self._reader_of(self._job.form)(self._data, self._job.options, about):
            text = _storable(piece.text)
            self._characters += len(text)
            if self._characters > self._most:
                raise FileTooLarge(f"The file of {len(self._data):,} bytes has more than {self._most:,} characters.")
            self._blank = self._blank and is_blank(text)
            headings = tuple(map(_storable, piece.headings))
            for at in range(0, len(text), LONGEST):
                yield structs.replace(piece, text=text[at : at + LONGEST], headings=headings)

    def _send(self, batch: list[Piece]) -> None:
        _send(self._target, frames.message(Kind.PIECES, batch))
        self._sent = _used()
        self._renew()

    def _refuse(self, refusal: Unreadable, *, last: bool = False) -> None:
        body = frames.Refusal(refusal.code, _storable(str(refusal)), last)
        _send(self._target, frames.message(Kind.REFUSAL, body))

    def _more_time(self, seconds: int) -> None:
        """Let the next piece take longer, tell so, and do not count that time to the file's."""
        used = _used()
        self._ends += seconds
        _limit_time(used + seconds)
        _send(self._target, frames.message(Kind.WAIT, seconds))

    def _renew(self) -> None:
        used = _used()
        if used > self._ends:
            raise TimedOut(f"Reading the file took more than {self._seconds} s of processor time.")
        _limit_time(used + self._job.options.patience)


def _limit_time(until: float) -> None:
    """End the process by a signal when it has used so many seconds of processor time in all."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(until), resource.RLIM_INFINITY))


def _used() -> float:
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def _storable(text: str) -> str:
    """Return a text without NUL and lone surrogates, which no database stores."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


if __name__ == "__main__":
    main()
