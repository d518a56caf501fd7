"""Converts a file of another system into the lines of an export, in a process with limited time, memory and disk.

    python -m muisti.service.formats.importers.converter FOLDER

FOLDER has the file or folder in `in`, and gets `lines`. The job comes as JSON on standard input, and the outcome goes
to standard output. A server reads files of strangers in this way only.
"""

import asyncio
import os
import resource
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from muisti.core.parsing.worker import confine
from muisti.core.parsing.workers import ALONE
from muisti.service.formats.importers.items import Unreadable
from muisti.service.formats.importers.registry import OWN, Unknown, own_files, recognised
from muisti.service.formats.importers.shares import Shares
from muisti.service.formats.importers.source_files import Source

MEMORY, DISK, SECONDS = 2 << 30, 4 << 30, 600  # bytes, bytes of a file that is written, seconds of processor time
GRACE = 4  # a process may take this many times its processor time
AT_ONCE = 2  # processes
LIMITS = {
    resource.RLIMIT_AS: MEMORY,
    resource.RLIMIT_FSIZE: DISK,
    resource.RLIMIT_CPU: SECONDS,
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_CORE: 0,
}
_turns = asyncio.Semaphore(AT_ONCE)


class Job(msgspec.Struct, frozen=True):
    """System of a file, None to recognise it, and the projects to import from it, none for all of them."""

    space: str
    system: str | None = None
    atomic: bool = True
    projects: tuple[str, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """The system of a file, or `problem`: why it cannot be read. `is_other`: no importer knows it."""

    system: str | None = None
    problem: str | None = None
    is_other: bool = False


async def converted(folder: Path, name: str, job: Job) -> Outcome:
    """Convert `in/NAME` of a folder; its lines are in `lines` then."""
    async with _turns:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-s", "-P", "-W", "ignore", "-m", __name__, str(folder), name),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_environment(folder),  # no keys of the server
        )
        try:
            async with asyncio.timeout(SECONDS * GRACE):
                said, _ = await process.communicate(msgspec.json.encode(job))
        except TimeoutError:
            said = b""
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        return msgspec.json.decode(said, type=Outcome)
    except msgspec.DecodeError:
        return Outcome(problem=f"{name}: reading it took too much time, memory or disk; use `muisti import`")


def _environment(folder: Path) -> Mapping[str, str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return {"PYTHONPATH": paths, "TMPDIR": str(folder), **ALONE}


def main() -> None:
    """Convert the file of the folder that the command line names."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    for limit, value in LIMITS.items():
        with suppress(ValueError, OSError):  # a system without this limit
            resource.setrlimit(limit, (value, value))
    confine()
    try:
        outcome = Outcome(system=_convert(Source(folder / "in" / name), job, folder / "lines"))
    except Unknown as error:
        outcome = Outcome(problem=error.said, is_other=error.may_be_text)
    except Unreadable as error:
        outcome = Outcome(problem=str(error))
    except OSError as error:
        outcome = Outcome(problem=f"{name}: cannot be read ({error.strerror})")
    except (MemoryError, RecursionError):
        outcome = Outcome(problem=f"{name}: is too large or too deeply nested")
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


def _convert(source: Source, job: Job, into: Path) -> str:
    system = job.system or recognised(source)
    with into.open("xb") as lines:
        if system == OWN:
            files = own_files(source)
            if len(files) != 1:
                raise Unreadable(f"{source.name}: the folder has several exports; choose the file of one space")
            lines.writelines(files[0].pieces(_ignore))
            return system

        def place(home: str | None) -> str | None:
            return None if job.projects and home not in job.projects else job.space

        with Shares(source, system, place, each=not job.atomic) as shares:
            found = shares.read()
            shares.check(job.projects)
            for one in found:
                lines.writelines(one.pieces(_ignore))
    return system


def _ignore(_: Any) -> None:
    """Take progress that nobody sees."""


if __name__ == "__main__":
    main()
