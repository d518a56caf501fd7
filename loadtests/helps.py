"""Measure how long `--help` of every command takes: processor time of the whole process, the middle of several runs."""

import argparse
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

from muisti.service.cli import COMMANDS

MUISTI = Path(sys.executable).with_name("muisti")
RUNS = 15


def milliseconds(words: list[str], runs: int) -> float:
    """Processor time of a process, its system calls included."""
    return median(_once(words) for _ in range(runs))


def _once(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([MUISTI, *words, "--help"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    asked = parser.parse_args()
    asked_for: list[list[str]] = [[], *([name] for name in COMMANDS)]
    found = {" ".join(["muisti", *words]): milliseconds(words, asked.runs) for words in asked_for}
    slowest = max(found, key=lambda name: found[name])
    table = "| command with `--help` | ms of processor time |\n| --- | --- |\n"
    for name in dict.fromkeys(("muisti", "muisti add", "muisti search", "muisti serve", slowest)):
        table += f"| `{name}`{', the slowest' if name == slowest else ''} | {found[name]:.0f} |\n"
    print(table)  # noqa: T201


if __name__ == "__main__":
    main()
