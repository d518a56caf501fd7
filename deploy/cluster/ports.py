"""Ports on loopback that no other process takes, even while the process that listens there is being restarted."""

import random
import socket

# Below the ephemeral ports of Linux, macOS and Windows. The system may give an ephemeral port to another process
# as soon as its owner is killed.
FIRST, LAST = 20_000, 32_000
_ALL = range(FIRST, LAST)


def free_ports(number: int) -> list[int]:
    """Return `number` ports on which nothing listens now, in no order."""
    free = list[int]()
    while len(free) < number:
        port = random.SystemRandom().choice(_ALL)  # no seed: processes that tests start must not choose alike
        if port not in free and is_free(port):
            free.append(port)
    return free


def is_free(port: int) -> bool:
    """Whether a process may listen on this port of loopback."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
