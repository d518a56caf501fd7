"""Times of the stages of a start. A server logs them at level debug once it is ready."""

import os
import time
from pathlib import Path

TICKS_AT = 21  # of the fields of /proc/self/stat: when the process began


class StageTimes:
    """Milliseconds that each stage took, the first since the process began."""

    def __init__(self, first: str) -> None:
        self._last = time.perf_counter()
        self.taken = {first: _age_ms()}

    def end(self, stage: str) -> None:
        """Note the time of the stage that ends now, which began when the one before ended."""
        now = time.perf_counter()
        self.taken[stage] = round(1000 * (now - self._last), 1)
        self._last = now


def _age_ms() -> float:
    """Return the age of the process in ms, to 10 ms; its processor time where the system does not report an age."""
    stat = Path("/proc/self/stat")
    if not stat.exists():
        return round(1000 * time.process_time(), 1)
    began = int(stat.read_text("utf-8").rpartition(")")[2].split()[TICKS_AT - 2]) / os.sysconf("SC_CLK_TCK")
    return round(1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - began), 1)
