"""Worker processes: limited, replaced after a death, ended when idle, and harmless to what is read next."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from muisti.core.model.unreadable import Broken, Crashed, FileTooLarge, TimedOut, Unreadable
from muisti.core.parsing import worker
from muisti.core.parsing.detect import ARCHIVES, STREAMED, Format
from muisti.core.parsing.formats import READERS
from muisti.core.parsing.parsed import Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples

PAGES = samples.pdf(*["A page with some words on it. " * 3] * 3)


def read(workers: Workers, data: bytes = PAGES, options: Options | None = None) -> str:
    with parse(data, "a.pdf", options or Options(), workers) as document:
        return "".join(piece.text for piece in document)


def pids(workers: Workers) -> list[int]:
    return [*workers.processes]


def wait_for_the_end_of(pid: int) -> None:
    while Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z":
        time.sleep(0.01)


def test_one_process_reads_file_after_file():
    workers = Workers()
    assert pids(workers) == []
    texts = {read(workers) for _ in range(3)}
    first = pids(workers)
    with pytest.raises(Broken):
        read(workers, b"%PDF-1.7 no more")
    assert len(texts) == 1 and pids(workers) == first
    workers.close()
    assert not Path(f"/proc/{first[0]}").exists()


def test_a_dead_worker_is_replaced():
    workers = Workers()
    text = read(workers)
    (killed,) = pids(workers)
    os.kill(killed, signal.SIGKILL)
    wait_for_the_end_of(killed)
    assert read(workers) == text
    assert pids(workers) != [killed]
    workers.close()


def test_a_worker_that_dies_of_a_file_is_a_crash_and_the_next_file_is_read():
    workers = Workers()
    text = read(workers)
    (pid,) = pids(workers)
    document = parse(samples.pdf(*["Words. " * 400] * 3_000), "a.pdf", Options(), workers)
    pieces = iter(document)
    next(pieces)
    os.kill(pid, signal.SIGABRT)
    with pytest.raises(Crashed) as error:
        for _ in pieces:
            continue
    assert error.value.again and str(-signal.SIGABRT) in str(error.value)
    assert read(workers) == text
    workers.close()


def test_a_reading_that_is_closed_early_frees_its_worker():
    workers = Workers(1)
    with parse(samples.pdf(*["Words. " * 400] * 300), "a.pdf", Options(), workers) as document:
        assert next(iter(document)).page == 1
    assert read(workers)
    workers.close()


def test_a_file_without_progress_is_ended_by_its_processor_time():
    """The parser of HTML takes quadratic time for depth, and gives nothing before it has ended."""
    workers = Workers()
    slow = (b"<div>" * 19_000 + b"</div>" * 19_000) * 20
    document = parse(slow, "a.html", Options(patience=1), workers)
    with pytest.raises(TimedOut) as error:
        list(document)
    assert error.value.again
    assert read(workers)
    workers.close()


def test_limits_of_a_file_hold(workers: Workers):
    assert set(READERS) == set(Format) - STREAMED - ARCHIVES - {Format.UNKNOWN}  # what a worker reads
    for options in (Options(max_pages=2), Options(max_characters=50), Options(max_bytes=500)):
        with pytest.raises(FileTooLarge):
            read(workers, PAGES, options)
    with pytest.raises(TimedOut):
        read(workers, PAGES, Options(seconds=0))
    assert read(workers)


def test_a_worker_has_little_memory_no_files_and_no_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_SECRET", "do not tell")
    workers = Workers()
    read(workers)
    process = Path(f"/proc/{pids(workers)[0]}")
    limits = {line[:26].strip(): line[26:].split()[0] for line in (process / "limits").read_text().splitlines()}
    assert limits["Max address space"] == str(worker.MEMORY)
    assert limits["Max file size"] == limits["Max processes"] == limits["Max core file size"] == "0"
    assert b"do not tell" not in (process / "environ").read_bytes()
    assert (process / "cwd").readlink() == Path("/")
    workers.close()


def test_a_worker_has_no_network_and_starts_no_program():
    """A process that is confined as a worker is, here one of its own, tries what a file might make a library try."""
    tried = """
import os, socket, threading
from muisti.core.parsing.worker import confine
print(confine())
for attempt in (
    lambda: socket.socket(), lambda: socket.socketpair(), lambda: socket.create_connection(("127.0.0.1", 9)),
    lambda: os.execv("/bin/true", ["true"]), lambda: os.posix_spawn("/bin/true", ["true"], {}),
):
    try:
        attempt()
        print("it worked")
    except PermissionError:
        print("refused")
thread = threading.Thread(target=print, args=("a thread",))
thread.start()
thread.join()
"""
    ran = subprocess.run([sys.executable, "-c", tried], capture_output=True, text=True, check=True)
    confined, *found = ran.stdout.splitlines()
    workers = Workers()
    assert str(workers.confined()) == confined
    if confined == "False":
        pytest.skip("this system cannot shut a process off from the network")
    assert found == ["refused"] * 5 + ["a thread"]
    (pid,) = pids(workers)
    assert "Seccomp:\t2" in Path(f"/proc/{pid}/status").read_text("utf-8")
    workers.close()


def test_two_threads_take_turns():
    workers, texts, failed = Workers(1), list[str](), list[Unreadable]()

    def many() -> None:
        try:
            texts.extend(read(workers) for _ in range(5))
        except Unreadable as error:
            failed.append(error)

    threads = [threading.Thread(target=many) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 15 and len(set(texts)) == 1 and not failed
    assert len(pids(workers)) == 1
    workers.close()


def test_an_idle_worker_ends_itself_and_the_next_file_starts_another():
    workers = Workers(idle=0.1)
    text = read(workers)
    (first,) = pids(workers)
    wait_for_the_end_of(first)
    assert read(workers) == text
    assert pids(workers) != [first]
    workers.close()
