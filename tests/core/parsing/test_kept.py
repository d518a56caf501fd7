"""Texts that are read or named in the notes, and refusals in words, over the formats."""

import io
import json
import re
import zipfile

import pytest

from muisti.core.model.unreadable import Encrypted, Unreadable
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples
from tests.core.parsing.test_formats import joined, read

RTF = (
    rb"{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset161 Greek;}}"
    rb"{\stylesheet{\s0 Normal;}{\s1 heading 1;}}{\info{\title Plan}{\author Ann}}{\*\generator Writer;}"
    rb"{\header\pard Top\par}\pard\s1 First part\par\pard\plain H{\sub 2}O, 10{\super -9}, x{\super st}\par"
    rb"\f1\'e1\'e2 \f0 \uc1\u8364?\u-10179 ?\u-8703 ?{\deleted gone away}\par"
    rb"{\listtext 1.\tab}one\par{\pntext\'b7\tab}two\par\trowd\intbl a\cell b\cell\row\intbl c\cell d\cell\row\pard "
    rb"end{\footnote At the foot.}{\*\annotation Why?}{\field{\*\fldinst HYPERLINK \"u\"}{\fldrslt link}}"
    rb"{\field{\*\fldinst {SYMBOL 97}}{\fldrslt\f1}}{\field{\*\fldinst SYMBOL 98}{\fldrslt ,}}"
    rb"{\pict\pngblip 89504e47}{\bin4 }}}}}{\*\unknown nothing}\par{\shp{\*\shpinst{\shptxt In a box\par}}}}"
)
SHOWN = (
    "# First part\n\nH₂O, 10⁻⁹, xst\n\nαβ €😁\n\n1. one\n\n- two\n\n| a | b |\n| --- | --- |\n| c | d |\n\nendlink,\n\n"
    "In a box\n\nHeader: Top\n\nAt the foot.\n\nComment: Why?\n\n"
)
MATH = (
    "<math><msup><mi>x</mi><mn>2</mn></msup><mo>≤</mo><mfrac><mi>a</mi><mi>b</mi></mfrac></math>",
    r"$x^{2} \leq \frac{a}{b}$",
)
PAGE = (
    "<p>10<sup>9</sup> and <sup><a href=x>2</a></sup>, 1<sup>st</sup> " + MATH[0] + "</p><table><tr><td>foo<b>bar</b>"
    "<td rowspan=2>x<br>y</tr><tr><td>CO<sub>2</sub></tr></table><svg><title>A cat</title><text>drawn</text></svg>"
    "<button aria-label=Close><i></i></button><input value=typed><input type=hidden value=token><area alt=region>"
    "<details><summary>More</summary>folded</details><iframe srcdoc='&lt;p&gt;in a frame'></iframe>"
    "<iframe src=https://a.example/b></iframe><noscript>switch it on</noscript><template><p>later</p></template>"
    "<select><option>red<option>blue</select>"
)
PAGE_NOTES = [
    "Text in elements <noscript> was left out: 3 words.", "Text in elements <template> was left out: 1 word.",
    "Text in elements <select> was left out: 2 words.", "Pages in frames were not read: https://a.example/b.",
]  # fmt: skip


def test_rich_text(workers: Workers):
    document, pieces = read(workers, RTF, "a.doc")
    assert (joined(pieces), document.title, document.media_type) == (SHOWN, "Plan", "application/rtf")
    assert document.notes == [
        "Deleted text of tracked changes was left out: 2 words.",
        "Symbols that are only numbers of fields were left out: 1.",
    ]
    assert pieces[1].headings == ("First part",)


def test_a_page(workers: Workers):
    document, pieces = read(workers, f"<html><body>{PAGE}</body></html>".encode(), "a.html")
    assert joined(pieces) == (
        f"10⁹ and ², 1st {MATH[1]}\n\n| foobar | x y |\n| --- | --- |\n| CO₂ | x y |\n\nA cat\n\ndrawn\n\n"
        "![Close] typed ![region]\n\nMore\n\nfolded\n\nin a frame\n\n"
    )
    assert document.notes == PAGE_NOTES
    book = samples.epub(f"<p>{MATH[0]}</p>")
    assert MATH[1] in joined(read(workers, book, "a.epub")[1])


def test_a_table_whose_cells_span_rows(workers: Workers):
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    rows = (
        cell.format(' table:number-rows-spanned="2"', "a") + cell.format(' table:number-columns-spanned="2"', "b"),
        "<table:covered-table-cell/>" + cell.format("", "c") + cell.format("", "d"),
    )
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    style = '<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>'
    text = '<text:p>10<text:span text:style-name="T1">6</text:span></text:p>'
    _, pieces = read(workers, samples.odf("text", f"{text}<table:table>{body}</table:table>", style), "a.odt")
    assert joined(pieces) == "10⁶\n\n| a | b |  |\n| --- | --- | --- |\n| a | c | d |\n\n"


def test_digits_that_are_raised_in_office(workers: Workers):
    run = '<w:r><w:rPr><w:vertAlign w:val="{}"/></w:rPr><w:t>{}</w:t></w:r>'
    text = "<w:p><w:r><w:t>H</w:t></w:r>" + run.format("subscript", "2") + run.format("superscript", "n+1") + "</w:p>"
    _, pieces = read(workers, samples.docx(samples.word_document(text)), "a.docx")
    assert joined(pieces) == "H₂ⁿ⁺¹\n\n"


@pytest.mark.parametrize(("inside", "instead"), [
    ("PP40", "PPTX, ODP or PDF"), ("VisioDocument", "PDF"), ("\x05HwpSummaryInformation", "DOCX or PDF"),
])  # fmt: skip
def test_a_refusal_says_what_to_send_instead(workers: Workers, inside: str, instead: str):
    with pytest.raises(Unreadable, match=re.escape(f"Save it as {instead}, and send that.")):
        read(workers, samples.container(inside), "a.bin")


def test_a_directory_in_many_sectors_is_followed(workers: Workers):
    data = bytearray(samples.container("Else"))
    data[76:80] = (1).to_bytes(4, "little")  # the table of sectors is the second one
    table = bytearray(b"\xff" * 512)
    table[0:4] = (2).to_bytes(4, "little")  # the directory goes on in the third one
    more = "VisioDocument".encode("utf-16-le").ljust(512, b"\0")
    with pytest.raises(Unreadable, match="a drawing of Visio"):
        read(workers, bytes(data) + bytes(table) + more, "a.bin")


@pytest.mark.parametrize(("name", "data", "text"), [
    ("a.csv", b"name;drink\rAnn;tea\r", "| name | drink |\n| --- | --- |\n| Ann | tea |\n"),
    ("a.csv", b'a;b\r\n"x\r\ny";2\r\n', "| a | b |\n| --- | --- |\n| x y | 2 |\n"),
    ("a.json", b'{"nbformat": {"type": "integer"}, "cells": "a"}', '{"nbformat": {"type": "integer"}, "cells": "a"}'),
])  # fmt: skip
def test_a_text_of_another_form_than_it_seems(workers: Workers, name: str, data: bytes, text: str):
    assert joined(read(workers, data, name)[1]) == text


def test_outputs_of_a_notebook_that_are_not_shown_are_named(workers: Workers):
    data = {"text/plain": "IntSlider()", "application/vnd.widget+json": {"model": "a"}}
    cell = {"cell_type": "code", "source": "x", "outputs": [{"output_type": "display_data", "data": data}] * 2}
    document, _ = read(workers, json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}}).encode(), "a.ipynb")
    assert document.notes == ["Content of outputs of the type application/vnd.widget+json was left out: 4 words."]


def test_margins_of_a_sheet_and_texts_from_other_files(workers: Workers):
    book = samples.xlsx([["a"]])
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    margin = '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Q&amp;&amp;A &amp;P</oddHeader></headerFooter>'
    parts[sheet] = parts[sheet].replace("</worksheet>", margin + "</worksheet>")
    assert joined(read(workers, samples.zipped(parts), "a.xlsx")[1]).endswith("| a |\n| --- |\n\nHeader: Q&A\n\n")
    body = samples.word_document(samples.paragraph("main"))
    chunk = {"word/_rels/document.xml.rels": samples.relations({"r1": ("aFChunk", "a.htm")}), "word/a.htm": "<p>x</p>"}
    document, _ = read(workers, samples.docx(body, chunk), "a.docx")
    assert document.notes == ["Files embedded in the document were not read: a.htm."]


def test_notes_inside_each_other(workers: Workers):
    _, pieces = read(
        workers, rb"{\rtf1 one{\footnote two{\footnote three}} {\shp{\shptxt four\footnote }}five}", "a.rtf"
    )
    assert joined(pieces) == "four\n\none five\n\nthree\n\ntwo\n\n"


@pytest.mark.parametrize(("parts", "what"), [
    ({"content.xml": "<a/>", "META-INF/manifest.xml": "<a/>"}, "OpenDocument"),
    ({"mimetype": "", "content.xml": "<a/>"}, "OpenDocument"), ({"word/document.xml": "<w:document"}, "damaged"),
])  # fmt: skip
def test_a_document_without_its_kind_is_no_archive(workers: Workers, parts: dict[str, bytes | str], what: str):
    with pytest.raises(Unreadable, match=what):
        read(workers, samples.zipped(parts), "a.bin")


def test_a_locked_file_says_that_it_needs_a_password(workers: Workers):
    for data in (samples.encrypted_pdf(), samples.encrypted_office()):
        with pytest.raises(Encrypted, match="password"):
            read(workers, data, "a.bin")


HEAD = "From: a@b.c\nSubject: Tea\nMIME-Version: 1.0\n"
PARTS = HEAD + 'Content-Type: multipart/mixed; boundary="b"\n\n--b\n\nHello\n--b\n{}\n--b--\n'
SEALED = "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n"
ELSEWHERE = 'Content-Type: message/external-body; access-type=URL; url="https://a.example/f"\n\nContent-Type: a/b\n'
NAME = "Content-Type: text/plain\nContent-Disposition: attachment; filename*0*=UTF-8''na%C3%AF; filename*1*=ve%20f.txt"
INNER = "\nSubject: {}\nFrom: x@y.z\n\n{}\n"
DIGEST = 'Content-Type: multipart/digest; boundary="{0}"\n\n--{0}\n{1}\n--{0}--\n'


@pytest.mark.parametrize(("mail", "texts", "notes"), [
    (HEAD + "Content-Type: application/pkcs7-mime; name=smime.p7m\n\nx\n", (), ("smime.p7m (sealed by S/MIME)",)),
    (HEAD + "\nSecret:\n" + SEALED + "Bye\n", ("Secret:", "Bye"), ("encrypted by PGP was not read",)),
    (PARTS.format("Content-Type: application/x; name=a.asc\n\n" + SEALED), ("Hello",), ("encrypted by PGP)",)),
    (PARTS.format(ELSEWHERE), ("Hello",), ("kept elsewhere (https://a.example/f)",)),
    (HEAD + "Content-Type: message/partial; number=1; total=3\n\nHalf of it\n", ("Half",), ("one part of 3",)),
    (HEAD + "\nHello\nbegin 644 a.txt\n#0V%T\n`\nend\nBye\n", ("Hello", "Bye", "# a.txt\n\nCat"), ()),
    (PARTS.format(NAME + "\n\nattached words"), ("# naïve f.txt", "attached words"), ()),
    (PARTS.format("Content-Type: application/rtf; name=a\n\n{\\rtf1 rich words}"), ("rich words",), ()),
    (HEAD + DIGEST.format("c", INNER.format("One", "first words")), ("# One", "first words"), ()),
    (HEAD + DIGEST.format("c", HEAD + DIGEST.format("d", INNER.format("Deep", "deep words"))), ("# Deep",), ()),
])  # fmt: skip
def test_parts_of_a_mail_are_read_or_named(workers: Workers, mail: str, texts: tuple[str, ...], notes: tuple[str, ...]):
    document, pieces = read(workers, mail.encode(), "a.eml")
    text = joined(pieces)
    assert not [one for one in texts if one not in text]
    assert len(document.notes) == len(notes)
    assert all(one in note for one, note in zip(notes, document.notes, strict=True))
    assert "PGP MESSAGE" not in text and "0V%T" not in text


@pytest.mark.parametrize(("start", "what"), [
    (b"RIFF\x24\0\0\0WAVE", "recording"), (b"\0\0\0\x18ftypheic", "HEIC"), (bytes(60) + b"BOOKMOBI", "Kindle"),
    (b"bplist00", "list of properties"), (b"PAR1", "Parquet"), (b"\xffWPC", "WordPerfect"), (b"!BDN", "Outlook"),
    (b"\x78\x9f\x3e\x22", "TNEF"), (b"\xdb\xa5\x2d\0", "Word before 1997"), (b"AT&TFORM", "DjVu"),
])  # fmt: skip
def test_a_file_that_is_not_read_is_named(workers: Workers, start: bytes, what: str):
    with pytest.raises(Unreadable, match=what):
        read(workers, start + bytes(90), "a.txt")


@pytest.mark.parametrize("text", ["RIFF is a container.", "OggS, ID3, Rar! and PAR1", "A PDF begins with %PDF-1.7.\n"])
def test_a_text_about_a_format_is_a_text(workers: Workers, text: str):
    assert joined(read(workers, text.encode(), "a.md")[1]) == text


@pytest.mark.parametrize(("text", "encoding"), [
    ("Привет, это текст.\n", "utf-16-be"), ("Всё хорошо, спасибо\n", "utf-16-le"),
    ("Der Käse schmeckt großartig, übrigens auch süß.\r" * 4, "mac_roman"),
])  # fmt: skip
def test_texts_of_encodings_that_nothing_states(workers: Workers, text: str, encoding: str):
    assert joined(read(workers, text.encode(encoding), "a.txt")[1]) == text


def test_texts_of_mainframes_are_refused(workers: Workers):
    with pytest.raises(Unreadable, match="no encoding that is known"):
        read(workers, "HELLO WORLD THIS IS TEXT ".encode("cp037") * 9, "a.txt")


def test_an_archive_behind_a_pdf_is_named(workers: Workers):
    document, pieces = read(workers, samples.pdf("Seen") + samples.zipped({"a.txt": "hidden"}), "a.pdf")
    assert (joined(pieces), document.notes) == (
        "Seen\n\n", ["The file is a ZIP archive too, whose members were not read."]
    )  # fmt: skip


def test_a_field_of_the_user_shows_its_value(workers: Workers):
    declared = (
        '<text:user-field-decls><text:user-field-decl text:name="a" office:string-value="new"/></text:user-field-decls>'
    )
    shown = '<text:p>It is <text:user-field-get text:name="a">old</text:user-field-get> <text:user-field-get>here'
    document = samples.flat_odf("text", f"{declared}{shown}</text:user-field-get></text:p>")
    assert joined(read(workers, document, "a.fodt")[1]) == "It is new here\n\n"
