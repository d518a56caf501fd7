"""A source tree of Muisti, and how its server runs with the Python and the packages of this environment."""

import compileall
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "muisti."
PACKAGES = {"core": "core", "service": "service", "client": "clients/python/muisti_client"}


@dataclass(frozen=True, slots=True)
class Checkout:
    """A tree with the folders `core/` and `service/`, imported by those names or as parts of `muisti`."""

    folder: Path

    @property
    def prefix(self) -> str:
        """`muisti.` where the packages are parts of it, or nothing."""
        return PACKAGE if f'"{PACKAGE}service"' in (self.folder / "pyproject.toml").read_text("utf-8") else ""

    @property
    def service(self) -> str:
        """Module that runs as the server."""
        return f"{self.prefix}service"

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which Python imports this tree: neither the installed one nor the working directory."""
        root = self.folder.resolve()
        path = {} if root == ROOT else {"PYTHONPATH": str(root / "build" / "view" if self.prefix else root)}
        return {"PYTHONSAFEPATH": "1", **path}

    def prepare(self) -> None:
        """Compile modules and kernels as an installation has them, and link the packages under their names."""
        if self.prefix:
            view = self.folder / "build" / "view" / "muisti"
            view.mkdir(parents=True, exist_ok=True)
            for name, source in {
                "core": "core",
                "service": "service",
                "client": "clients/python/muisti_client",
            }.items():
                if not (view / name).is_symlink():
                    (view / name).symlink_to(self.folder.resolve() / source)
        if (self.folder / "clients" / "python" / "generate").is_dir():
            subprocess.run([sys.executable, "-m", "clients.python.generate"], cwd=self.folder, check=True)
        if not any((self.folder / "core" / "kernels").rglob("native-*.so")):
            command = [sys.executable, "-m", f"{self.prefix}core.kernels"]
            subprocess.run(command, env={**os.environ, **self.environment}, check=True)
        for name in ("core", "service"):
            compileall.compile_dir(self.folder / name, quiet=1)


THIS = Checkout(ROOT)
