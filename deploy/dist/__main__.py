"""`make dist`: builds the wheel, the sdist and the list of their parts into dist/, and tries them."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from time import perf_counter

from deploy.dist import building, contents, parts, smoke

ROOT = building.ROOT
INTO = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def main() -> None:
    """Build, check and try everything, and print what was made.

    Raises:
        SystemExit: something is not as it should be. dist/ is then empty.
    """
    began = perf_counter()
    shutil.rmtree(INTO, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="muisti-dist-") as folder:
        made = built(Path(folder))
        say(began, "built, twice with equal bytes")
        check(made)
        say(began, "checked")
        installed = smoke.Installed(Path(folder, "installed"), made[0])
        say(began, "installed; trying it")
        smoke.smoke(installed, PROJECT["project"]["version"])
        bill = made[0].with_name(f"{PROJECT['project']['name']}-{PROJECT['project']['version']}.cdx.json")
        subprocess.run(
            [sys.executable, parts.__file__, str(installed.python), str(ROOT / "pyproject.toml"), str(bill)], check=True
        )
        say(began, "tried")
        INTO.mkdir()
        for path in (*made, bill):
            shutil.move(path, INTO / path.name)
    for path in sorted(INTO.iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        sys.stdout.write(f"{os.path.relpath(path, ROOT)}  {path.stat().st_size / 1e6:.1f} MB  sha256 {digest}\n")


def built(folder: Path) -> tuple[Path, Path]:
    """Build the wheel from the sdist, and again from the tree.

    Raises:
        SystemExit: the two wheels differ.
    """
    when = building.epoch()
    for name in ("tree", "out", "again", "unpacked"):
        (folder / name).mkdir()
    dirs = PROJECT["tool"]["setuptools"]["package-dir"]
    tree = building.copied([*building.folders_of(dirs), "clients/python/generate"], folder / "tree")
    again = building.build(tree, folder / "again", "wheel", when)
    shutil.rmtree(tree / "build", ignore_errors=True)
    sdist = building.build(tree, folder / "out", "sdist", when)
    building.level(sdist, when)
    source = building.unpacked(sdist, folder / "unpacked")
    for library in (tree / "core" / "kernels").glob("native-*"):  # a second compilation differs in a few bytes
        shutil.copy2(library, source / "core" / "kernels")
    wheel = building.build(source, folder / "out", "wheel", when)
    differing = sorted({*contents.names(wheel)} ^ {*contents.names(again)})
    if differing or wheel.read_bytes() != again.read_bytes():
        raise SystemExit(f"The wheel of the sdist is not the wheel of the tree: {differing or 'other bytes'}")
    return wheel, sdist


def check(made: tuple[Path, Path]) -> None:
    """Check the metadata and the files.

    Raises:
        SystemExit: a check failed.
    """
    if found := [*contents.faults(made[0])]:
        raise SystemExit("\n".join(found))
    twine = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, made)]
    if subprocess.run(twine).returncode:
        raise SystemExit("twine is not content with the metadata")


def say(began: float, text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(f"{perf_counter() - began:5.0f} s  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
