"""Upgrade of three Muistis on sqld, one after the other, while users go on; then back to the version before.

`python -m loadtests.upgrade --revision main`. Old and new processes serve the same database side by side, for a sixth
of the time each. A Muisti that stops ends its requests; users ask another one, as a balancer does for them. In the
end each acknowledged write must be in the history of its memory once, at every Muisti.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import numpy as np
from rich.console import Console

from deploy.cluster.muisti import Muisti
from deploy.cluster.sqld import Sqld
from loadtests.checkout import ROOT, THIS, Checkout
from loadtests.tables import Table, rich_table
from tests.cluster.clients import Clients

MUISTIS = 3
SPACE = "upgraded"


class Heard:
    """Outcomes of requests by phase: seconds of answers, and how many got none."""

    def __init__(self) -> None:
        self.phase = "before"
        self.seconds: dict[str, list[float]] = {}
        self.failed: dict[str, int] = {}

    def __call__(self, _method: str, _kind: str, seconds: float, problem: str | None) -> None:
        if problem is None:
            self.seconds.setdefault(self.phase, []).append(seconds)
        else:
            self.failed[self.phase] = self.failed.get(self.phase, 0) + 1

    def table(self, title: str) -> Table:
        rows = [
            [phase, f"{len(took):,}", *(f"{1000 * np.percentile(took, p):,.1f}" for p in (50, 99)),
             f"{self.failed.get(phase, 0):,}"]
            for phase, took in self.seconds.items()
        ]  # fmt: skip
        return Table("upgrade", title, ["Muistis of the new version", "answers", "p50 ms", "p99 ms", "retries"], rows)


def main() -> int:
    """0 when nothing that was acknowledged is lost, doubled or hidden."""
    parser = argparse.ArgumentParser(prog="python -m loadtests.upgrade", description=__doc__)
    parser.add_argument("--revision", default="HEAD~1", help="commit of the version before (%(default)s)")
    parser.add_argument("--seconds", type=float, default=300.0, help="of all (%(default)s)")
    parser.add_argument("--users", type=int, default=16)
    parser.add_argument("--one-way", action="store_true", help="do not go back: the database has a newer schema")
    options = parser.parse_args()
    with checked_out(options.revision) as before, tempfile.TemporaryDirectory() as folder:
        before.prepare()
        trees = [before, THIS] if options.one_way else [before, THIS, before]
        return upgraded(Path(folder), trees, options.seconds, options.users)


@contextmanager
def checked_out(revision: str) -> Iterator[Checkout]:
    """Yield a checkout of a commit, in a folder that is removed afterwards."""
    git = ("git", "-C", str(ROOT))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "before"
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(folder), revision], check=True)
        try:
            for kernels in (ROOT / "core").rglob("native-*.so"):  # of the same sources, or not used
                shutil.copy2(kernels, folder / kernels.relative_to(ROOT))
            yield Checkout(folder)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(folder)], check=True)


def upgraded(folder: Path, trees: list[Checkout], seconds: float, users: int) -> int:
    """Exchange the Muistis for those of each next tree; print what users saw, and return the exit code."""
    with ExitStack() as stack:
        primary = stack.enter_context(Sqld(folder / "primary"))
        replica = stack.enter_context(Sqld(folder / "replica", primary=primary))
        made = {"database_url": primary.url, "database_namespace": "default"}
        near = made | {"database_replica_url": replica.url}
        servers = [Muisti(folder / f"muisti{n}", **(near if n % 2 else made)) for n in range(MUISTIS)]
        for server in servers:
            server.path = _path(trees[0])
            stack.enter_context(server)
        httpx.post(f"{servers[0].url}/v1/spaces", json={"name": SPACE}, trust_env=False).raise_for_status()
        heard, over = Heard(), threading.Event()
        clients = stack.enter_context(closing(Clients([server.url for server in servers], SPACE, heard)))
        pause = seconds / (MUISTIS * (len(trees) - 1) + 1)
        with ThreadPoolExecutor(users) as pool:
            until = time.monotonic() + 10 * seconds
            using = [pool.submit(_use, clients, seed, until, over) for seed in range(users)]
            try:
                _exchange(servers, trees, pause, heard)
            finally:
                over.set()
            for one in using:
                one.result()
        clients.judge()
    console, wrote = Console(width=120), len(clients.seqs)
    console.print(rich_table(heard.table(f"{users} users for {seconds:g} s")))
    console.print(f"{wrote:,} acknowledged writes, 0 lost, 0 doubled; longest wait {clients.longest:.1f} s")
    return 0


def _use(clients: Clients, seed: int, until: float, over: threading.Event) -> None:
    while not over.is_set():
        clients.use(seed := seed + 1000, min(until, time.monotonic() + 1))


def _exchange(servers: list[Muisti], trees: list[Checkout], pause: float, heard: Heard) -> None:
    heard.phase = f"0 of {MUISTIS}, before"
    time.sleep(pause)
    for step, tree in enumerate(trees[1:]):
        for number, server in enumerate(servers, 1):
            server.stop()
            server.path = _path(tree)
            server.start()
            new = number if step == 0 else MUISTIS - number
            heard.phase = f"{new} of {MUISTIS}, {'up' if step == 0 else 'back'}"
            time.sleep(pause)


def _path(tree: Checkout) -> Path:
    """Return where Python finds a tree.

    Raises:
        AssertionError: Python finds another one.
    """
    view = tree.folder.resolve() / "build" / "view"
    command = [sys.executable, "-c", "import muisti.service as one; print(one.__file__)"]
    found = subprocess.run(command, env={"PYTHONPATH": str(view)}, cwd="/", check=True, capture_output=True, text=True)
    assert Path(found.stdout.strip()).resolve().is_relative_to(tree.folder.resolve()), found.stdout
    return view


if __name__ == "__main__":
    sys.exit(main())
