"""Builds the sdist, and the wheel from it, away from the working tree and with equal bytes each time."""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What a build reads. A folder of a package is in [tool.setuptools] package-dir of pyproject.toml.
FILES = ("pyproject.toml", "MANIFEST.in", "docs/openapi.json", "README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "NOTICE")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", "native-*")
EARLIEST = 315_532_800  # 1980, before which a wheel knows no dates


def epoch() -> int:
    """Return the time of the newest commit in seconds since 1970: the date of every file of the packages."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return max(int(given), EARLIEST)
    log = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        told = subprocess.run(log, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):  # an unpacked sdist
        return EARLIEST
    return max(int(told), EARLIEST)


def copied(folders: list[str], into: Path) -> Path:
    """Copy what a build reads, so that it writes nothing into the working tree."""
    for name in folders:
        shutil.copytree(ROOT / name, into / name, ignore=LEFT_OUT)
    for name in FILES:
        (into / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, into / name)
    return into


def build(source: Path, into: Path, kind: str, when: int) -> Path:
    """Build the `kind` wheel or sdist of a source tree and return its path.

    Raises:
        subprocess.CalledProcessError: it cannot be built.
    """
    before = set(into.glob("*"))
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(into), str(source)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(when)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout)
        done.check_returncode()
    [made] = set(into.glob("*")) - before
    return made


def level(sdist: Path, when: int) -> None:
    """Write the archive again with the date `when`, and with no user, no group and no order of the file system."""
    written = io.BytesIO()
    with tarfile.open(sdist) as given, tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in sorted(given.getmembers(), key=lambda member: member.name):
            content = given.extractfile(member)
            member.mtime, member.uid, member.gid, member.uname, member.gname = when, 0, 0, "", ""
            member.mode, member.pax_headers = 0o755 if member.isdir() else 0o644, {}
            archive.addfile(member, content)
    with sdist.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=when) as packed:
        packed.write(written.getvalue())


def unpacked(sdist: Path, into: Path) -> Path:
    """Unpack an sdist and return its folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(into, filter="data")
    [folder] = into.iterdir()
    return folder


def folders_of(package_dirs: dict[str, str]) -> Iterator[str]:
    """Yield the folders of packages that lie in no other."""
    for name in sorted(package_dirs.values()):
        if not any(name.startswith(f"{other}/") for other in package_dirs.values()):
            yield name
