"""Containers, by the command line of podman or docker."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

# As tight as a cluster's policy would have it. Limits stay below those of whoever runs this, who may not raise them.
TIGHT = ["--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=host"]
LIMITS = ["--ulimit=nofile=1024:4096", "--ulimit=nproc=1024:4096", "--pids-limit=256"]
MEMORY = ["--memory=768m"]
UNWATCHED = ["--no-healthcheck"]  # podman leaves that to systemd, which may not be there
UNITS = {"": 1e-6, "k": 1e-3, "M": 1.0, "G": 1e3}


class Ended(NamedTuple):
    """Exit code and output of a command."""

    code: int
    said: str
    complained: str


class Layer(NamedTuple):
    megabytes: float
    made_by: str


class Engine:
    """An image and the commands on it. `command` is podman or docker, with its global options."""

    def __init__(self, command: Sequence[str], image: str) -> None:
        self._command, self.image = command, image

    def run(self, data: Path, arguments: Sequence[str], *, environment: Sequence[str] = ()) -> Ended:
        """Run the image's program to its end, on a folder for its data."""
        return self._do("run", "--rm", *self._options(data, environment), self.image, *arguments)

    def start(self, name: str, data: Path, environment: Sequence[str]) -> None:
        """Start a container in the background with the image's own command."""
        done = self._do("run", "--detach", f"--name={name}", *self._options(data, environment), self.image)
        assert done.code == 0, done.complained

    def again(self, name: str) -> None:
        self._must("start", name)

    def kill(self, name: str) -> None:
        self._must("kill", "--signal=KILL", name)
        self._must("wait", name)

    def stop(self, name: str) -> int:
        """End it with SIGTERM, after half a minute with SIGKILL. Gives the exit code: 137 says that it came to that."""
        self._must("stop", "--time=30", name)
        return int(self.inspect(name)["State"]["ExitCode"])

    def remove(self, name: str) -> None:
        self._do("rm", "--force", name)

    def inside(self, name: str, command: Sequence[str]) -> Ended:
        """Run a command in a container that runs, as its user."""
        return self._do("exec", name, *command)

    def logs(self, name: str) -> str:
        done = self._do("logs", "--tail=50", name)
        return done.said + done.complained

    def inspect(self, name: str) -> Any:
        """Return what the engine's `inspect` shows of a container or an image."""
        return json.loads(self._must("inspect", name))[0]

    def layers(self) -> list[Layer]:
        """The layers with something in them, the base first."""
        lines = self._must("history", "--no-trunc", "--format={{.Size}}\t{{.CreatedBy}}", self.image).splitlines()
        found = [Layer(megabytes(size), made_by) for size, made_by in (line.split("\t", 1) for line in lines)]
        return [layer for layer in reversed(found) if layer.megabytes >= 0.1]

    def _options(self, data: Path, environment: Sequence[str]) -> list[str]:
        given = [f"--env={setting}" for setting in environment]
        return [*TIGHT, *LIMITS, *MEMORY, *UNWATCHED, f"--volume={data}:/data", *given]

    def _must(self, *arguments: str) -> str:
        done = self._do(*arguments)
        assert done.code == 0, f"{arguments[0]}: {done.complained}"
        return done.said

    def _do(self, *arguments: str) -> Ended:
        done = subprocess.run([*self._command, *arguments], capture_output=True, text=True)
        return Ended(done.returncode, done.stdout, done.stderr)


def megabytes(size: str) -> float:
    """Parse a size as engines print it, such as `16.1 MB` or `16.1MB`, into megabytes.

    >>> megabytes("16.1 MB"), megabytes("1.2GB"), megabytes("14.3kB"), megabytes("0 B")
    (16.1, 1200.0, 0.0143, 0.0)
    """
    found = re.fullmatch(r"([0-9.]+) ?([kMG]?)B", size)
    assert found is not None, size
    number, unit = found.groups()
    return round(float(number) * UNITS[unit], 4)
