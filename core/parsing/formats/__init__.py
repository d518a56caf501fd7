"""Readers of formats that a worker process reads. `READERS` has one for each format.

A reader takes the content, the options and the facts to complete, and yields pieces. Each module loads with the first
file that needs it, so that a worker for e-mails never loads pdfium.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from muisti.core.parsing.detect import Format
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.pieces import Piece
from muisti.core.support.lazy import Lazy

if TYPE_CHECKING:
    from muisti.core.parsing.formats import (
        calendar,
        doc,
        docx,
        html,
        image,
        mail,
        msg,
        notebook,
        ods,
        one_file,
        opendocument,
        pdf,
        ppt,
        pptx,
        rtf,
        xls,
        xlsx,
    )
else:  # each brings a package or a table of its own, which a worker for other formats does without
    calendar = Lazy("muisti.core.parsing.formats.calendar")
    doc = Lazy("muisti.core.parsing.formats.doc")
    docx = Lazy("muisti.core.parsing.formats.docx")
    html = Lazy("muisti.core.parsing.formats.html")
    image = Lazy("muisti.core.parsing.formats.image")
    mail = Lazy("muisti.core.parsing.formats.mail")
    msg = Lazy("muisti.core.parsing.formats.msg")
    notebook = Lazy("muisti.core.parsing.formats.notebook")
    ods = Lazy("muisti.core.parsing.formats.ods")
    one_file = Lazy("muisti.core.parsing.formats.one_file")
    opendocument = Lazy("muisti.core.parsing.formats.opendocument")
    pdf = Lazy("muisti.core.parsing.formats.pdf")
    ppt = Lazy("muisti.core.parsing.formats.ppt")
    pptx = Lazy("muisti.core.parsing.formats.pptx")
    rtf = Lazy("muisti.core.parsing.formats.rtf")
    xls = Lazy("muisti.core.parsing.formats.xls")
    xlsx = Lazy("muisti.core.parsing.formats.xlsx")

Reader = Callable[[bytes | bytearray, Options, About], Iterator[Piece]]
READERS: Mapping[Format, Callable[[], Reader]] = {
    Format.CALENDAR: lambda: calendar.read,
    Format.CONTACTS: lambda: calendar.read,
    Format.DOC: lambda: doc.read,
    Format.DOCX: lambda: docx.read,
    Format.EMAIL: lambda: mail.read,
    Format.EPUB: lambda: html.read_book,
    Format.HTML: lambda: html.read,
    Format.JPEG: lambda: image.read,
    Format.MAILBOX: lambda: mail.read_mailbox,
    Format.MSG: lambda: msg.read,
    Format.NOTEBOOK: lambda: notebook.read,
    Format.ODP: lambda: opendocument.read_slides,
    Format.ODS: lambda: ods.read,
    Format.ODT: lambda: opendocument.read,
    Format.PDF: lambda: pdf.read,
    Format.PNG: lambda: image.read,
    Format.PPT: lambda: ppt.read,
    Format.PPTX: lambda: pptx.read,
    Format.RTF: lambda: rtf.read,
    Format.TIFF: lambda: image.read,
    Format.XLS: lambda: xls.read,
    Format.XLSX: lambda: xlsx.read,
    Format.XML: lambda: one_file.read,
}
