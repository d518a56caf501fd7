"""Office before 2007, messages of Outlook, calendars and contacts."""

import base64
import io
import struct

import pytest

from muisti.core.model.unreadable import Broken, Encrypted, FileTooLarge
from muisti.core.parsing.archives import members
from muisti.core.parsing.parsed import ArchiveOptions, Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from tests.core.parsing import old_office, samples
from tests.core.parsing.test_formats import joined, read


def test_a_workbook_shows_its_cells(workers: Workers):
    shared = ["Größe und Gewicht", "茶 with a long tail"]
    document, pieces = read(workers, old_office.xls([["name", 1.5], ["tea", 2]], [["x"]], shared=shared), "a.xls")
    assert joined(pieces) == (
        "# S0\n\n| name | 1.50 |\n| --- | --- |\n| tea | 2.00 |\n\n| Größe und Gewicht |\n| --- |\n"
        "| 茶 with a long tail |\n\n# S1\n\n| x |\n| --- |\n\n| Größe und Gewicht |\n| --- |\n"
        "| 茶 with a long tail |\n\n"
    )
    assert (document.pages, document.media_type) == (2, "application/vnd.ms-excel")
    data = old_office.xls([["name", 1.5]], shared=["x" * 30])
    cut = data.replace(b"\x03\x02\x0e\0", b"\x03\x02\xff\xff")  # a length beyond the end
    assert read(workers, cut, "a.xls")[0].notes == ["The sheet S0 is damaged; what is behind the damage was not read."]
    far = data.replace(b"x\0" * 5, b"x\0" * 4 + b"\xfc\0").replace(b"\x1e\0\x01", b"\xff\xff\x01")  # a text beyond it
    assert "name" in joined(read(workers, far, "a.xls")[1])
    with pytest.raises(FileTooLarge):
        read(workers, old_office.xls([["a"] * 20] * 20), "a.xls", Options(max_cells=100))


def test_a_document_shows_its_parts(workers: Workers):
    body = "Tea \x13HYPERLINK x\x14with cake\x15 for two\r\x13 TOC \x13 PAGE \x15\x14List\rends\x15\rEnd\r"
    _, pieces = read(workers, old_office.doc(body, "\x02 At the foot\r", "", "", "Why?\r"), "a.doc")
    assert joined(pieces) == ("Tea with cake for two\n\nList\n\nends\n\nEnd\n\nAt the foot\n\nComment: Why?\n\n")
    data = bytearray(old_office.doc("Tea\r" * 900))
    (table,) = struct.unpack_from("<I", data, 76)
    struct.pack_into("<i", data, (table + 1) * 512 + 4 * 8, -2)  # the text ends with the ninth sector
    document, pieces = read(workers, bytes(data), "a.doc")
    assert "Tea" in joined(pieces) and len(document.notes) == 1 and "cut off or damaged" in document.notes[0]
    for damaged, error in (({"magic": 1}, Broken), ({"flags": 0x100}, Encrypted)):
        with pytest.raises(error):
            read(workers, old_office.doc("x", **damaged), "a.doc")


def test_slides_are_in_their_order(workers: Workers):
    document, pieces = read(workers, old_office.ppt(("Tea", "Ann likes it"), ("Cake", "Ben\rdoes")), "a.ppt")
    assert joined(pieces) == "# Tea\n\nAnn likes it\n\n# Cake\n\nBen\ndoes\n\n"
    assert [piece.page for piece in pieces] == [1, 1, 2, 2]
    assert document.pages == 2


def test_a_message_of_outlook_is_an_e_mail(workers: Workers):
    files = {"a.pdf": samples.pdf("In a PDF"), "b.doc": old_office.doc("In Word\r"), "c.bin": b"\0\1\2"}
    document, pieces = read(workers, old_office.msg("Tea", "Dear Ben", files, inner="Forwarded"), "a.msg")
    text = joined(pieces)
    assert text.startswith("# Tea\n\nFrom: Lee, Ann\nDate: Sat, 04 May 2024 08:30:00 +0000\n\nDear Ben\n\n")
    assert [one for one in ("In a PDF", "# b.doc\n\nIn Word", "# Forwarded") if one not in text] == []
    assert (document.title, document.notes) == ("Tea", ["The text of attachments was not read: c.bin."])


def test_packed_formats_are_the_body_where_there_is_no_other(workers: Workers):
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a0072637067313235423" + "20af32068656c090020627705b06c647d0a800fa0"
    )
    document = old_office.msg("Tea", "", None, "", **{"__substg1.0_10090102": packed})
    assert "hello world" in joined(read(workers, document, "a.msg")[1])


def test_old_office_in_an_archive_and_an_e_mail_is_read(workers: Workers):
    mail = b"MIME-Version: 1.0\nContent-Type: application/msword; name=a.doc\nContent-Transfer-Encoding: base64\n\n"
    mail += base64.encodebytes(old_office.doc("In Word\r"))
    assert "In Word" in joined(read(workers, mail, "a.eml")[1])
    archive = samples.zipped({"a.doc": old_office.doc("In Word\r")})
    for member in members(io.BytesIO(archive), "a.zip", ArchiveOptions()):
        assert member.content is not None
        with parse(member.content, member.path, Options(), workers) as document:
            assert "".join(piece.text for piece in document) == "In Word\n\n"


def test_contacts_and_calendars_are_read(workers: Workers):
    card = (
        "BEGIN:VCARD\r\nVERSION:2.1\r\nFN:Ann Lee\r\nitem1.EMAIL;TYPE=home:ann@example.org\r\n"
        "NOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Caf=C3=A9 =\r\nand tea\r\nPHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ\r\n"
        "ADR;TYPE=work:;;1 Main St;Turku;;;\r\nX-AIM:ann\r\nEND:VCARD\r\n"
    )
    document, pieces = read(workers, card.encode(), "a.vcf")
    assert joined(pieces) == (
        "# Ann Lee\n\nE-mail: ann@example.org (home)\nCafé and tea\nAddress: 1 Main St, Turku\n\n"
    )
    assert [note.partition(":")[0] for note in document.notes] == [
        "Pictures, sounds and keys in the file were left out", "Properties of programs were left out",
    ]  # fmt: skip
    event = "BEGIN:VEVENT\nSUMMARY:Tea\nDTSTART:20240503T093000Z\nEND:VEVENT\n"
    event = f"BEGIN:VCALENDAR\nX-WR-CALNAME:Home\n{event}END:VCALENDAR\n"
    document, pieces = read(workers, event.encode(), "a.ics")
    assert (document.title, joined(pieces)) == ("Home", "# Tea\n\nStarts: 2024-05-03 09:30 UTC\n\n")


def test_a_heading_can_be_stored_as_its_text_can(workers: Workers):
    _, pieces = read(workers, old_office.msg("Tea", "Dear Ben", inner="For\0warded"), "a.msg")
    assert ("Forwarded",) in [piece.headings for piece in pieces]
    assert "\0" not in "".join(heading for piece in pieces for heading in piece.headings)
