"""Texts that are read or named in the notes, and refusals in words, over the formats."""

import json
import re

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
    rb"{\pict\pngblip 89504e47}{\bin4 }}}}}{\*\unknown nothing}\par{\shp{\*\shpinst{\shptxt In a box\par}}}}"
)
SHOWN = (
    "# First part\n\nH₂O, 10⁻⁹, xst\n\nαβ €😁\n\n1. one\n\n- two\n\n| a | b |\n| --- | --- |\n| c | d |\n\nendlink\n\n"
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
    "Text in elements <noscript> was left out: 3 words.", "Text in elements <template> was left out: 1 words.",
    "Text in elements <select> was left out: 2 words.", "Pages in frames were not read: https://a.example/b.",
]  # fmt: skip


def test_rich_text(workers: Workers):
    document, pieces = read(workers, RTF, "a.doc")
    assert (joined(pieces), document.title, document.media_type) == (SHOWN, "Plan", "application/rtf")
    assert document.notes == ["Deleted text of tracked changes was left out: 2 words."]
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
    ("WordDocument", "DOCX, ODT or PDF"), ("Workbook", "XLSX, ODS or CSV"), ("PowerPoint Document", "PPTX, ODP or PDF"),
    ("__properties_version1.0", "EML"), ("VisioDocument", "PDF"),
])  # fmt: skip
def test_a_refusal_says_what_to_send_instead(workers: Workers, inside: str, instead: str):
    with pytest.raises(Unreadable, match=re.escape(f"Save it as {instead}, and send that.")):
        read(workers, samples.container(inside), "a.bin")


def test_a_directory_in_many_sectors_is_followed(workers: Workers):
    data = bytearray(samples.container("Else"))
    data[76:80] = (1).to_bytes(4, "little")  # the table of sectors is the second one
    table = bytearray(b"\xff" * 512)
    table[0:4] = (2).to_bytes(4, "little")  # the directory goes on in the third one
    more = "WordDocument".encode("utf-16-le").ljust(512, b"\0")
    with pytest.raises(Unreadable, match="Word before 2007"):
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


def test_a_locked_file_says_that_it_needs_a_password(workers: Workers):
    for data in (samples.encrypted_pdf(), samples.encrypted_office()):
        with pytest.raises(Encrypted, match="password"):
            read(workers, data, "a.bin")
