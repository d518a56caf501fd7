"""Archives: their documents one by one, whatever they are packed with; what must not be read is refused, and said."""

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.unreadable import Broken, Empty, FileTooLarge, UnknownFormat, Unreadable
from muisti.core.parsing.archives import Member, is_archive, members
from muisti.core.parsing.parsed import ArchiveOptions, Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples

FILES = {
    "readme.md": b"# Read me\n",
    "src/main.py": b"print(1)\n",
    "docs/a.docx": samples.docx(samples.word_document(samples.paragraph("Word."))),
    "long.txt": b"A line of a long text.\n" * 50_000,
}


def tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


PACKED: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "a.zip": samples.zipped, "a.tar": tar, "a.tar.gz": lambda files: gzip.compress(tar(files)),
    "a.tar.bz2": lambda files: bz2.compress(tar(files)), "a.tar.xz": lambda files: lzma.compress(tar(files)),
    "a.tar.zst": lambda files: zstandard.compress(tar(files)),
}  # fmt: skip


def walked(data: bytes, name: str = "a.zip", options: ArchiveOptions | None = None) -> list[tuple[str, bytes | str]]:
    """Return the path of each member with its content, or with the code of its refusal."""
    found: list[tuple[str, bytes | str]] = []
    for member in members(io.BytesIO(data), name, options or ArchiveOptions()):
        found.append((member.path, content(member)))
    return found


def content(member: Member) -> bytes | str:
    if member.content is None:
        assert member.refusal is not None
        return member.refusal.code
    return member.content.read()


@pytest.mark.parametrize("name", PACKED)
def test_every_archive_gives_its_documents_also_when_one_is_not_read(name: str, workers: Workers):
    data, texts = PACKED[name](FILES), dict[str, str]()
    assert is_archive(io.BytesIO(data), name)
    assert walked(data, name) == [*FILES.items()]
    assert [member.path for member in members(io.BytesIO(data), name, ArchiveOptions())] == [*FILES]
    for member in members(io.BytesIO(data), name, ArchiveOptions()):
        assert member.content is not None
        with parse(member.content, member.path, Options(), workers) as document:
            texts[member.path] = "".join(piece.text for piece in document)
    assert texts["docs/a.docx"] == "Word.\n\n"
    assert texts["long.txt"].encode() == FILES["long.txt"]


def test_archives_inside_archives_have_their_path():
    inner = tar({"x/deep.txt": b"deep"})
    data = samples.zipped({"one.txt": b"one", "more/two.tar.gz": gzip.compress(inner)})
    assert walked(data) == [("one.txt", b"one"), ("more/two.tar.gz/x/deep.txt", b"deep")]


def test_archives_are_nested_only_so_deep():
    data = b"x"
    for _ in range(5):
        data = samples.zipped({"a.zip" if data != b"x" else "a.txt": data})
    assert walked(data) == [("a.zip/a.zip/a.zip", "document.unsafe")]
    assert walked(data, options=ArchiveOptions(depth=5)) == [("a.zip/a.zip/a.zip/a.zip/a.txt", b"x")]


def test_a_compressed_file_is_its_content_and_several_after_each_other_are_one():
    assert walked(gzip.compress(b"hello"), "notes.txt.gz") == [("notes.txt", b"hello")]
    for compress in (gzip.compress, bz2.compress, lzma.compress, zstandard.compress):
        assert walked(compress(b"hello ") + compress(b"world"), "a.txt.gz") == [("a.txt", b"hello world")]


@given(st.text(st.sampled_from("ab./\\:"), min_size=1, max_size=12))
def test_no_path_leads_out(name: str):
    data = tar({name: b"x"}) if not name.endswith("/") else samples.zipped({name + "a": b"x"})
    try:
        found = walked(data, "a.tar")
    except Empty:
        return
    for path, _ in found:
        assert not path.startswith("/") or found[0][1] == "document.unsafe"
        assert ".." not in path.split("/") or found[0][1] == "document.unsafe"


def test_members_that_expand_too_much_are_refused_and_others_read():
    data = samples.zipped({"bomb.txt": bytes(40 << 20), "good.txt": b"good"})
    found = []
    for member in members(io.BytesIO(data), "a.zip", ArchiveOptions(ratio=10)):
        assert member.content is not None
        try:
            found.append((member.path, len(member.content.read())))
        except FileTooLarge:
            found.append((member.path, -1))
    assert found == [("bomb.txt", -1), ("good.txt", 4)]


def test_an_archive_has_limits_in_all():
    data = samples.zipped({f"{number}.txt": b"x" * 1_000 for number in range(20)})
    for options in (ArchiveOptions(max_entries=10), ArchiveOptions(max_bytes=10_500)):
        with pytest.raises(FileTooLarge):
            walked(data, options=options)


def test_an_archive_without_documents_is_empty():
    for files in ({}, {"folder/": b""}):
        with pytest.raises(Empty):
            walked(samples.zipped(files))


@pytest.mark.parametrize("name", [name for name in PACKED if name != "a.zip"])
def test_a_cut_archive_is_broken_after_its_good_members(name: str):
    data = PACKED[name](FILES)
    found: list[str] = []
    with pytest.raises(Broken):
        for member in members(io.BytesIO(data[: int(len(data) * 0.5)]), name, ArchiveOptions()):
            content(member)
            found.append(member.path)
    assert found == [*FILES][: len(found)]


def test_an_office_file_is_no_archive_and_an_archive_no_document(workers: Workers):
    assert not is_archive(io.BytesIO(FILES["docs/a.docx"]), "a.docx")
    assert not is_archive(io.BytesIO(b"text"), "a.zip")
    with pytest.raises(Exception, match="archive"):
        parse(samples.zipped({"a.txt": b"x"}), "a.zip", Options(), workers)


SMALL = {name: pack({"a.md": b"# A\n" * 20, "b.zip": samples.zipped({"c.txt": b"c"})}) for name, pack in PACKED.items()}
DAMAGE = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=8)), min_size=1, max_size=4)


@given(st.sampled_from([*SMALL]), DAMAGE, st.booleans())
def test_damage_is_refused_or_harmless(name: str, damage: list[tuple[float, bytes]], cut: bool):
    """No damage raises anything but a refusal, of a member or of the archive."""
    data = bytearray(SMALL[name])
    for place, content in damage:
        at = int(place * len(data))
        data[at : at + len(content)] = content
    if cut:
        del data[int(damage[0][0] * len(data)) :]
    with contextlib.suppress(Unreadable):
        for member in members(io.BytesIO(data), name, ArchiveOptions()):
            if member.content is not None:
                with contextlib.suppress(Unreadable):
                    member.content.read()


KINDS = {
    "a Java archive": {"META-INF/MANIFEST.MF": "x", "META-INF/persistence.xml": "<a/>"},
    "an app of Android": {"AndroidManifest.xml": "x", "META-INF/MANIFEST.MF": "x"},
    "an app of iOS": {"Payload/App.app/Info.plist": "x"},
    "a document of iWork": {"Index/Document.iwa": "x", "Metadata/Properties.plist": "x"},
    "a map (KMZ)": {"doc.kml": "<kml/>"},
    "a package of Python": {"a/__init__.py": "x", "a-1.0.dist-info/WHEEL": "x"},
    "an extension of a web browser": {"manifest.json": '{"manifest_version": 3}'},
    "an extension of an editor": {"[Content_Types].xml": "x", "extension.vsixmanifest": "x"},
    "a binary workbook": {"[Content_Types].xml": "x", "xl/workbook.bin": "x"},
    "a package of parts": {"[Content_Types].xml": "x", "other/part.xml": "<a/>"},
    "type application/vnd.sun.xml.writer": {"mimetype": "application/vnd.sun.xml.writer", "content.xml": "<a/>"},
    "a container of a document": {"META-INF/container.xml": "<a/>", "score.xml": "<a/>"},
}


@pytest.mark.parametrize("what", KINDS)
def test_what_is_zip_and_no_archive_is_refused_in_words(what: str, workers: Workers):
    data = samples.zipped(KINDS[what])
    assert not is_archive(io.BytesIO(data), "a.zip")
    for packed in (data, [one for _, one in walked(samples.zipped({"a.zip": data}))][0]):
        assert isinstance(packed, bytes)
        with pytest.raises(UnknownFormat) as refusal:
            parse(packed, "a.zip", Options(), workers)
        assert what in str(refusal.value)


def test_documents_are_known_by_their_content_whatever_the_file_is_called(workers: Workers):
    for data in (
        samples.odf("text", "<text:p>Hello</text:p>"), samples.odf("text-template", ""),
        samples.docx(samples.word_document(samples.paragraph("Hello"))), samples.epub("Hello"),
    ):  # fmt: skip
        assert not is_archive(io.BytesIO(data), "a.zip")


def test_what_a_desktop_leaves_in_folders_is_no_member():
    debris = ("__MACOSX/._a.txt", "__MACOSX/sub/._b", ".DS_Store", "sub/.DS_Store", "Thumbs.db", "x/desktop.ini", "._c")
    files = {"a.txt": b"hello", **dict.fromkeys(debris, b"\0\5\x16\7")}
    for name, packed in PACKED.items():
        assert walked(packed(files), name) == [("a.txt", b"hello")]
    with pytest.raises(Empty):
        walked(samples.zipped({".DS_Store": b"x"}))


@pytest.mark.parametrize(("name", "encoding"), [
    ("日本語のファイル名.txt", "shift_jis"), ("中文文件名称说明.txt", "gbk"), ("отчёт за год.txt", "cp866"),
    ("отчёт.txt", "utf-8"), ("résumé.txt", "cp437"), ("한국어 문서 파일.txt", "cp949"),
])  # fmt: skip
def test_names_of_members_in_the_encoding_of_a_country(name: str, encoding: str):
    raw = name.encode(encoding)
    stand_in = "x" * len(raw)
    data = samples.zipped({stand_in: b"1"}).replace(stand_in.encode(), raw)
    assert walked(data) == [(name, b"1")]
    if encoding != "cp437":  # which nobody writes to a TAR file
        header = tarfile.TarInfo(raw.decode("utf-8", "surrogateescape"))
        header.size = 1
        entry = header.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape") + b"1".ljust(512, b"\0")
        assert walked(entry + bytes(1024), "a.tar") == [(name, b"1")]


def test_a_name_that_is_stated_in_utf8_beside_it():
    entry = zipfile.ZipInfo("?.txt")
    field = b"\1" + zlib.crc32(b"?.txt").to_bytes(4, "little") + "雪.txt".encode()
    entry.extra = (0x7075).to_bytes(2, "little") + len(field).to_bytes(2, "little") + field
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(entry, b"1")
    assert walked(out.getvalue()) == [("雪.txt", b"1")]
