"""Runs the command of the hooks many times beside a server: the time of a run, and the processes that are left.

    python -m loadtests.hooks [--runs 10000] [--at-once 1]

Each run is a prompt in a session of its own, as Claude Code sends it; half of the prompts have an answer. The processes
of this user that name the command, or belong to its session, are counted before and after. The command fails when any
is left, or when 95 in 100 runs take longer than the bound on an idle machine.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import click
import httpx

from loadtests.quality.hooks import PROJECT, PROMPTS, store
from muisti.service.connect import muisti_hook

P95 = 50.0  # milliseconds
READY_SECONDS = 120.0


def started(database: Path, log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a server on a database and return it with its URL, when it answers."""
    words = [sys.executable, "-m", "muisti.service", "serve", "--port", "0", "--database", str(database)]
    with log.open("wb") as errors:
        server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
    announced, until = Path(f"{database}{muisti_hook.ANNOUNCED}"), time.monotonic() + READY_SECONDS
    while time.monotonic() < until and server.poll() is None:
        if announced.exists() and (text := announced.read_text("utf-8")):
            return server, json.loads(text)["url"]
        time.sleep(0.1)
    server.kill()
    raise SystemExit(f"no server came up: {log.read_text('utf-8')[-400:]}")


def run(words: Sequence[str], folder: Path, number: int, prompt: str) -> tuple[float, bool]:
    """Run the command once; return the milliseconds, and whether anything was shown."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": f"run-{number}", "prompt": prompt}
    began = time.perf_counter()
    done = subprocess.run(words, input=json.dumps(event).encode(), cwd=folder, capture_output=True, check=True)
    return (time.perf_counter() - began) * 1_000, bool(done.stdout)


def left() -> int:
    """Count the processes of this machine whose command line names the hook's file."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += b"muisti_hook" in path.read_bytes()
        except OSError:  # it has ended
            continue
    return found


@click.command()
@click.option("--runs", default=10_000, show_default=True)
@click.option("--at-once", default=1, show_default=True)
def main(runs: int, at_once: int) -> None:
    """Print the percentiles of the time, the processor time of a run, and the processes that are left."""
    data = json.loads(PROMPTS.read_text("utf-8"))
    prompts = [*data["unrelated"], *(prompt for prompt, _ in data["answered"])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server, url = started(folder / "hooks.db", folder / "server.log")
        try:
            with httpx.Client(base_url=url) as client:
                store(client, data)
            words = [sys.executable, "-I", "-S", muisti_hook.__file__, "claude-code"]
            words += ["--database", str(folder / "hooks.db"), "--space", PROJECT]
            before, began = left(), getrusage(RUSAGE_CHILDREN)
            with ThreadPoolExecutor(at_once) as threads:
                jobs = [threads.submit(run, words, folder, at, prompts[at % len(prompts)]) for at in range(runs)]
                found = [job.result() for job in jobs]
            ended, remaining = getrusage(RUSAGE_CHILDREN), left() - before
        finally:
            server.terminate()
            server.wait()
    times = sorted(took for took, _ in found)
    p50, p95, p99 = (times[min(len(times) - 1, int(len(times) * part))] for part in (0.5, 0.95, 0.99))
    spent = (ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime) / runs * 1_000
    click.echo(f"runs: {runs:,}, {at_once} at a time; anything shown: {sum(shown for _, shown in found):,}")
    click.echo(f"ms of clock: p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f}, worst {times[-1]:.1f}")
    click.echo(f"ms of processor for a run: {spent:.1f}; load of the machine: {os.getloadavg()[0]:.1f}")
    click.echo(f"processes left: {remaining}")
    sys.exit(remaining > 0 or (p95 > P95 and os.getloadavg()[0] < (os.cpu_count() or 1)))


if __name__ == "__main__":
    main()
