"""Installs the wheel into fresh environments and tries it: without a C compiler, then with one."""

import os
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

    def run(self, *command: str, compiler: bool = False) -> str:
        """Run a program of the environment and return what it printed.

        Nothing else is in PATH, so that there is no C compiler unless `compiler` says so.

        Raises:
            SystemExit: it failed.
        """
        folder = self.python.parent
        path = f"{folder}{os.pathsep}{os.environ['PATH']}" if compiler else str(folder)
        environment = {"HOME": str(self._home), "PATH": path, "LANG": "C.UTF-8"}
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
    wants("Nothing about this in the space demo" in demo and "port 5434" in demo, f"the demo found nothing:\n{demo}")
    installed.run("muisti", "add", STAGING, "--space", "smoke")
    found = installed.run("muisti", "search", "which port has staging?", "--space", "smoke")
    wants(STAGING in found, f"the memory was not found:\n{found}")
    wants(installed.run("python", "-c", LIBRARY).strip() == "False", "there is a library without a C compiler")
    installed.run("muisti", "doctor", compiler=True)
    if installed.run("python", "-c", LIBRARY).strip() == "True":
        wants(STAGING in installed.run("muisti", "search", "port", "--space", "smoke"), "the library finds nothing")
    else:
        sys.stdout.write("  NOT TRIED: no C compiler, or no headers of Python, made the library of kernels here\n")
