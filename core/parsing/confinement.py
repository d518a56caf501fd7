"""Shut a process off from the network, from other programs and from other processes, by a filter of system calls.

Linux can do so (seccomp) for any user and in most containers, on x86-64 and 64-bit ARM. Elsewhere nothing is shut off.
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple


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
