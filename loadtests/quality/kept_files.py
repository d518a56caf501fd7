"""Fetch the real files that `loadtests.quality.kept` reads: sources of packages, and repositories."""

import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
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
DEBIAN = (
    "abiword", "calligra", "catdoc", "epubcheck", "libapache-poi-java", "libodfdom-java", "notmuch", "pandoc",
    "public-inbox", "unrtf",
)  # fmt: skip
CLONED = (
    Public("asciidoctor/asciidoctor", "ae5891df10f12dda069abea8a318c9b94d545bee", "."),
    Public("bzg/org-mode", "2f2e4d865c8c3023bcfc9c9434bbac219cecf82c", "."),
    Public("chaoss/grimoirelab-perceval", "78fd47401d8f17a757186c9eb82677f617fce3f4", "."),
    Public("saulpw/visidata", "3e10140963a62a5f78fc6b60ebd2ac9264ef2772", "."),
)
_TYPES = re.compile(r"^(Types:.*|deb )", re.MULTILINE)


def fetched(folder: Path) -> None:
    """Download and unpack the sources of all packages; one that cannot be had is named and left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in CLONED:
        try:
            _ = cloned(one, folder)
        except subprocess.CalledProcessError:
            click.echo(f"{one.repository} cannot be cloned.", err=True)
    for names, command_of in ((PYTHON, _pip), (DEBIAN, _apt)):
        with tempfile.TemporaryDirectory() as place:
            fetch = command_of(Path(place))
            for name in names:
                if subprocess.run(fetch(name), check=False, capture_output=True, cwd=place).returncode:
                    click.echo(f"{name} cannot be fetched.", err=True)
            for packed in _packed(Path(place)):
                with tarfile.open(packed) as archive:
                    archive.extractall(folder, filter=_inside)


def _packed(place: Path) -> Iterator[Path]:
    yield from (
        one for pattern in ("*.tar.gz", "*.tar.xz") for one in place.glob(pattern) if ".debian." not in one.name
    )


def _inside(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    """Leave out a member that leads out of the folder, such as a link."""
    try:
        return tarfile.data_filter(member, path)
    except tarfile.FilterError:
        return None


def _pip(place: Path) -> Callable[[str], list[str]]:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(place)]
    return lambda name: [*command, name]


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
