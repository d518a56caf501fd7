"""A disk whose calls fail on demand."""

import threading
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import apsw

Operation = Literal["read", "write", "sync", "truncate"]


@dataclass(frozen=True, slots=True)
class Fault:
    """The `first` call of `operation` from now on fails, and so do those after it when it is `lasting`."""

    operation: Operation
    first: int
    error: type[apsw.Error]
    lasting: bool = False


class FaultyDisk(apsw.VFS):
    """The real file system, with at most one fault. Use as a context manager."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: Counter[Operation] = Counter()
        self.failed = 0
        self._fault: Fault | None = None
        self._lock = threading.Lock()
        super().__init__(name, "")

    def __enter__(self) -> "FaultyDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def break_down(self, fault: Fault) -> None:
        with self._lock:
            self.calls.clear()
            self.failed = 0
            self._fault = fault

    def mend(self) -> None:
        with self._lock:
            self._fault = None

    def meet(self, operation: Operation) -> None:
        """Count a call, or raise what it must fail with."""
        with self._lock:
            self.calls[operation] += 1
            fault = self._fault
            if fault is None or fault.operation != operation or self.calls[operation] < fault.first:
                return
            if not fault.lasting:
                self._fault = None
            self.failed += 1
        raise fault.error(f"{operation} fails")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _FaultyFile(self, name, flags)


class _FaultyFile(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.meet("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.meet("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.meet("sync")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        self._disk.meet("truncate")
        super().xTruncate(newsize)
