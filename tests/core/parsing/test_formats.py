"""Each format that a worker reads: its text, headings, pages, tables, and what is known about it."""

import io
import json
import zipfile
import zlib
from datetime import date, datetime

import pytest
from openpyxl import Workbook

from muisti.core.model.unreadable import Broken, Empty, Encrypted, FileTooLarge, NoText, UnknownFormat, Unsafe
from muisti.core.parsing.formats.numbers import form_of
from muisti.core.parsing.parsed import Options, Parsed
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples


def read(workers: Workers, data: bytes, name: str, options: Options | None = None) -> tuple[Parsed, list[Piece]]:
    with parse(data, name, options or Options(), workers) as document:
        return document, [*document]


def joined(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_pages_of_a_pdf(workers: Workers):
    text = "# First steps\nOpen the box and take out the de-\nvice with care."
    document, pieces = read(workers, samples.pdf(text, "Second page.\n" * 8), "a.pdf")
    assert (document.pages, document.media_type) == (2, "application/pdf")
    assert pieces[0] == Piece(text="# First steps\n\n", kind="heading", page=1, headings=("First steps",))
    assert pieces[1].text == "Open the box and take out the device with care.\n\n"
    assert {piece.page for piece in pieces} == {1, 2}
    assert pieces[-1].headings == ("First steps",)


def test_what_people_wrote_on_a_pdf(workers: Workers):
    document, pieces = read(workers, samples.pdf_of_a_form(), "form.pdf")
    assert joined(pieces) == "A form\n\nName: Zebra\nMeal: Vegan\nSize: Large\nAnn: Change the clause\n\n"
    assert document.notes == ["Files attached to the PDF were not read: scan.txt."]


def test_letters_without_codes_are_no_text(workers: Workers):
    document, pieces = read(workers, samples.pdf_without_codes("Lost letters", "Kept letters"), "a.pdf")
    assert joined(pieces) == "Kept letters\n\n"
    assert document.notes == ["Pages whose letters have no known codes: 1."]
    with pytest.raises(NoText, match="no known codes"):
        read(workers, samples.pdf_without_codes("Lost letters"), "a.pdf")


def test_the_outline_of_a_pdf_gives_its_headings(workers: Workers):
    data = samples.pdf("1. Alpha\nText one.", "Text two.\nBeta\nText three.", outline=[("Alpha", 1), ("Beta", 2)])
    _, pieces = read(workers, data, "a.pdf")
    assert [(piece.kind, piece.headings[-1], piece.page) for piece in pieces] == [
        ("heading", "1. Alpha", 1), ("text", "1. Alpha", 1), ("text", "1. Alpha", 2), ("heading", "Beta", 2),
        ("text", "Beta", 2),
    ]  # fmt: skip


def test_a_scanned_page_among_others_is_noted(workers: Workers):
    document, _ = read(workers, samples.pdf("Text.", "", "More."), "a.pdf")
    assert document.notes == ["Pages without text, which may be scans: 2."]


def test_a_word_document(workers: Workers):
    inner = (
        samples.paragraph("Report", '<w:pStyle w:val="H1"/>')
        + samples.paragraph("Results & more", '<w:pStyle w:val="H2"/>')
        + samples.paragraph("Text.")
        + samples.word_table([["a", "b"], ["1", "x|y"]])
    )
    data = samples.docx(samples.word_document(inner), samples.styles({"H1": "heading 1", "H2": "heading 2"}))
    _, pieces = read(workers, data, "a.docx")
    assert joined(pieces) == "# Report\n\n## Results & more\n\nText.\n\n| a | b |\n| --- | --- |\n| 1 | x\\|y |\n\n"
    assert pieces[2].headings == ("Report", "Results & more")
    assert [piece.kind for piece in pieces] == ["heading", "heading", "text", "table"]


def test_a_word_document_may_be_of_the_strict_kind_and_have_deleted_text_and_drop_caps(workers: Workers):
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    usual = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    deleted = "<w:p><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>"
    cap = samples.paragraph("D", '<w:framePr w:dropCap="drop"/>') + samples.paragraph("rop cap.")
    for document, text in (
        (samples.word_document(samples.paragraph("Strict.")).replace(usual, strict), "Strict.\n\n"),
        (samples.word_document(deleted), "new\n\n"),
        (samples.word_document(cap + samples.paragraph("Next.")), "Drop cap.\n\nNext.\n\n"),
    ):
        assert joined(read(workers, samples.docx(document), "a.docx")[1]) == text


DRAWN = "http://schemas.openxmlformats.org/drawingml/2006/"
DIAGRAM = f'<d:m xmlns:d="{DRAWN}diagram" xmlns:a="{DRAWN}main"><a:p><a:r><a:t>Step one</a:t></a:r></a:p></d:m>'


def test_pictures_diagrams_margins_and_deletions_of_a_word_document(workers: Workers):
    namespaces = f'xmlns:p="{DRAWN}wordprocessingDrawing" xmlns:dgm="{DRAWN}diagram" xmlns:r="{samples.OFFICE}"'
    picture = '<p:inline><p:docPr id="1" name="P" descr="A  red cat"/></p:inline>'
    inner = (
        f"<w:p><w:r><w:t>See</w:t></w:r><w:r><w:drawing {namespaces}>{picture}"
        '<dgm:relIds r:dm="rId1"/></w:drawing></w:r><w:del><w:r><w:delText>two words</w:delText></w:r></w:del></w:p>'
    )
    margin = samples.word_document(samples.paragraph("Confidential")).replace("document", "hdr")
    parts = {
        "word/_rels/document.xml.rels": samples.relations(
            {"rId1": ("diagramData", "d.xml"), "rId2": ("header", "h.xml"), "rId3": ("header", "h2.xml")}
        ),
        "word/d.xml": DIAGRAM, "word/h.xml": margin, "word/h2.xml": margin, "word/embeddings/a.xlsx": "x",
    }  # fmt: skip
    document, pieces = read(workers, samples.docx(samples.word_document(inner), parts), "a.docx")
    assert joined(pieces) == "See ![A red cat]\n\nStep one\n\nHeader: Confidential\n\n"
    assert document.notes == [
        "Deleted text of tracked changes was left out: 2 words.",
        "Files embedded in the document were not read: a.xlsx.",
    ]


def test_an_empty_document_with_a_small_picture_of_its_page_is_empty(workers: Workers):
    with pytest.raises(Empty):
        read(workers, samples.docx(samples.word_document(""), {"docProps/thumbnail.jpeg": "x"}), "a.docx")


def test_a_formula_that_was_not_calculated_is_shown(workers: Workers):
    rows = [b'<row r="1"><c r="A1"><f>SUM(B1:B9)</f></c><c r="B1"><f>1+1</f><v>2</v></c></row>']
    assert "| =SUM(B1:B9) | 2 |" in joined(read(workers, samples.xlsx_of_rows(rows), "a.xlsx")[1])


def test_slides(workers: Workers):
    document, pieces = read(workers, samples.pptx("Plan\nWe begin.", "End\nThanks."), "a.pptx")
    assert document.pages == 2
    assert joined(pieces) == "# Plan\n\nWe begin.\n\n# End\n\nThanks.\n\n"
    assert [(piece.page, piece.headings) for piece in pieces] == [(1, ("Plan",))] * 2 + [(2, ("End",))] * 2


def test_a_hidden_slide_footers_and_a_described_picture(workers: Workers):
    footer = '<p:sp><p:nvSpPr><p:nvPr><p:ph type="ftr"/></p:nvPr></p:nvSpPr><a:p><a:t>Draft</a:t></a:p></p:sp>'
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="9" name="P" descr="A cat"/></p:nvPicPr></p:pic>'
    with zipfile.ZipFile(io.BytesIO(samples.pptx("One", "Two"))) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    for name in [name for name in parts if "slides/slide" in name]:
        parts[name] = parts[name].replace("</p:spTree>", f"{footer}{picture}</p:spTree>")
    parts["ppt/slides/slide2.xml"] = parts["ppt/slides/slide2.xml"].replace("<p:sld ", '<p:sld show="0" ')
    document, pieces = read(workers, samples.zipped(parts), "a.pptx")
    assert joined(pieces) == "# One\n\nFooter: Draft\n\n![A cat]\n\n# Two\n\n![A cat]\n\n"
    assert document.notes == ["Slides that are hidden were read: 2."]


def test_a_sheet(workers: Workers):
    _, pieces = read(workers, samples.xlsx([["name", "n"], ["Ada", 1.5], [None, 3]]), "a.xlsx")
    assert joined(pieces) == "# Sheet\n\n| name | n |\n| --- | --- |\n| Ada | 1.5 |\n|  | 3 |\n\n"


def test_a_workbook_of_another_writer(workers: Workers):
    """Shared strings, dates, formulas without values, several sheets, and an empty one."""
    book, out = Workbook(), io.BytesIO()
    first = book.active
    assert first is not None
    first.title = "Facts"
    first.append(["day", "rate", "yes"])
    first.append([date(2026, 2, 28), 0.25, True])
    first["D2"], first["D2"].number_format = 1.2604166666667, "[h]:mm:ss"
    book.create_sheet("Empty")
    far = book.create_sheet("Far")
    far["C5"], far.sheet_state = "far", "hidden"
    book.save(out)
    document, pieces = read(workers, out.getvalue(), "a.xlsx")
    assert document.pages == 3
    assert "| 2026-02-28 | 0.25 | TRUE | 30:15:00 |" in joined(pieces)
    assert document.notes == ["Sheets that are hidden were read: Far."]
    assert [piece.page for piece in pieces] == [1, 1, 3, 3]
    assert pieces[-1].text.startswith("|  |  | far |")


@pytest.mark.parametrize(("value", "code", "shown"), [
    (0.125, "0.0%", "12.5%"), (0.25, "0%", "25%"), (1234.5, "$#,##0.00", "$1,234.50"), (0.5, '0.00" kg"', "0.50 kg"),
    (-1234.5, "#,##0.00 [$€-407]", "-1,234.50 €"), (-5, '"£"#,##0;[Red]("£"#,##0)', "(£5)"), (1.75, "# ?/?", "1 3/4"),
    (1_500_000, '#,##0.0,,"M"', "1.5M"), (12345678, "0.00E+00", "1.23E+07"), (7, "000", "007"),
    (0, "0;-0;none", "none"), (5, 'General" kg"', "5 kg"),
    (3.14159, "0.00", "3.14"), (0.005, "0.00", "0.01"), (1e300, "0.00", "1e+300"), (5, ";;;", "5"), (2, "General", "2"),
    (1.0625, "[mm]:ss", "1530:00"), (0.5, "[s]", "43200"), (42, "[>100]0.0;0", "42"),
    (46081, "dd/mm/yyyy", "2026-02-28"),
    (46081.5, "m/d/yy h:mm", "2026-02-28 12:00:00"), (0.1, '"Rate" 0.0#', "Rate 0.1"), (1234567, "000-0000", "1234567"),
])  # fmt: skip
def test_numbers_are_as_a_workbook_shows_them(value: float, code: str, shown: str):
    assert form_of(200, code).shown(float(value), datetime.fromisoformat("1899-12-30")) == shown


def test_a_workbook_with_too_many_cells(workers: Workers):
    with pytest.raises(FileTooLarge):
        read(workers, samples.xlsx([["a", "b"]] * 10), "a.xlsx", Options(max_cells=19))


def test_a_book(workers: Workers):
    document, pieces = read(workers, samples.epub("<h1>Two</h1><p>Last.</p>", "<h1>One</h1><p>First.</p>"), "a.epub")
    assert (document.title, document.language) == ("A book", "en")
    assert joined(pieces) == "# One\n\nFirst.\n\n# Two\n\nLast.\n\n"


def test_a_page(workers: Workers):
    page = """<html lang="fi"><head><title>The  page</title><style>x</style></head><body><script>y</script>
    <h2>Part</h2><p>One <b>bold</b>
    word.</p><ol><li>a<li>b</ol><pre>x
  y</pre><table><tr><th>k<th>v<tr><td rowspan=2>1<td>2<tr><td>3</table></body></html>"""
    document, pieces = read(workers, page.encode(), "a.html")
    assert (document.title, document.language) == ("The page", "fi")
    assert joined(pieces) == (
        "## Part\n\nOne bold word.\n\n1. a\n\n2. b\n\n```\nx\n  y\n```\n\n"
        "| k | v |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |\n\n"
    )


def test_a_page_declares_its_encoding(workers: Workers):
    page = '<html><head><meta charset="windows-1251"></head><body>Привет</body></html>'.encode("cp1251")
    assert joined(read(workers, page, "a.html")[1]) == "Привет\n\n"


def test_the_main_content_of_a_page(workers: Workers):
    prose = " ".join(f"Sentence {n} of the article tells what happened on the day." for n in range(40))
    menu = "<nav><a href=/>Home</a> <a href=/a>About</a></nav>"
    page = f"<html><body>{menu}<article><h1>News</h1><p>{prose}</p></article></body></html>"
    _, pieces = read(workers, page.encode(), "a.html", Options(main_content=True))
    assert "Sentence 39" in joined(pieces) and "About" not in joined(pieces)


def test_a_page_without_main_content_is_read_whole(workers: Workers):
    deep = "<div>" * 1_000 + "hello" + "</div>" * 1_000
    document, pieces = read(workers, f"<html><body>{deep}</body></html>".encode(), "a.html", Options(main_content=True))
    assert joined(pieces) == "hello\n\n"
    assert document.notes == ["No main content was found, so the whole page was read."]


def test_a_notebook(workers: Workers):
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "Text."]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]},
    ]
    notebook = {"cells": cells, "nbformat": 4, "metadata": {"language_info": {"name": "python"}}}
    document, pieces = read(workers, json.dumps(notebook).encode(), "a.ipynb")
    assert (document.title, document.language) == ("Study", "python")
    assert joined(pieces) == "# Study\nText.\n\n```python\n1 + 1\n```\n\n```\n2\n```\n\n"
    assert {piece.headings for piece in pieces} == {("Study",)}


def test_outputs_of_a_notebook_and_one_of_an_old_version(workers: Workers):
    outputs = [
        {"output_type": "error", "ename": "NameError", "evalue": "x", "traceback": ["\x1b[31mline 1\x1b[0m"]},
        {"data": {"text/html": "<b>bold</b>"}}, {"data": {"application/x.y+json": {"a": "é"}}},
        {"output_type": "stream", "text": "long " * 1_000},
    ]  # fmt: skip
    title = {"cell_type": "heading", "level": 2, "source": "Old"}
    cells = [
        title,
        {"cell_type": "code", "input": "1", "outputs": outputs},
    ]
    old = {"worksheets": [{"cells": cells}], "nbformat": 3, "metadata": {}}
    document, pieces = read(workers, json.dumps(old).encode(), "a.ipynb")
    text = joined(pieces)
    assert text.startswith("## Old\n\n```\n1\n```\n\n```\nNameError: x\nline 1\n```\n\n```\nbold\n```")
    assert '{"a": "é"}' in text
    assert document.notes == ["Of long outputs the first 4,000 characters were read."]


@pytest.mark.parametrize(("inside", "what"), [
    ("PP40", "PowerPoint before 1997"), ("VisioDocument", "Visio"), ("Else", "before 2007, or an encrypted one"),
])  # fmt: skip
def test_what_is_in_a_container_of_microsoft_is_said(workers: Workers, inside: str, what: str):
    with pytest.raises(UnknownFormat, match=what):
        read(workers, samples.container(inside), "a.bin")


@pytest.mark.parametrize(("data", "name", "error"), [
    (samples.pdf_of_an_image(), "a.pdf", NoText),
    (samples.pdf_of(zlib.compress(b" ")), "a.pdf", Empty),
    (samples.encrypted_pdf(), "a.pdf", Encrypted),
    (samples.encrypted_office(), "a.docx", Encrypted),
    (samples.docx(samples.word_document("")), "a.docx", Empty),
    (samples.docx(samples.word_document(""), {"word/media/a.png": "x"}), "a.docx", NoText),
    (samples.xlsx([]), "a.xlsx", Empty),
    (samples.docx("<w:document"), "a.docx", Broken),
    (b"\x89PNG\r\n\x1a\n" + bytes(99), "a.png", NoText),
    (b"<html><body><img src=a.png></body></html>", "a.html", Empty),
    (b"%PDF-1.7 and no more", "a.pdf", Broken),
    (samples.docx("<!DOCTYPE x>" + samples.word_document("")), "a.docx", Unsafe),
])  # fmt: skip
def test_a_file_without_text_says_why(workers: Workers, data: bytes, name: str, error: type[Exception]):
    with pytest.raises(error):
        read(workers, data, name)
