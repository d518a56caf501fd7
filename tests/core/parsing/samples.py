"""Small files of each format, made by hand: no writer of documents is needed, and each byte is known."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_KIND = "application/vnd.openxmlformats-officedocument."
XML = '<?xml version="1.0" encoding="UTF-8"?>'
HELLO = zlib.compress(b"BT /F1 12 Tf 72 700 Td (Hello) Tj ET")


def zipped(files: Mapping[str, bytes | str]) -> bytes:
    """Return a ZIP file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def package_parts(main: str, kind: str) -> dict[str, str]:
    """Return the parts that tell where the main part of an office file is, and of which kind."""
    return {
        "[Content_Types].xml": f'{XML}<Types xmlns="{_TYPES}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{_KIND}{kind}+xml"/></Types>',
        "_rels/.rels": relations({"rId1": ("officeDocument", main)}),
    }


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return a part of relations: by id, the kind and the target."""
    found = (
        f'<Relationship Id="{one}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for one, (kind, target) in targets.items()
    )
    return f'{XML}<Relationships xmlns="{_RELATIONS}">{"".join(found)}</Relationships>'


def word_document(inner: str) -> str:
    """Return the main part of a DOCX file, without an XML declaration."""
    return f'<w:document xmlns:w="{_WORD}"><w:body>{inner}</w:body></w:document>'


def paragraph(text: str, properties: str = "") -> str:
    """Return a paragraph of Word."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def word_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table of Word."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(document: str | bytes, parts: Mapping[str, str] | None = None) -> bytes:
    """Return a DOCX file with a main part and others."""
    main = "word/document.xml"
    return zipped({**package_parts(main, "wordprocessingml.document.main"), main: document, **(parts or {})})


def styles(named: Mapping[str, str]) -> dict[str, str]:
    """Return the parts that give styles of paragraphs their names, by id."""
    found = (f'<w:style w:styleId="{one}"><w:name w:val="{name}"/></w:style>' for one, name in named.items())
    return {
        "word/_rels/document.xml.rels": relations({"rId1": ("styles", "styles.xml")}),
        "word/styles.xml": f'{XML}<w:styles xmlns:w="{_WORD}">{"".join(found)}</w:styles>',
    }


def _shape(text: str, kind: str) -> str:
    return (
        f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{escape(text)}'
        "</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def pptx(*slides: str) -> bytes:
    """Return a PPTX file with a slide for each text: its first line is the title, the rest the body."""
    main = "ppt/presentation.xml"
    files = package_parts(main, "presentationml.presentation.main")
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(len(slides)))
    names = f'xmlns:p="{_SLIDES}" xmlns:a="{_DRAWING}" xmlns:r="{OFFICE}"'
    files[main] = f"{XML}<p:presentation {names}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    files["ppt/_rels/presentation.xml.rels"] = relations(
        {f"rId{n}": ("slide", f"slides/slide{n + 1}.xml") for n in range(len(slides))}
    )
    for number, text in enumerate(slides, 1):
        title, _, body = text.partition("\n")
        shapes = _shape(title, "title") + (_shape(body, "body") if body else "")
        files[f"ppt/slides/slide{number}.xml"] = (
            f"{XML}<p:sld {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    return zipped(files)


def _workbook(sheet: str = "Sheet") -> dict[str, str]:
    main = "xl/workbook.xml"
    files = package_parts(main, "spreadsheetml.sheet.main")
    files["[Content_Types].xml"] = files["[Content_Types].xml"].replace(
        "</Types>",
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}spreadsheetml.worksheet+xml"/></Types>',
    )
    files[main] = (
        f'{XML}<workbook xmlns="{_SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="{sheet}" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>"
    )
    files["xl/_rels/workbook.xml.rels"] = relations({"rId1": ("worksheet", "worksheets/sheet1.xml")})
    return files


def xlsx_of_rows(rows: Iterable[bytes]) -> bytes:
    """Return an XLSX file whose sheet has these rows, as XML."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _workbook().items():
            archive.writestr(name, content)
        with archive.open("xl/worksheets/sheet1.xml", "w") as file:
            file.write(f'{XML}<worksheet xmlns="{_SHEET}"><sheetData>'.encode())
            for row in rows:
                file.write(row)
            file.write(b"</sheetData></worksheet>")
    return out.getvalue()


def xlsx(rows: Sequence[Sequence[str | float | None]]) -> bytes:
    """Return an XLSX file with one sheet."""

    def cell(at: int, number: int, value: str | float | None) -> str:
        place = f"{chr(65 + at)}{number}"
        if value is None:
            return ""
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    return xlsx_of_rows(
        f'<row r="{number}">{"".join(cell(at, number, value) for at, value in enumerate(row))}</row>'.encode()
        for number, row in enumerate(rows, 1)
    )


def epub(*chapters: str) -> bytes:
    """Return an EPUB file with these chapters, each the inner HTML of a page."""
    container = "urn:oasis:names:tc:opendocument:xmlns:container"
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in reversed(range(len(chapters))))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": f'{XML}<container xmlns="{container}"><rootfiles>'
            '<rootfile full-path="content.opf"/></rootfiles></container>',
            "content.opf": f'{XML}<package xmlns="http://www.idpf.org/2007/opf"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title><dc:language>en</dc:language>'
            f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"c{n}.xhtml": f"<html><body>{chapter}</body></html>" for n, chapter in enumerate(chapters)},
        }
    )


_ODF = ("office", "text", "table", "style", "presentation", "meta")
_OPEN = "urn:oasis:names:tc:opendocument:xmlns:"
_ODF_NAMES = (
    "".join(f' xmlns:{name}="{_OPEN}{name}:1.0"' for name in _ODF)
    + f' xmlns:draw="{_OPEN}drawing:1.0" xmlns:svg="{_OPEN}svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
    + ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def odf(kind: str, body: str, styles: str = "", parts: Mapping[str, bytes | str] | None = None) -> bytes:
    """Return an OpenDocument file with this XML in its body, and in its automatic styles."""
    content = f"{XML}<office:document-content{_ODF_NAMES}>{_odf_body(kind, body, styles)}</office:document-content>"
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **(parts or {})})


def flat_odf(kind: str, body: str, styles: str = "") -> bytes:
    """Return an OpenDocument file that is one file of XML."""
    stated = f' office:mimetype="application/vnd.oasis.opendocument.{kind}"'
    return f"{XML}<office:document{_ODF_NAMES}{stated}>{_odf_body(kind, body, styles)}</office:document>".encode()


def odf_part(root: str, inner: str) -> str:
    """Return another part of an OpenDocument file."""
    return f"{XML}<office:{root}{_ODF_NAMES}>{inner}</office:{root}>"


def _odf_body(kind: str, body: str, styles: str) -> str:
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    return f"{automatic}<office:body><office:{kind}>{body}</office:{kind}></office:body>"


def _pdf(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """Return a PDF file of numbered objects, the first of which is the catalogue."""
    out, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, trailer, start)
    return bytes(out)


def _stream(content: bytes, entries: bytes) -> bytes:
    return b"<</Length %d%b>>stream\n%b\nendstream" % (len(content), entries, content)


_RESOURCES = b"/Resources<</Font<</F1 3 0 R>>/XObject<</I 4 0 R>>>>"
_PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R" + _RESOURCES + b">>"
_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
_IMAGE = _stream(zlib.compress(b"\x80" * 64), b"/Type/XObject/Subtype/Image/Width 8/Height 8/BitsPerComponent 8"
                 b"/ColorSpace/DeviceGray/Filter/FlateDecode")  # fmt: skip


def pdf_of(content: bytes, filters: bytes = b"/FlateDecode", pages: int = 1, trailer: bytes = b"") -> bytes:
    """Return a PDF file all of whose pages have one content, which is compressed as `filters` say."""
    kids = b" ".join(b"5 0 R" for _ in range(pages))
    tree = b"<</Type/Pages/Count %d/Kids[%b]>>" % (pages, kids)
    catalogue = b"<</Type/Catalog/Pages 2 0 R>>"
    return _pdf([catalogue, tree, _FONT, _IMAGE, _PAGE % 6, _stream(content, b"/Filter" + filters)], trailer)


def pdf(*pages: str, outline: Sequence[tuple[str, int]] = ()) -> bytes:
    """Return a PDF file with a page for each text. A line that begins with "# " is set in large letters.

    `outline` has titles and the numbers of their pages.
    """
    count = len(pages)
    first = 5 + 2 * count
    kids = b" ".join(b"%d 0 R" % (5 + 2 * at) for at in range(count))
    catalogue = b"<</Type/Catalog/Pages 2 0 R%b>>" % (b"/Outlines %d 0 R" % first if outline else b"")
    objects = [catalogue, b"<</Type/Pages/Count %d/Kids[%b]>>" % (count, kids), _FONT, _IMAGE]
    for at, text in enumerate(pages):
        objects += [_PAGE % (6 + 2 * at), _stream(zlib.compress(_shown(text)), b"/Filter/FlateDecode")]
    if outline:
        last = first + len(outline)
        objects.append(b"<</Type/Outlines/First %d 0 R/Last %d 0 R/Count %d>>" % (first + 1, last, len(outline)))
        for at, (title, page) in enumerate(outline):
            place = first + 1 + at
            links = (b"/Prev %d 0 R" % (place - 1) if at else b"") + (
                b"/Next %d 0 R" % (place + 1) if place < last else b""
            )
            target = 5 + 2 * (page - 1)
            objects.append(b"<</Title(%b)/Parent %d 0 R%b/Dest[%d 0 R/Fit]>>" % (title.encode(), first, links, target))
    return _pdf(objects)


def pdf_of_a_form() -> bytes:
    """Return a PDF file of one page with filled fields, empty ones and a comment; a file is attached to it."""
    field = b"<</Type/Annot/Subtype/Widget/FT/%b/T(%b)%b/Rect[72 700 300 720]/P 5 0 R>>"
    comment = b"<</Type/Annot/Subtype/Text/T(Ann)/Contents(Change the clause)/Rect[72 600 90 620]/P 5 0 R>>"
    looks = b"/AP<</N<</Vegan 10 0 R/Off 10 0 R>>>>"
    fields = [
        field % (b"Tx", b"Name", b"/V(Zebra)"), field % (b"Tx", b"Place", b""), comment, b"<<>>",
        field % (b"Btn", b"Meal", b"/V/Vegan/AS/Vegan" + looks), field % (b"Btn", b"Wine", b"/V/Off/AS/Off" + looks),
        field % (b"Ch", b"Size", b"/Ff 131072/V(l)/Opt[[(s)(Small)][(l)(Large)]]"),
        b"<</Type/Filespec/F(scan.txt)/EF<</F 15 0 R>>>>", _stream(b"x", b"/Type/EmbeddedFile"),
    ]  # fmt: skip
    names = b"7 0 R 8 0 R 11 0 R 12 0 R 13 0 R"
    attached = b"/Names<</EmbeddedFiles<</Names[(scan.txt)14 0 R]>>>>"
    return _pdf([
        b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[%b]>>%b>>" % (names, attached),
        b"<</Type/Pages/Count 1/Kids[5 0 R]>>", _FONT, _IMAGE,
        (_PAGE % 6).removesuffix(b">>") + b"/Annots[%b 9 0 R]>>" % names,
        _stream(zlib.compress(_shown("A form")), b"/Filter/FlateDecode"), *fields,
    ])  # fmt: skip


def pdf_without_codes(page: str, others: str = "") -> bytes:
    """Return a PDF file with a page whose font names private codes for its letters, and one that is readable."""
    mapped = "".join(f"<{code:02x}> <{0xE000 + code:04x}>\n" for code in range(32, 127))
    codes = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
        f"95 beginbfchar\n{mapped}endbfchar endcmap end"
    )
    first = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 6 0 R/Resources<</Font<</F1 7 0 R>>>>>>"
    second = _PAGE % 9
    return _pdf([
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[5 0 R%b]>>" % (1 + bool(others), b" 10 0 R" * bool(others)),
        _FONT, _IMAGE, first, _stream(zlib.compress(_shown(page)), b"/Filter/FlateDecode"),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 8 0 R>>", _stream(codes.encode(), b""),
        _stream(zlib.compress(_shown(others)), b"/Filter/FlateDecode"), second,
    ])  # fmt: skip


def _shown(text: str) -> bytes:
    out, height = ["BT"], 740
    for line in text.split("\n"):
        size = 24 if line.startswith("# ") else 11
        shown = line.removeprefix("# ").replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        out.append(f"/F1 {size} Tf 1 0 0 1 72 {height} Tm ({shown}) Tj")
        height -= 36 if size == 24 else 13
    return " ".join([*out, "ET"]).encode("latin-1")


def pdf_of_an_image() -> bytes:
    """Return a PDF file whose only page shows an image, as a scan does."""
    return pdf_of(zlib.compress(b"q 500 0 0 500 50 100 cm /I Do Q"))


def encrypted_pdf() -> bytes:
    """Return a PDF file that no password opens which anybody knows."""
    lock = b"/Encrypt<</Filter/Standard/V 1/R 2/O<%b>/U<%b>/P -4>>/ID[<00><00>]" % (b"ab" * 32, b"cd" * 32)
    return pdf_of(HELLO, trailer=lock)


def encrypted_office() -> bytes:
    """Return the container of an encrypted office file."""
    return container("EncryptedPackage")


def container(inside: str) -> bytes:
    """Return a container of Microsoft: its header and a directory, without content."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    struct.pack_into("<HHHHH", header, 24, 62, 3, 0xFFFE, 9, 6)
    struct.pack_into("<I", header, 48, 0)
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in ("Root Entry", inside))
    return bytes(header) + entries.ljust(512, b"\0")
