"""Installs the wheel into a fresh environment, in which nothing compiles, and tries it."""

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINS = ROOT / "deploy" / "constraints.txt"
PACKAGES = "import sysconfig; print(sysconfig.get_path('purelib'))"
IMPORTS = "import muisti.core, muisti.service, muisti.client, muisti.core.engine"
LIBRARY = "from muisti.core.kernels.target import KERNELS; print(KERNELS is not None)"
STAGING = "The staging database runs on port 5433."


class Installed:
    """An installation of the wheel in an environment of its own, whose home folder is empty."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        """Install the wheel with the pinned versions of what it needs.

        Raises:
            subprocess.CalledProcessError: it cannot be installed.
        """
        self.python = folder / "venv" / "bin" / "python"
        self._home = folder / "home"
        self._home.mkdir(parents=True)
        venv.create(folder / "venv")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--python",
            str(self.python),
            "install",
            "-q",
        ]
        subprocess.run([*pip, "--only-binary", ":all:", "-c", str(PINS), str(wheel)], check=True)

    def run(self, *command: str) -> str:
        """Run a program of the environment and return what it printed.

        Nothing else is in PATH, so that there is no C compiler.

        Raises:
            SystemExit: it failed.
        """
        folder = self.python.parent
        environment = {"HOME": str(self._home), "PATH": str(folder), "LANG": "C.UTF-8"}
        run = [str(folder / command[0]), *command[1:]]
        done = subprocess.run(run, cwd=self._home, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        for line in done.stderr.splitlines():
            sys.stdout.write(f"  {line}\n")
        return done.stdout

    def packages(self) -> set[str]:
        """Return the names at the top of the folder of packages."""
        return {path.name for path in Path(self.run("python", "-c", PACKAGES).strip()).iterdir()}


def wants(good: bool, complaint: str) -> None:
    """End the smoke test unless `good`."""
    if not good:
        raise SystemExit(f"The smoke test failed: {complaint}")


def smoke(installed: Installed, version: str) -> None:
    """Do what a new user does.

    Raises:
        SystemExit: something is not as it should be.
    """
    wants(not {"core", "service", "muisti_client"} & installed.packages(), "another package than muisti is installed")
    wants(installed.run("muisti", "--version").split()[-1] == version, "the version is another")
    installed.run("python", "-c", IMPORTS)
    demo = installed.run("muisti", "demo")
    wants("Nothing in the space demo answers this" in demo and "port 5434" in demo, f"the demo found nothing:\n{demo}")
    installed.run("muisti", "add", STAGING, "--space", "smoke")
    found = installed.run("muisti", "search", "which port has staging?", "--space", "smoke")
    wants(STAGING in found, f"the memory was not found:\n{found}")
    wants(installed.run("python", "-c", LIBRARY).strip() == "True", "the library of kernels does not load")
    wants(not {"numba", "llvmlite"} & installed.packages(), "the wheel needs a compiler of kernels")
    installed.run("muisti", "doctor")
