"""Documents that are one file of XML, and files that are letters and no text."""

import base64
import random

import pytest

from muisti.core.model.unreadable import FileTooLarge, UnknownFormat, Unsafe
from muisti.core.parsing.workers import Workers
from tests.core.parsing.test_formats import joined, read

BYTES = random.Random(1).randbytes(3_000)
PICTURES = ["Pictures and other files inside the file were not read: 1."]
WORD = (
    '<w:p xmlns:w="w"><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Tea</w:t></w:r></w:p>'
    '<w:p xmlns:w="w"><w:r><w:t>Ann</w:t><w:tab/><w:t>drinks</w:t></w:r><w:instrText>X</w:instrText></w:p>'
)
BOOK = (
    '<?xml version="1.0" encoding="windows-1251"?>\n<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">'
    "<description><title-info><book-title>Чай</book-title></title-info></description><body><section>"
    "<title><p>Глава</p><p>первая</p></title><p>Анна <strong>пьёт</strong> чай.</p></section></body>"
    '<binary id="a.jpg">AAAA</binary></FictionBook>'
)
NOTES = (
    '<?xml version="1.0"?><!DOCTYPE en-export SYSTEM "export.dtd"><en-export><note><title>A&nbsp;tea</title><content>'
    "<![CDATA[<en-note><div>Ann &amp; Ben</div></en-note>]]></content><tag>drinks</tag>"
    "<resource><data>AAAA</data></resource></note><note><title>Two</title></note></en-export>"
)
BOOK_OF_SHEETS = (
    '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="s">'
    '<Worksheet ss:Name="Teas"><Table><Row><Cell><Data>Sencha</Data></Cell><Cell ss:Index="{}"><Data>12</Data></Cell>'
    "</Row></Table></Worksheet></Workbook>"
)


@pytest.mark.parametrize(("name", "source", "text", "notes"), [
    ("a.fb2", BOOK.encode("cp1251"), "Чай\n\n# Глава первая\n\nАнна пьёт чай.\n\n", PICTURES),
    ("a.enex", NOTES.encode(), "# A tea\n\nAnn & Ben\n\ntag: drinks\n\n# Two\n\n", PICTURES),
    (
        "a.xml",
        f'<w:wordDocument xmlns:w="w"><w:body>{WORD}</w:body><w:binData>AAAA</w:binData></w:wordDocument>'.encode(),
        "## Tea\n\nAnn\tdrinks\n\n",
        PICTURES,
    ),
    (
        "a.doc",
        f'<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">{WORD}</pkg:package>'.encode(),
        "## Tea\n\nAnn\tdrinks\n\n",
        [],
    ),
    ("a.xls", BOOK_OF_SHEETS.format(3).encode(), "# Teas\n\n| Sencha |  | 12 |\n| --- | --- | --- |\n\n", []),
])  # fmt: skip
def test_a_document_of_one_file(workers: Workers, name: str, source: bytes, text: str, notes: list[str]):
    document, pieces = read(workers, source, name)
    assert joined(pieces) == text
    assert document.notes == notes


@pytest.mark.parametrize(("source", "error"), [
    ('<?xml version="1.0"?><!DOCTYPE FictionBook SYSTEM "x"><FictionBook>' + "<p>" * 500, Unsafe),
    (BOOK_OF_SHEETS.format(9_999_999), FileTooLarge),
])  # fmt: skip
def test_a_hostile_document_of_one_file(workers: Workers, source: str, error: type[Exception]):
    with pytest.raises(error):
        read(workers, source.encode(), "a.xml")


@pytest.mark.parametrize(("data", "what"), [
    (b"%!PS-Adobe-3.0\n(Ann) show\n", "PostScript"),
    (b"-----BEGIN PGP MESSAGE-----\n\n" + base64.encodebytes(BYTES), "PGP"),
    (base64.encodebytes(BYTES), "base64"),
    (b"begin 644 a.bin\n" + b"M8&%B8V1E9F=H:6IK;&UN;W!Q<G-T=79W>'EZ>WQ]?G\n" * 30 + b"`\nend\n", "uuencode"),
    (b"\x93NUMPY\x01\0v\0" + b"{'descr': '<f8', 'shape': (3,)}".ljust(118) + bytes(24), "numbers"),
    (b"HEADER\x93 of a program with some words in it\n" * 40 + bytes(4), "no format"),
])  # fmt: skip
def test_letters_that_are_no_text_are_refused(workers: Workers, data: bytes, what: str):
    with pytest.raises(UnknownFormat, match=what):
        read(workers, data, "a.txt" if what != "no format" else "a.bin")


def test_a_sequence_of_letters_is_a_text(workers: Workers):
    assert read(workers, b"ACGTTGCA" * 8 + (b"\n" + b"ACGTTGCA" * 8) * 9, "a.txt")[1]
