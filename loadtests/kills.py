"""Sixteen users of locust at a cluster of four, each of which is killed in turn: what they saw, and what was lost."""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from deploy.cluster.four import Four, four

ROOT = Path(__file__).parents[1]
USERS = 16
PAUSE_SECONDS = 0.7  # between two kills
SPACE = "killed"


def main() -> int:
    """0 when users saw no more than retries, and nothing that was acknowledged is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("locust", type=Path, help="the program, in an environment of its own")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, four(Path(folder)) as running:
        seen = attack(options.locust, running, options.seconds, Path(folder) / "report.json")
    return judged(seen, options.seconds)


@dataclass(frozen=True)
class Seen:
    """Users' results, how often each process was killed, and locust's exit code: 0 when nothing is wrong."""

    found: dict[str, Any]
    killed: Counter[str]
    code: int


def attack(locust: Path, running: Four, seconds: float, report: Path) -> Seen:
    """Let users work for so long while each process is killed in turn."""
    make(f"{running.one.url}/v1/spaces")
    users = start(locust, running, seconds, report)
    killed = kill(running, time.monotonic() + seconds, users)
    users.wait()
    found = json.loads(report.read_text()) if report.exists() else {}
    return Seen(found, killed, users.returncode if found else users.returncode or 1)


def judged(seen: Seen, seconds: float) -> int:
    """Tell what was seen; 0 when all is well."""
    if seen.found:
        Console(width=100).print(table(seen.found, seen.killed, seconds))
        for problem in seen.found["broken"]:
            Console(stderr=True).print(problem)
    return seen.code


def make(url: str) -> None:
    body = json.dumps({"name": SPACE}).encode()
    with _opener().open(urllib.request.Request(url, body, {"content-type": "application/json"}), timeout=30):
        return


def start(locust: Path, running: Four, seconds: float, report: Path) -> subprocess.Popen[bytes]:
    """Locust at both Muistis; when the time is up it lets users finish, judges, and ends."""
    servers = ",".join((running.one.url, running.two.url))
    return subprocess.Popen(
        [
            *(str(locust), "-f", str(ROOT / "loadtests" / "locust_cluster.py"), "--headless", "--only-summary"),
            *("--users", str(USERS), "--spawn-rate", str(USERS), "--run-time", f"{seconds:g}s", "--stop-timeout", "60"),
            *("--servers", servers, "--space", SPACE, "--report", str(report), "--loglevel", "ERROR"),
        ],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )


def kill(running: Four, until: float, users: subprocess.Popen[bytes]) -> Counter[str]:
    """Kill each in turn, with SIGKILL, and start it again, until then; how often each was killed."""
    rng, killed = random.Random(5), Counter[str]()
    names = list(Four._fields)
    while users.poll() is None:
        rng.shuffle(names)
        for name in names:
            time.sleep(PAUSE_SECONDS)
            if time.monotonic() > until:
                return killed
            process = getattr(running, name)
            process.kill()
            process.start()
            killed[name] += 1
    return killed


def table(found: dict[str, Any], killed: Counter[str], seconds: float) -> Table:
    """Return a table of the outcomes of the users' requests."""
    made = Table(
        title=f"{USERS} users for {seconds:g} s; kill -9 of {', '.join(f'{n} {killed[n]}x' for n in Four._fields)}"
    )
    for column in ("requests answered", "retries", "longest wait, s", "acknowledged writes", "lost or wrong"):
        made.add_column(column, justify="right")
    counts = (found["answers"], found["retries"], found["longest"], found["acknowledged"], len(found["broken"]))
    made.add_row(*(f"{count:,.1f}" if isinstance(count, float) else f"{count:,}" for count in counts))
    return made


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback goes through no proxy


if __name__ == "__main__":
    sys.exit(main())
