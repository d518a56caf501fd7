"""The packages whose texts are read: fetched by their registries' own clients at a pinned version, licence checked."""

import json
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from deploy.model.progress import say

LISTED = Path(__file__).parent / "sources.toml"
TEACHER = "teacher"  # what `reads` says for the teacher's own packages
ALLOWED = (
    "mit", "bsd", "apache", "python software foundation", "psf", "isc", "mpl", "mozilla public", "zlib", "cc0", "hpnd",
    "historical permission", "public domain", "unlicense", "cc-by-4.0", "wordnet", "postgresql", "artistic", "0bsd",
)  # fmt: skip
CLIENTS = {  # a command that downloads into its working folder, and the separator of name and version
    "pypi": ((sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps"), "=="),
    "npm": (("npm", "pack", "--silent"), "@"),
    "debian": (("apt-get", "download", "-qq"), "="),
}
REFUSED = ("gpl", "general public", "proprietary", "non-commercial", "noncommercial", "-nc")


class LicenceRefused(Exception):
    """A package's own metadata names a licence that the build does not take texts from, or none."""


@dataclass(frozen=True, slots=True)
class Source:
    """A package at a version. `reads` says which module turns it into pairs."""

    registry: str  # "pypi", "npm", "debian" or "python" for the standard library
    name: str
    version: str
    reads: str
    licence: str = ""  # as stated in sources.toml; for PyPI and npm compared with the package's metadata


def listed() -> list[Source]:
    """All sources of sources.toml, the teacher's included, in its order."""
    tables = tomllib.loads(LISTED.read_text())
    return [
        Source(registry, name, entry["version"], entry["reads"], entry.get("licence", ""))
        for registry, packages in tables.items()
        for name, entry in packages.items()
    ]


def texts(sources: list[Source]) -> list[Source]:
    """The sources that are read; the others are the teacher's."""
    return [source for source in sources if source.reads != TEACHER]


def fetch(sources: list[Source], folder: Path) -> None:
    """Download what `folder` does not hold yet. Raises `CalledProcessError` when a client fails."""
    missing: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.registry in CLIENTS and find(source, folder) is None:
            missing[source.registry].append(source)
    for registry, wanted in missing.items():
        command, between = CLIENTS[registry]
        say(f"  {len(wanted)} packages of {registry}")
        subprocess.run(
            [*command, *(f"{source.name}{between}{source.version}" for source in wanted)], check=True, cwd=folder
        )


def find(source: Source, folder: Path) -> Path | None:
    """Return the downloaded archive of a source, or None. Registries change the case and the dashes of names."""
    name = source.name.lower().lstrip("@").replace("/", "-").replace("_", "-")
    version = source.version.replace(":", "%3a")
    for file in sorted(folder.iterdir()):
        if file.name.lower().replace("_", "-").startswith((f"{name}-{version}-", f"{name}-{version}.")):
            return file
    return None


def files(source: Source, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of a package's files."""
    if source.registry == "python":
        root = Path(sysconfig.get_path("stdlib"))
        for path in sorted(root.rglob("*.py")):
            if "site-packages" not in path.parts:
                yield str(path.relative_to(root)), path.read_bytes()
        return
    archive = find(source, folder)
    if archive is None:
        raise FileNotFoundError(f"{source.name} {source.version} was not downloaded to {folder}")
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                yield name, opened.read(name)
    elif archive.suffix == ".deb":
        unpacking = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE)
        with unpacking, tarfile.open(fileobj=unpacking.stdout, mode="r|") as opened:
            yield from _members(opened)
    else:
        with tarfile.open(archive) as opened:
            yield from _members(opened)


def licence_of(source: Source, folder: Path) -> str:
    """The licence that the package states, checked against the allowed ones. Raises `LicenceRefused`."""
    stated = _stated(source, folder)
    text = stated.lower()
    if not any(word in text for word in ALLOWED) or any(word in text for word in REFUSED):
        raise LicenceRefused(f"{source.name} {source.version}: {stated or 'no licence stated'}")
    return stated


def _stated(source: Source, folder: Path) -> str:
    if source.registry == "pypi":
        return _wheel_licence(files(source, folder)) or source.licence
    if source.registry == "npm":
        meta = next(data for name, data in files(source, folder) if name == "package/package.json")
        return str(json.loads(meta).get("license", ""))
    return source.licence  # Debian's copyright files are prose: read by a person, stated in sources.toml


def _wheel_licence(members: Iterator[tuple[str, bytes]]) -> str:
    metadata = next((data for name, data in members if name.endswith((".dist-info/METADATA", "/PKG-INFO"))), b"")
    headers = HeaderParser().parsestr(metadata.decode(errors="replace"))
    classified = [
        value.split(" :: ")[-1] for value in headers.get_all("Classifier", []) if value.startswith("License ::")
    ]
    named = headers.get("License-Expression") or "; ".join(classified) or headers.get("License", "")
    return " ".join(named.split())[:120]


def _members(opened: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in opened:
        if member.isfile():
            content = opened.extractfile(member)
            if content is not None:
                yield member.name, content.read()
