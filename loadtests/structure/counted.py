"""A server that counts the functions of Muisti it calls: `python -m loadtests.structure.counted`.

SIGUSR1 resets the counts, SIGUSR2 writes them as JSON into the file that `COUNTS` names.
"""

import json
import os
import runpy
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[2]
OURS = (f"{ROOT}/core/", f"{ROOT}/service/", f"{ROOT}/build/view/")
COUNTS = "COUNTS_FILE"

_calls: Counter[str] = Counter()
_switches: Counter[str] = Counter()


class _Last(threading.local):
    """The module that this thread was in last, and whether its work belongs to no request."""

    def __init__(self) -> None:
        self.path: str | None = None
        self.is_upkeep = threading.current_thread().name.startswith("upkeep")


_last = _Last()


def note(frame: FrameType, event: str, _: object) -> None:
    """Count a call, and the change of module since the last call of this thread. Upkeep begins by the clock."""
    path = frame.f_code.co_filename
    if event != "call" or not path.startswith(OURS) or _last.is_upkeep:
        return
    _calls[path] += 1
    if _last.path not in (None, path):
        _switches[path] += 1
    _last.path = path


def begin(*_: object) -> None:
    _calls.clear()
    _switches.clear()


def write(*_: object) -> None:
    found = {"calls": dict(_calls), "switches": _switches.total()}
    Path(os.environ[COUNTS]).write_text(json.dumps(found))


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, write)
    threading.setprofile(note)
    sys.setprofile(note)
    runpy.run_module("muisti.service", run_name="__main__", alter_sys=True)
