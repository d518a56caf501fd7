"""Resolve every installation of every target of the Makefile, and install nothing: `make installs`.

`make -n` prints what a target would run, so a new installation is found by itself; one that cannot be read fails.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
OPERATORS = re.compile(r"[;&|(){}<>]+")


class Unreadable(Exception):
    """A command that installs in a way that is not resolved here."""


@dataclass(frozen=True)
class Install:
    """One installation by pip, or by npm with the files that `cp` brings to its folder, and their name there."""

    arguments: tuple[str, ...]
    npm: str | None = None
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{'npm' if self.npm else 'pip'} install {shlex.join(self.arguments)} {' '.join(self.files)}".strip()


def targets() -> list[str]:
    """Return the targets of the Makefile, and the environments that are made by name only."""
    named = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    services = (f"build/{path.stem}/.made" for path in sorted((ROOT / "deploy" / "services").glob("*.txt")))
    return [*" ".join(named).split(), *services]


def installs(target: str) -> list[Install]:
    """Return what a target installs when nothing is there yet.

    Raises:
        Unreadable: one of its commands installs in a way that is not resolved here.
    """
    printed = subprocess.run(["make", "-n", "-B", target], cwd=ROOT, capture_output=True, text=True, check=True)
    return list(read(printed.stdout))


def read(script: str) -> Iterator[Install]:
    """Read installations from the commands that a target runs."""
    copied: list[str] = []
    for line in script.replace("\\\n", " ").splitlines():
        if line.startswith("cp "):
            *copied, target = shlex.split(line)[1:]
            copied.append(Path(target).name if target.endswith(".json") else "")
        for words in _commands(line) if "install" in line else ():
            if "install" not in words or words[0] == "echo":
                continue
            before, after = words[: words.index("install")], tuple(words[words.index("install") + 1 :])
            if before[0] == "$pip" or "pip" in before:
                # What builds packages is installed by itself before, which does not happen here.
                # The target `pins` resolves a copy of the project in a folder that it calls `fresh`.
                yield Install(tuple(one.replace("$fresh", ".") for one in after if one != "--no-build-isolation"))
            elif before[-1].endswith("npm-cli.js"):
                yield Install(after, npm=before[-1], files=tuple(copied))
            else:
                raise Unreadable(line)


def _commands(line: str) -> Iterator[list[str]]:
    """Divide a line of shell into simple commands."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|(){}<>")
    lexer.commenters, lexer.whitespace_split = "", True
    command: list[str] = []
    for word in lexer:
        if OPERATORS.fullmatch(word):
            if command:
                yield command
            command = []
        else:
            command.append(word)
    if command:
        yield command


def resolved(install: Install, uv: Path) -> str:
    """Resolve an installation. Return why it cannot be done, or nothing."""
    with TemporaryDirectory() as folder:
        if install.npm is not None:
            subprocess.run(["cp", *install.files[:-1], f"{folder}/{install.files[-1]}"], cwd=ROOT, check=True)
            program = (ROOT / install.npm).resolve()
            node = program.parents[4] / "bin"
            command = [str(node / "node"), str(program), "install", *install.arguments]
            command += ["--package-lock-only", "--ignore-scripts"]  # the folder has what resolves, not what builds
            where, environment = Path(folder), os.environ | {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
        else:
            command = [str(uv.absolute()), "pip", "install", "--dry-run", "--python", sys.executable]
            command += ["--target", folder, *install.arguments]
            where, environment = ROOT, dict(os.environ)
        done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stdout + done.stderr or f"exit {done.returncode}"


def main(uv: Path) -> int:
    """Resolve all, and print what cannot be installed, with the names of its targets. Return the exit status."""
    wanted: dict[Install, dict[str, None]] = {}
    for target in targets():
        try:
            for install in installs(target):
                wanted.setdefault(install, {})[target] = None
        except Unreadable as error:
            print(f"FAILED: make {target} installs in a way that deploy/installs.py does not read: {error}")  # noqa: T201
            return 1
    with ThreadPoolExecutor(4) as pool:
        failed = [pair for pair in zip(wanted, pool.map(lambda one: resolved(one, uv), wanted), strict=True) if pair[1]]
    for install, why in failed:
        print(f"FAILED: make {', '.join(wanted[install])}: {install}\n{why}")  # noqa: T201
    print(f"{len(wanted) - len(failed)} installations of {len(targets())} targets resolved, {len(failed)} failed")  # noqa: T201
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
