"""Measure the way from a package to the first recalled memory, beside chroma, basic-memory and mem0ai.

`python -m loadtests.first_hour WHEEL` installs each into a fresh environment with an empty home folder. Nothing of this
shell is in the environment of a command but the way to the package index. PATH holds a shell and four small tools, with
`compiler` also the PATH of this shell. The programs that try chroma and mem0ai are below, as their pages begin. Ways
with uv install by it where it is in PATH (`pip install uv`), else they are left out.

A container would be emptier: the C library and Python are those of this machine.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import click

from loadtests.document import markdown
from loadtests.shelf import weight
from loadtests.tables import Table

MEMORY = "The staging database runs on port 5433."
QUESTION = "which port has staging?"
TOOLS = ("sh", "env", "dirname", "realpath", "uname")
PASSED = ("PIP_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "no_proxy")
LONGEST = 900  # seconds of a command
UV = shutil.which("uv") or ""
PINS = Path(__file__).parents[1] / "deploy" / "constraints.txt"

CHROMA = f"""
import chromadb
memories = chromadb.PersistentClient(path="chroma").get_or_create_collection("memories")
memories.add(ids=["1"], documents=[{MEMORY!r}])
print(memories.query(query_texts=[{QUESTION!r}], n_results=1)["documents"])
"""
CHROMA_OWN = f"""
import zlib
import chromadb
def vector(text):
    words = [zlib.crc32(word.encode()) % 64 for word in text.lower().strip("?.").split()]
    return [float(words.count(at)) for at in range(64)]
memories = chromadb.PersistentClient(path="chroma").get_or_create_collection("memories", embedding_function=None)
memories.add(ids=["1"], documents=[{MEMORY!r}], embeddings=[vector({MEMORY!r})])
print(memories.query(query_embeddings=[vector({QUESTION!r})], n_results=1)["documents"])
"""
MEM0 = f"""
from mem0 import Memory
memory = Memory()
memory.add({MEMORY!r}, user_id="me", infer=False)
print(memory.search({QUESTION!r}, filters={{"user_id": "me"}}))
"""


@dataclass(frozen=True)
class Way:
    """One way to a recalled memory. `commands` are typed one after the other; the last one must print the memory.

    `shares` names another way in whose environment this one runs, with its own home folder. `python` is what the
    package needs, when it is there. `uv`: that installs, and not pip.
    """

    name: str
    package: str
    commands: Sequence[Sequence[str]]
    compiler: bool = False
    pinned: bool = False
    shares: str | None = None
    python: str = ""
    uv: bool = False


MUISTI = (("muisti", "demo"), ("muisti", "add", MEMORY), ("muisti", "search", QUESTION))
SEARCH_NOTES = ("basic-memory", "tool", "search-notes", QUESTION)
NOTE = ("basic-memory", "tool", "write-note", "--title", "Staging", "--folder", "notes", "--content", MEMORY)
WAYS = (
    Way("Muisti, no compiler", "", MUISTI, pinned=True),
    Way("Muisti, compiler", "", MUISTI, compiler=True, shares="Muisti, no compiler"),
    Way("Muisti, uv, no compiler", "", MUISTI, pinned=True, uv=True),
    Way("basic-memory", "basic-memory", (NOTE, SEARCH_NOTES), python="python3.12"),
    Way("basic-memory, uv", "basic-memory", (NOTE, SEARCH_NOTES), python="python3.12", uv=True),
    Way("chroma", "chromadb", (("python", "-c", CHROMA),)),
    Way("chroma, vectors of our own", "chromadb", (("python", "-c", CHROMA_OWN),), shares="chroma"),
    Way("chroma, vectors of our own, uv", "chromadb", (("python", "-c", CHROMA_OWN),), uv=True),
    Way("mem0ai", "mem0ai", (("python", "-c", MEM0),)),
)


@dataclass
class Taken:
    """Seconds of a command on the clock and of the processor, whether it succeeded, and what it printed."""

    command: str
    clock: float
    processor: float
    good: bool
    said: str


@dataclass
class Outcome:
    """Measurements of a way. `again` is the last command once more."""

    way: Way
    megabytes: float
    install: Taken
    steps: list[Taken] = field(default_factory=list)
    again: Taken | None = None
    kept: float = 0.0  # megabytes in the home folder

    @property
    def recalled(self) -> bool:
        return bool(self.steps) and self.steps[-1].good and MEMORY in self.steps[-1].said


class Place:
    """A fresh environment, and the folder of tools that its commands see."""

    def __init__(self, folder: Path, tools: Path, python: str) -> None:
        self.folder, self._tools = folder, tools
        subprocess.run([python, "-m", "venv", folder], check=True)
        self._bare = weight(self.packages) / 1e6

    @property
    def packages(self) -> Path:
        return next(self.folder.glob("lib/python*/site-packages"))

    @property
    def megabytes(self) -> float:
        return weight(self.packages) / 1e6 - self._bare

    def run(self, command: Sequence[str], home: Path, *, compiler: bool) -> Taken:
        """Run a command of the environment and measure it with its children."""
        path = [str(self.folder / "bin"), str(self._tools), *([os.environ["PATH"]] if compiler else [])]
        passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED)}
        environment = {**passed, "HOME": str(home), "PATH": os.pathsep.join(path), "LANG": "C.UTF-8"}
        began, before = perf_counter(), os.times()
        program = [str(self.folder / "bin" / command[0]), *command[1:]]
        try:
            done = subprocess.run(
                program, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST
            )
            code, said = done.returncode, done.stdout.decode("utf-8", "replace").strip()
        except subprocess.TimeoutExpired:
            code, said = 1, f"no answer after {LONGEST} s"
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return Taken(" ".join(command)[:60], perf_counter() - began, used, code == 0, said)


def take(way: Way, wheel: Path, folder: Path, places: dict[str, tuple[Place, Taken]], tools: Path) -> Outcome:
    """Install what a way needs unless it is there, and go the way."""
    home = folder / f"home of {way.name}"
    home.mkdir()
    if way.shares is None:
        place = Place(folder / way.name.replace(",", ""), tools, shutil.which(way.python) or sys.executable)
        options = ["-c", str(PINS)] if way.pinned else []
        if way.uv:
            (place.folder / "bin" / "uv").symlink_to(UV)
            installer = ["uv", "pip", "install", "-q", "--no-cache", "--python", str(place.folder / "bin" / "python")]
        else:
            as_in_readme = ["--no-compile"] if way.pinned else []
            installer = ["python", "-m", "pip", "install", "-q", "--no-cache-dir", *as_in_readme]
        places[way.name] = place, place.run([*installer, *options, way.package or str(wheel)], home, compiler=False)
    place, installed = places[way.shares or way.name]
    outcome = Outcome(way, place.megabytes, installed)
    if installed.good:
        for command in way.commands:
            outcome.steps.append(place.run(command, home, compiler=way.compiler))
            if not outcome.steps[-1].good:
                break
        if outcome.recalled:
            outcome.again = place.run(way.commands[-1], home, compiler=way.compiler)
    outcome.kept = weight(home) / 1e6
    return outcome


def reason(outcome: Outcome) -> str:
    """Return the last line of what failed; empty when the memory was recalled."""
    if outcome.recalled:
        return ""
    failed = outcome.steps[-1] if outcome.steps else outcome.install
    return next((line.strip() for line in reversed(failed.said.splitlines()) if line.strip()), "nothing was found")


def rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return a row for each way."""
    found: list[list[str]] = []
    for one in outcomes:
        clock, processor = (
            sum(getattr(step, kind) for step in (one.install, *one.steps)) for kind in ("clock", "processor")
        )
        again = one.again
        found.append(
            [
                one.way.name,
                str(1 + len(one.way.commands)),
                f"{one.megabytes:.0f}",
                f"{one.kept:.1f}",
                f"{one.install.clock:.0f} ({one.install.processor:.0f})",
                f"{clock:.0f} ({processor:.0f})" if one.recalled else "–",
                f"{again.clock:.2f} ({again.processor:.2f})" if again else "–",
                "recalled" if one.recalled else f"not recalled: {reason(one)[:90]}",
            ]
        )
    return found


HEAD = ("", "commands", "MB installed", "MB kept", "install, s", "to the first recall, s", "recall again, s", "result")


@click.command()
@click.argument("wheel", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--only", multiple=True, help="Go the ways whose names begin so.")
def main(wheel: Path, only: tuple[str, ...]) -> None:
    """Measure all ways and print the table. Seconds are on the clock, in brackets of the processor."""
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="muisti-first-hour-") as name:
        folder, places = Path(name), {}
        tools = folder / "tools"
        tools.mkdir()
        for tool in TOOLS:
            if found := shutil.which(tool):
                (tools / tool).symlink_to(found)
        for way in WAYS:
            if (not only or way.name.startswith(only)) and (UV or not way.uv):
                outcomes.append(take(way, wheel.resolve(), folder, places, tools))
                click.echo(" | ".join(rows(outcomes[-1:])[0]), err=True)
                for step in (outcomes[-1].install, *outcomes[-1].steps):
                    took = f"{step.clock:7.2f} s ({step.processor:.2f})"
                    click.echo(f"{way.name}: {step.command.splitlines()[0]}: {took}", err=True)
    click.echo(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    title = "seconds on the clock, and of the processor in brackets"
    click.echo(markdown(Table("first-hour", title, HEAD, rows(outcomes))))


if __name__ == "__main__":
    main()
