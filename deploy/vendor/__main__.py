"""`make vendor`: fetch the scripts and styles of others that the console sends, at the versions of packages.json.

The files go to service/console/static/vendor with their licences. `vendor.json` there lists each with its SHA-384, and
a test compares it with the files.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
INTO = HERE.parents[1] / "service" / "console" / "static" / "vendor"


def fetched(name: str, version: str, node: Path, folder: Path) -> Path:
    """Download a package with npm and return its file."""
    npm = node.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    environment = {**os.environ, "PATH": f"{node.resolve()}{os.pathsep}{os.environ['PATH']}"}
    run = [str(node.resolve() / "node"), str(npm.resolve()), "pack", f"{name}@{version}", "--silent"]
    done = subprocess.run(run, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return folder / done.stdout.split()[-1]


def read(package: Path, place: str) -> bytes:
    """Return a file of a package."""
    with tarfile.open(package) as opened:
        found = opened.extractfile(f"package/{place}")
        if found is None:
            raise SystemExit(f"{package.name} has no {place}")
        return found.read()


def take(name: str, told: Mapping[str, Any], node: Path) -> list[dict[str, str]]:
    """Write the files of a package, and return their entries of vendor.json."""
    with tempfile.TemporaryDirectory() as folder:
        package = fetched(name, told["version"], node, Path(folder))
        entries: list[dict[str, str]] = []
        for place, file in told["files"].items():
            content = read(package, place)
            (INTO / file).write_bytes(content)
            digest = "sha384-" + base64.b64encode(hashlib.sha384(content).digest()).decode()
            about = {"package": name, "version": told["version"], "licence": told["licence"]}
            entries.append({"file": file, **about, "sha384": digest})
        title = f"{name} {told['version']} ({told['licence']})\n\n"
        licence = INTO / f"LICENCE.{name.rpartition('/')[2]}.txt"
        licence.write_bytes(title.encode() + read(package, told["text"]))
        return entries


def main(node: Path) -> None:
    """Fetch all packages; `node` is the folder of Node's programs."""
    INTO.mkdir(parents=True, exist_ok=True)
    packages = json.loads((HERE / "packages.json").read_text())
    entries = [one for name, told in packages.items() for one in take(name, told, node)]
    (INTO / "vendor.json").write_text(json.dumps(entries, indent=2) + "\n")
    for one in entries:
        sys.stdout.write(f"{one['file']:<28} {one['package']} {one['version']}, {one['licence']}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
