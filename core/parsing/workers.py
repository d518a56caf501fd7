"""Processes that read files of strangers: limited, restarted after a death, ended when idle."""

import os
import select
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from time import monotonic
from typing import BinaryIO

from muisti.core.model.unreadable import BY_CODE, Crashed, FileTooLarge, TimedOut, Unreadable
from muisti.core.parsing import frames
from muisti.core.parsing.frames import Kind
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.pieces import Piece
from muisti.core.support.waiting import Turns, refuse_long

PROGRAM = "muisti.core.parsing.worker"
FILES = 200  # of which any may leave memory behind
STARTING = 60.0  # seconds in which a worker must be ready
IDLE = 60.0  # seconds after which a worker without a file ends itself
GRACE = 8  # a worker may take this many times its processor time, as processes of higher priority compete with it
STARVED = 300.0  # seconds more that a worker may take while it is ready to run, and gets no processor
SIGXCPU = 24
# A library for numbers would start threads, which a worker may not, and keep more memory than it needs.
ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": f"{16 << 20}",
    "MALLOC_TRIM_THRESHOLD_": f"{256 << 20}",
}
_BLOCK = 1 << 16


class Died(Exception):
    """The worker ended without an answer. `status` is its exit status, negative for a signal."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class Workers:
    """At most `most` worker processes. One is started when a file needs it, and it ends itself when it is idle.

    Files of one space leave a process to the other spaces, where there is more than one. `program` is the module that
    they run. A fresh process takes the place of one that has read `files` files.

    A reading holds a worker until its last piece or until it is closed. A thread that holds all workers and asks for
    another waits forever, so finish one document before the next.
    """

    def __init__(self, most: int = 1, idle: float = IDLE, program: str = PROGRAM, files: int = FILES) -> None:
        self._idle, self._program, self._files = idle, program, files
        self._free: list[_Worker] = []
        self._turns = Turns(most)
        self._lock = threading.Lock()

    def read(
        self, form: str, head: bytes, stream: BinaryIO, name: str, options: Options, about: About
    ) -> Iterator[Piece]:
        """Yield the pieces of a file whose first bytes have been read, and complete the facts about it.

        Raises what the worker raises, `TimedOut` when it gives nothing for too long, and `Crashed` when it ends.
        """
        refuse_long()
        with self._turns.turn():
            worker = self._take(frames.Job(form, name, options))
            try:
                worker.send(head, stream, options.max_bytes)
                yield from worker.pieces(about, options)
            except Died as death:
                raise _meaning(death, options) from death
            except BrokenPipeError as error:
                raise _meaning(Died(worker.stop()), options) from error
            finally:
                self._give_back(worker)

    @property
    def processes(self) -> tuple[int, ...]:
        """Return the process ids of the workers that wait for a file."""
        with self._lock:
            return tuple(worker.pid for worker in self._free)

    def confined(self) -> bool:
        """Start a worker where none waits, and return whether the system shuts it off from the network.

        Raises:
            Crashed: it does not start.
        """
        refuse_long()
        with self._turns.turn():
            with self._lock:
                worker = self._free.pop() if self._free else None
            try:
                worker = worker or _Worker(self._idle, self._program)
            except (Died, TimedOut, BrokenPipeError) as error:
                raise Crashed("The process that reads files does not start.") from error
            self._give_back(worker)
            return worker.confined

    def close(self) -> None:
        """End all workers that are not reading."""
        with self._lock:
            free, self._free = self._free, []
        for worker in free:
            worker.stop()

    def _take(self, job: frames.Job) -> "_Worker":
        """Return a worker that has accepted a job: one that is free, or a new one where those have just ended."""
        while True:
            with self._lock:
                worker = self._free.pop() if self._free else None
            if worker is None:
                break
            try:
                worker.accept(job)
                return worker
            except (Died, TimedOut, BrokenPipeError):
                worker.stop()
        worker = _Worker(self._idle, self._program)
        try:
            worker.accept(job)
        except (Died, TimedOut, BrokenPipeError) as error:
            raise Crashed(f"The process that reads files does not start: status {worker.stop()}.") from error
        return worker

    def _give_back(self, worker: "_Worker") -> None:
        if worker.idle and worker.files < self._files:
            with self._lock:
                self._free.append(worker)
        else:
            worker.stop()


def _meaning(death: Died, options: Options) -> Unreadable:
    """Return the error for a dead worker: the limit of processor time kills it by a signal of its own."""
    if death.status == -SIGXCPU:
        return TimedOut(f"Reading the file used {options.patience} s of processor time without a result.")
    return Crashed(f"The process that read the file died with status {death.status}.")


class _Worker:
    def __init__(self, idle: float, program: str) -> None:
        self.files = 0
        self.idle = True
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-W", "ignore", "-m", program, str(idle)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            # Nothing of our environment: no keys of the server, and nothing that changes how Python runs.
            env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **ALONE},
        )
        assert self._process.stdout is not None
        self._answers = select.poll()  # which, unlike select(), takes any number of open files
        self._answers.register(self._process.stdout, select.POLLIN)
        try:
            _, body = self._receive(monotonic() + STARTING)
        except (Died, TimedOut):
            self.stop()
            raise
        self.confined = frames.decode(body, type=frames.Started).confined

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._process.poll() is None

    @property
    def _is_ready(self) -> bool:
        """Return whether the process is ready to run, so that only a busy machine keeps it from an answer."""
        try:
            return Path(f"/proc/{self.pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] == "R"
        except (OSError, IndexError):  # a system without such files
            return False

    def accept(self, job: frames.Job) -> None:
        """Send a job, and wait until the worker takes it; until then it may end as idle."""
        self.idle = False
        self.files += 1
        self._write(frames.message(Kind.JOB, job))
        self._receive(monotonic() + STARTING)

    def send(self, head: bytes, stream: BinaryIO, most: int) -> None:
        """Send the file of the job. Raises `FileTooLarge` above `most` bytes; the worker is then of no more use."""
        sent, block = 0, head
        while block:
            sent += len(block)
            if sent > most:
                raise FileTooLarge(f"The file has more than {most:,} bytes.")
            for at in range(0, len(block), _BLOCK):
                self._write(frames.block(block[at : at + _BLOCK]))
            block = stream.read(_BLOCK)
        self._write(frames.block(b""))

    def pieces(self, about: About, options: Options) -> Generator[Piece]:
        """Yield the pieces of the file that was sent; raise what the worker raised."""
        left, patience = float(options.seconds * GRACE), options.patience
        while True:
            asked = monotonic()
            kind, body = self._receive(asked + min(left, patience * GRACE))
            left -= monotonic() - asked
            patience = options.patience
            if kind is Kind.WAIT:
                patience = frames.decode(body, type=int)
                left += patience * GRACE
            elif kind is Kind.PIECES:
                yield from frames.decode(body, type=list[Piece])
            elif kind is Kind.REFUSAL:
                refusal = frames.decode(body, type=frames.Refusal)
                self.idle = not refusal.last
                raise BY_CODE[refusal.code](refusal.message)
            elif kind is Kind.FACTS:
                facts = frames.decode(body, type=frames.Facts)
                about.title, about.pages, about.language = facts.title, facts.pages, facts.language
                about.notes = facts.notes
            else:
                self.idle = True
                return

    def stop(self) -> int:
        """End the process, and return its exit status."""
        if self.alive:
            self._process.kill()
        status = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        return status

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) :]

    def _receive(self, until: float) -> tuple[Kind, bytes]:
        kind, length = frames.HEADER.unpack(self._exactly(frames.HEADER.size, until))
        if length > frames.LONGEST:
            raise Died(self.stop())
        return Kind(kind), self._exactly(length, until)

    def _exactly(self, size: int, until: float) -> bytes:
        assert self._process.stdout is not None
        out = bytearray()
        while len(out) < size:
            if not self._answers.poll(1000 * max(0.0, until - monotonic())):
                if monotonic() > until + STARVED or not self._is_ready:
                    raise TimedOut("Reading the file gave no result within the time limit.")
                self._answers.poll(1000)
                continue
            data = os.read(self._process.stdout.fileno(), min(_BLOCK, size - len(out)))
            if not data:
                raise Died(self._process.wait())
            out += data
        return bytes(out)
