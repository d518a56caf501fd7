"""OpenDocument: texts, sheets and slides, zipped or as one file of XML."""

from collections.abc import Callable

import pytest

from muisti.core.model.unreadable import Encrypted, FileTooLarge
from muisti.core.parsing.parsed import Options
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples
from tests.core.parsing.test_formats import joined, read

NUMBERED = (
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="a" '
    'style:num-suffix=")"/><text:list-level-style-bullet text:level="2"/></text:list-style>'
)
TEXT = (
    "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone away</text:p></text:deletion>"
    "</text:changed-region></text:tracked-changes>"
    '<text:h text:outline-level="2">Plan<text:s text:c="2"/>A</text:h>'
    "<text:p>One\n  two<text:tab/>three<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    "<text:p>At the foot.</text:p></text:note-body></text:note> four<text:line-break/>five"
    "<office:annotation><dc:creator>Ann</dc:creator><text:p>Why?</text:p></office:annotation></text:p>"
    '<text:list text:style-name="L1"><text:list-item><text:p>x</text:p><text:list><text:list-item><text:p>y</text:p>'
    "</text:list-item></text:list></text:list-item><text:list-item><text:p>z</text:p></text:list-item></text:list>"
    "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
    "<table:table-cell><text:p>b</text:p><text:p>c</text:p></table:table-cell></table:table-row>"
    "</table:table-header-rows><table:table-row><table:table-cell><text:p>d</text:p></table:table-cell>"
    "</table:table-row></table:table>"
    "<text:p><draw:frame><draw:image/><svg:desc>A cat</svg:desc></draw:frame><draw:frame><draw:text-box>"
    "<text:p>In a box</text:p></draw:text-box></draw:frame></text:p>"
)
SHOWN = (
    "## Plan A\n\nOne two\tthree four\nfive\n\na) x\n\n  - y\n\nb) z\n\n| a | b c |\n| --- | --- |\n| d |  |\n\n"
    "![A cat] \nIn a box\n\n[^1]: At the foot.\n\nComment by Ann: Why?\n\n"
)


@pytest.mark.parametrize("made", [samples.odf, samples.flat_odf])
def test_a_text(workers: Workers, made: Callable[[str, str, str], bytes]):
    document, pieces = read(workers, made("text", TEXT, NUMBERED), "upload")
    assert joined(pieces).replace("Plan  A", "Plan A") == SHOWN
    assert document.media_type == "application/vnd.oasis.opendocument.text"
    assert document.notes == ["Deleted text of tracked changes was left out: 2 words."]


def test_margins_and_the_title_of_a_text(workers: Workers):
    page = "<style:master-page><style:header><text:p>Draft</text:p></style:header></style:master-page>"
    parts = {
        "styles.xml": samples.odf_part("document-styles", f"<office:master-styles>{page * 2}</office:master-styles>"),
        "meta.xml": samples.odf_part("document-meta", "<office:meta><dc:title>A plan</dc:title></office:meta>"),
    }
    document, pieces = read(workers, samples.odf("text", "<text:p>Words</text:p>", "", parts), "a.odt")
    assert (document.title, joined(pieces)) == ("A plan", "Words\n\nHeader: Draft\n\n")


COMMENT = "<office:annotation><text:p>Why?</text:p></office:annotation>"
HIDDEN = '<style:style style:name="h1"><style:{}-properties {}/></style:style>'


def _cell(text: str, more: str = "", after: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p>{after}</table:table-cell>"


def test_sheets_show_values_and_bound_what_is_repeated(workers: Workers):
    million = 'table:number-columns-repeated="1000000"'
    rows = (
        f"<table:table-row>{_cell('25:30')}{_cell('12 %', '', COMMENT)}"
        f"<table:table-cell {million}/></table:table-row>"
        f'<table:table-row table:number-rows-repeated="1048576"><table:table-cell {million}/></table:table-row>'
        f'<table:table-row><table:table-cell office:value="7"/>{_cell("x", million)}</table:table-row>'
    )
    hidden = HIDDEN.format("table", 'table:display="false"')
    sheets = f'<table:table table:name="S">{rows}</table:table>' + (
        f'<table:table table:name="H" table:style-name="h1"><table:table-row>{_cell("h")}</table:table-row>'
        "</table:table>"
    )
    document, pieces = read(workers, samples.odf("spreadsheet", sheets, hidden), "a.ods")
    text = joined(pieces)
    assert document.pages == 2
    assert text.startswith("# S\n\n| 25:30 | 12 % |\n| --- | --- |\n\n| 7 | x | x |")
    assert text.count("| x ") == 100 and "B1: Why?" in text and "| h |" in text
    assert document.notes == [
        "A cell that is repeated 1,000,000 times was read 100 times.", "Sheets that are hidden were read: H.",
    ]  # fmt: skip
    with pytest.raises(FileTooLarge):
        read(workers, samples.odf("spreadsheet", sheets), "a.ods", Options(max_cells=50))


def test_slides_with_a_chart_and_the_speakers_notes(workers: Workers):
    frame = '<draw:frame presentation:class="{}"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'
    chart = samples.odf_part(
        "document-content",
        "<office:body><office:chart><text:p>Sales</text:p><table:table><table:table-row>"
        f"{_cell('2026')}{_cell('5')}</table:table-row></table:table></office:chart></office:body>",
    )
    inner = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    slides = (
        f"<draw:page>{frame.format('title', 'Plan')}{frame.format('outline', 'We begin')}"
        f"<presentation:notes>{frame.format('notes', 'Smile')}</presentation:notes></draw:page>"
        f'<draw:page draw:style-name="h1">{inner}{inner}</draw:page>'
    )
    hidden = (
        '<style:style style:name="h1"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    data = samples.odf("presentation", slides, hidden, {"Object 1/content.xml": chart})
    document, pieces = read(workers, data, "a.odp")
    assert joined(pieces) == ("# Plan\n\nWe begin\n\nNotes: Smile\n\nSales\n\n| 2026 | 5 |\n| --- | --- |\n\n")
    assert document.notes == ["Slides that are hidden were read: 2."]
    assert [piece.page for piece in pieces] == [1, 1, 1, 2, 2]


def test_an_encrypted_document_is_refused(workers: Workers):
    parts = {"META-INF/manifest.xml": "<manifest:encryption-data/>"}
    with pytest.raises(Encrypted):
        read(workers, samples.odf("text", "x", "", parts), "a.odt")
