"""Files made to harm a reader: bombs, loops, depth, entities, links, damage. Each has the codes that may answer it.

python -m tests.core.parsing.hostile      # measures all of them, large ones included, and prints a table
"""

import io
import random
import resource
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from muisti.core.model.unreadable import Unreadable
from muisti.core.parsing.archives import is_archive, members
from muisti.core.parsing.parsed import ArchiveOptions, Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from tests.core.parsing import old_office, samples

MB = 1 << 20
ENTITIES = '<!ENTITY a0 "lol lol lol lol ">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
LAUGHS = f"<!DOCTYPE d [{ENTITIES}]>"
XXE = '<!DOCTYPE d [<!ENTITY a9 SYSTEM "file:///etc/passwd">]>'
QUADRATIC = f'<!DOCTYPE d [<!ENTITY a9 "{"A" * 100_000}">]>'
TEXT = "ok"  # text instead of a code


@dataclass(frozen=True)
class Hostile:
    """A hostile file: what makes it, and the answers that are right. `large` ones take long to make."""

    name: str
    make: Callable[[], bytes]
    answers: frozenset[str]
    large: bool = False


def _case(name: str, make: Callable[[], bytes], *answers: str, large: bool = False) -> Hostile:
    codes = frozenset(answer if answer == TEXT else f"document.{answer}" for answer in answers)
    return Hostile(name, make, codes, large)


def _zeros(size: int, level: int = 9) -> bytes:
    packer = zlib.compressobj(level)
    block = b"\0" * MB
    return b"".join([*(packer.compress(block) for _ in range(size // MB)), packer.flush()])


def _looped(data: bytes) -> bytes:
    """Return a compound file in whose table of sectors every sector follows itself."""
    (place,) = struct.unpack_from("<I", data, 76)
    at = (place + 1) * 512
    return data[:at] + struct.pack("<128I", *range(128)) + data[at + 512 :]


def _deep_slides(depth: int) -> bytes:
    body = b""
    for _ in range(depth):
        body = struct.pack("<HHI", 15, 0x03E8, len(body)) + body
    return old_office.compound({"PowerPoint Document": body, "Current User": bytes(32)})


def _stream_bomb() -> bytes:
    packer = zlib.compressobj(6)
    line = b"(AAAAAAAAAAAAAAAAAAAAAAAAAAAA) Tj " * (1 << 15)
    parts = [packer.compress(b"BT /F1 12 Tf 10 10 Td "), *(packer.compress(line) for _ in range(1024)), packer.flush()]
    return samples.pdf_of(b"".join(parts), b"/FlateDecode")


def _document(doctype: str) -> bytes:
    return samples.docx(f"{doctype}{samples.word_document('<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>')}")


def _with_doctype(data: bytes, part: str, doctype: str) -> bytes:
    """Return a ZIP file whose part declares a document type, and uses its entity."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == part:
                content = doctype.encode() + content.partition(b"?>")[2]
            new.writestr(name, content)
    return out.getvalue()


def _bomb_docx() -> bytes:
    out = io.BytesIO()
    head, _, tail = samples.word_document("<w:p><w:r><w:t>@</w:t></w:r></w:p>").partition("@")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in samples.package_parts("word/document.xml", "wordprocessingml.document.main").items():
            archive.writestr(name, content)
        with archive.open("word/document.xml", "w", force_zip64=True) as file:
            file.write(head.encode())
            for _ in range(2048):
                file.write(b"A" * MB)
            file.write(tail.encode())
    return out.getvalue()


def _rows() -> bytes:
    def rows() -> Iterator[bytes]:
        for number in range(1, 1_000_001):
            cells = "".join(f'<c r="{column}{number}"><v>1</v></c>' for column in "ABCDEFGHIJ")
            yield f'<row r="{number}">{cells}</row>'.encode()

    return samples.xlsx_of_rows(rows())


def _sparse() -> bytes:
    return samples.xlsx_of_rows(
        [b'<row r="1"><c r="A1"><v>1</v></c></row>', b'<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>']
    )


def _wide() -> bytes:
    """Return a sheet of 20,000 rows that each have one cell, at the far right."""
    return samples.xlsx_of_rows(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>'.encode() for n in range(1, 20_001))


def _nested_zip(levels: int, wide: int) -> bytes:
    data = b"x" * (10 * MB)
    for level in range(levels):
        data = samples.zipped({f"{number}.{'zip' if level else 'txt'}": data for number in range(wide)})
    return data


def _repeated() -> bytes:
    """Return a sheet of a row that is repeated a million times, whose cells are too."""
    cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    return samples.odf("spreadsheet", f'<table:table table:name="S">{row * 50}</table:table>')


def _many_entries() -> bytes:
    """Return a ZIP file with a million entries, made by hand as `zipfile` takes a minute."""
    local = b"PK\3\4" + bytes(22) + b"\1\0\0\0a"
    entry = b"PK\1\2" + bytes(24) + b"\1\0" + bytes(16) + b"a"
    count, size = 1_000_000, len(entry) * 1_000_000
    end = b"PK\6\6" + (44).to_bytes(8, "little") + bytes(12)
    end += b"".join(value.to_bytes(8, "little") for value in (count, count, size, len(local)))
    end += b"PK\6\7" + bytes(4) + (len(local) + size).to_bytes(8, "little") + (1).to_bytes(4, "little")
    end += b"PK\5\6" + bytes(4) + b"\xff" * 12 + bytes(2)
    return local + entry * count + end


def _many_in_tar() -> bytes:
    header = tarfile.TarInfo("a").tobuf()
    return header * 200_000 + bytes(1024)


def _symlinks() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return out.getvalue()


def _tar_links() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for kind, target in ((tarfile.SYMTYPE, "/etc"), (tarfile.LNKTYPE, "/etc/passwd"), (tarfile.CHRTYPE, "")):
            entry = tarfile.TarInfo(f"entry{kind.decode()}")
            entry.type, entry.linkname = kind, target
            archive.addfile(entry)
        archive.addfile(tarfile.TarInfo("entry1/passwd"))
    return out.getvalue()


def _long_name_tar() -> bytes:
    """Return a TAR file whose header of extended names says that it takes 4 GB."""
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 4 << 30
    return header.tobuf(tarfile.GNU_FORMAT) + bytes(2 * MB)


def _gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress(bytes(MB)) for _ in range(2048)), packer.flush()])


def _encrypted_zip() -> bytes:
    data = bytearray(samples.zipped({"secret.txt": b"secret"}))
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + place] |= 1
    return bytes(data)


def _lying_zip() -> bytes:
    """Return a ZIP file whose directory says that its member has ten bytes."""
    data = bytearray(samples.zipped({"a.txt": b"A" * (64 * MB)}))
    at = data.index(b"PK\1\2") + 24
    data[at : at + 4] = (10).to_bytes(4, "little")
    return bytes(data)


def _endless_pages() -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 1/Kids[2 0 R]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    )


def _noise(start: bytes) -> bytes:
    return start + random.Random(1).randbytes(200_000)


def _deep_word() -> bytes:
    inner = "<w:sdt><w:sdtContent>" * 100_000 + "<w:p/>" + "</w:sdtContent></w:sdt>" * 100_000
    return samples.docx(samples.word_document(inner))


def _mail_parts() -> bytes:
    """Return an e-mail of 20,000 parts inside each other."""
    parts = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(20_000))
    return ("From: a@example.org\nMIME-Version: 1.0\n" + parts + "\nhello\n").encode()


CASES = (
    # PDF
    _case("bomb.pdf", _stream_bomb, "crashed", "timeout", "too_large", large=True),
    _case(
        "twice.pdf",
        lambda: samples.pdf_of(zlib.compress(_zeros(1024 * MB)), b"[/FlateDecode/FlateDecode]"),
        "crashed", "timeout", "too_large", "no_text", "broken", large=True,
    ),
    _case("pages.pdf", lambda: samples.pdf_of(samples.HELLO, pages=200_000), "too_large"),
    _case("loop.pdf", _endless_pages, "broken", "no_text"),
    _case("cut.pdf", lambda: samples.pdf("Hello")[:300], "broken", "no_text"),
    _case("noise.pdf", lambda: _noise(b"%PDF-1.7\n"), "broken"),
    _case("scan.pdf", samples.pdf_of_an_image, "no_text"),
    _case("encrypted.pdf", samples.encrypted_pdf, "encrypted"),
    # Office
    _case("renamed.pdf", lambda: samples.docx(samples.word_document(samples.paragraph("Hello"))), TEXT),
    _case("laughs.docx", lambda: _document(LAUGHS), "unsafe"),
    _case("quadratic.docx", lambda: _document(QUADRATIC), "unsafe"),
    _case("xxe.docx", lambda: _document(XXE), "unsafe"),
    _case("xxe16.docx", lambda: samples.docx((XXE + samples.word_document("")).encode("utf-16")), "unsafe"),
    _case("xxe.pptx", lambda: _with_doctype(samples.pptx("Hi"), "ppt/slides/slide1.xml", XXE), "unsafe"),
    _case("xxe.xlsx", lambda: _with_doctype(samples.xlsx([["a"]]), "xl/worksheets/sheet1.xml", XXE), "unsafe"),
    _case("laughs.xlsx", lambda: _with_doctype(samples.xlsx([["a"]]), "xl/workbook.xml", LAUGHS), "unsafe"),
    _case("xxe.epub", lambda: _with_doctype(samples.epub("<p>Hi</p>"), "content.opf", XXE), "unsafe"),
    _case("bomb.docx", _bomb_docx, "too_large", large=True),
    _case("deep.docx", _deep_word, "unsafe"),
    _case("cut.docx", lambda: samples.docx(samples.word_document(""))[:-40], "broken"),
    _case("sparse.xlsx", _sparse, TEXT, "too_large"),
    _case("wide.xlsx", _wide, TEXT),
    _case("rows.xlsx", _rows, "too_large", "timeout", large=True),
    _case("xxe.odt", lambda: _with_doctype(samples.odf("text", "<text:p>Hi</text:p>"), "content.xml", XXE), "unsafe"),
    _case("xxe.fodt", lambda: samples.flat_odf("text", "<text:p>Hi</text:p>").replace(b"?>", f"?>{XXE}".encode()), TEXT,
          "unsafe"),
    _case("deep.odt", lambda: samples.odf("text", "<text:section>" * 100_000 + "</text:section>" * 100_000), "unsafe"),
    _case("spaces.odt", lambda: samples.odf("text", '<text:p>a<text:s text:c="9999999"/></text:p>' * 9_000), TEXT),
    _case("repeated.ods", _repeated, TEXT, "too_large"),
    _case("encrypted.docx", samples.encrypted_office, "encrypted"),
    # Web pages, notebooks, e-mail
    _case("deep.html", lambda: b"<div>" * 200_000 + b"hello", "unsafe"),
    _case("crossed.html", lambda: b"<b><a>" * 50_000 + b"hello", "unsafe"),
    _case("laughs.html", lambda: f"{LAUGHS}<html><body>&a9;</body></html>".encode(), TEXT),
    _case("table.html", lambda: b"<table><tr><td>" * 15_000 + b"hello", TEXT),
    _case("spans.html", lambda: b"<table><tr>" + b"<td rowspan=99999 colspan=99999>x" * 500 + b"</table>", TEXT),
    _case("math.html", lambda: b"<html><body>" + b"<math><mrow>" * 9_000 + b"<mi>hello", TEXT),
    _case("raised.html", lambda: b"<html><body>" + b"<sup><sub>" * 9_000 + b"hello", TEXT),
    _case("frames.html",
          lambda: b"<html>" + b"<iframe srcdoc='<iframe srcdoc=\"<p>x'></iframe>" * 2_000 + b"hello", TEXT),
    _case("deep.rtf", lambda: b"{\\rtf1 " + b"{\\b" * 500_000 + b" hello", "broken"),
    _case("notes.rtf", lambda: b"{\\rtf1 hello" + b"{\\footnote x" * 9_000, TEXT),
    _case("skips.rtf", lambda: b"{\\rtf1 hello" + b"\\bin999999999 \\uc999999999\\u1?" * 99_000, TEXT),
    # Office before 2007, messages of Outlook, calendars
    _case("loop.doc", lambda: _looped(old_office.doc("hello\r" * 200)), "broken", "empty"),
    _case("far.doc", lambda: old_office.doc("hello\r").replace(
        b"\6\0\0\0\0\0\0\4", b"\xff" * 4 + b"\0\0\0\4"), TEXT, "broken"),
    _case("counts.xls", lambda: old_office.xls([["hello"]], shared=["x"]).replace(
        b"\1\0\0\0\1\0\0\0\1\0\1x", b"\xff" * 8 + b"\xff\xff\1x"), TEXT),
    _case("deep.ppt", lambda: _deep_slides(20_000), "broken", "empty"),
    _case("edits.ppt", lambda: old_office.ppt(("hello", "x")).replace(
        b"\0\x10\0\0", b"\xff" * 4), TEXT, "broken", "empty"),
    _case("attached.msg", lambda: old_office.msg("hello", "x", {f"{n}.txt": b"y" * 99 for n in range(400)}), TEXT),
    _case("folds.ics", lambda: b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:hello" + b"\n x" * 300_000, TEXT),
    _case("quoted.vcf", lambda: b"BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:hello" + b"=\n" * 300_000 + b"END:VCARD", TEXT),
    _case("inside.ics", lambda: b"BEGIN:VCALENDAR\nSUMMARY:hello\n" + b"BEGIN:VEVENT\n" * 100_000 + b"SUMMARY:x", TEXT),
    _case("deep.ipynb", lambda: b'{"nbformat":4,"cells":' + b"[" * 1_000_000, "broken", "too_large"),
    _case("parts.eml", _mail_parts, TEXT, "broken", "empty", "timeout", "too_large"),
    # Archives
    _case("nested.zip", lambda: _nested_zip(6, 10), "unsafe", "too_large"),
    _case("slip.zip", lambda: samples.zipped({"../../evil.txt": b"x", "/abs.txt": b"y"}), "unsafe"),
    _case("links.zip", _symlinks, "unsafe"),
    _case("links.tar", _tar_links, "unsafe", "empty"),
    _case("million.zip", _many_entries, "too_large", large=True),
    _case("entries.tar", _many_in_tar, "too_large", "empty", large=True),
    _case("header.tar", _long_name_tar, "unsafe"),
    _case("bomb.txt.gz", _gzip_bomb, "too_large", "unknown_format", large=True),
    _case("locked.zip", _encrypted_zip, "encrypted"),
    _case("lying.zip", _lying_zip, "broken", "too_large"),
    _case("cut.zip", lambda: samples.zipped({"a.txt": b"hello"})[:-30], "broken"),
    # Texts
    _case("nothing.txt", lambda: b"", "empty"),
    _case("blank.txt", lambda: b" \n\t" * 100_000, "empty"),
    _case("noise.bin", lambda: _noise(b"\0"), "unknown_format"),
    _case("line.txt", lambda: b"A" * (32 * MB), TEXT),
    _case("quotes.csv", lambda: b'a,"' + b"x," * 500_000, "broken"),
    _case("late.txt", lambda: b"text " * 100_000 + bytes(100), "unknown_format"),
)  # fmt: skip


def answers(path: Path, options: Options, workers: Workers) -> Iterator[tuple[str, str]]:
    """Yield the answer for each document in a file: its code, or `TEXT` with the first of its text."""
    with path.open("rb") as source:
        if not is_archive(source, path.name):
            yield _answer(path, path.name, options, workers)
            return
        try:
            for member in members(source, path.name, ArchiveOptions()):
                if member.content is None:
                    yield (member.refusal.code if member.refusal else "none"), member.path
                else:
                    yield _answer(member.content, member.path, options, workers)
        except Unreadable as refusal:
            yield refusal.code, str(refusal)


def _answer(source: Path | io.BytesIO, name: str, options: Options, workers: Workers) -> tuple[str, str]:
    start = ""
    try:
        with parse(source, name, options, workers) as document:
            for piece in document:
                start = start or piece.text.strip()[:200]
    except Unreadable as refusal:
        return refusal.code, str(refusal)
    return TEXT, start


def main() -> None:
    """Measure all hostile files, each after the other, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            (Path(folder) / case.name).write_bytes(case.make())
        # A process that has made none of them, so that its memory is that of reading.
        subprocess.run([sys.executable, "-m", __spec__.name, folder], check=True)


def measure(folder: Path) -> None:
    """Read all hostile files of a folder, each with a worker of its own, and print a row for each."""
    say = sys.stdout.write
    say("| file | bytes | answer | seconds | of a processor |\n| --- | --- | --- | --- | --- |\n")
    began_with = _peak()
    for case in CASES:
        workers = Workers()
        path = folder / case.name
        size, began, used = path.stat().st_size, time.perf_counter(), _used()
        codes = sorted({code for code, _ in answers(path, Options(), workers)})
        took = time.perf_counter() - began
        workers.close()
        mark = "" if set(codes) <= case.answers else " (unexpected)"
        say(f"| {case.name} | {size:,} | {', '.join(codes)}{mark} | {took:.1f} | {_used() - used:.1f} |\n")
    say(f"\nThis process: {began_with} MB before, {_peak()} MB at most.")
    say(f" A worker: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB at most.\n")


def _used() -> float:
    """Return the processor time that this process and its ended children have used, in seconds."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _peak() -> int:
    """Return the most memory that this process has used since it began, in MB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024


if __name__ == "__main__":
    measure(Path(sys.argv[1])) if sys.argv[1:] else main()
