"""E-mail and mailboxes: each body, entry and attachment that can be read, and the names of the others."""

import base64
from email.message import EmailMessage

import pytest

from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples
from tests.core.parsing.test_formats import joined, read


def test_an_email(workers: Workers):
    html = base64.b64encode("<p>Grüße <b>aus</b> Turku</p>".encode()).decode()
    data = (
        "From: =?utf-8?q?P=C3=A4ivi?= <p@example.org>\nTo: a@example.org\nSubject: Trip\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html; charset=utf-8\n"
        f"Content-Transfer-Encoding: base64\n\n{html}\n--b\nContent-Type: application/pdf\n"
        'Content-Disposition: attachment; filename="map.pdf"\n\n%PDF-1.7 cut\n--b\nContent-Type: image/png\n'
        "Content-Disposition: attachment\n\nx\n--b--\n"
    )
    document, pieces = read(workers, data.encode(), "a.eml")
    attached = "map.pdf, one without a name (image/png)"
    assert document.title == "Trip"
    assert [note[:28] for note in document.notes] == ["Attachment map.pdf: The PDF ", "The text of attachments was "]
    assert document.notes[1].endswith("not read: one without a name (image/png).")
    assert joined(pieces) == (
        f"# Trip\n\nFrom: Päivi <p@example.org>\nTo: a@example.org\n\nGrüße aus Turku\n\nAttachments: {attached}\n\n"
    )


def test_a_mailbox(workers: Workers):
    message = "From a@example.org Thu Jan  1 00:00:00 2026\nFrom: a@example.org\nSubject: S{}\n\nText {}.\n\n"
    document, pieces = read(workers, (message.format(1, 1) + message.format(2, 2)).encode(), "a.mbox")
    assert document.pages == 2
    assert [piece.page for piece in pieces if piece.kind == "heading"] == [1, 2]
    assert "Text 2." in joined(pieces)


def test_a_line_of_a_body_that_begins_with_from_stays(workers: Workers):
    data = b"From a@b.c Mon Jan  1 00:00:00 2024\nSubject: two\n\nFrom here on it is body text\n>From the pier\n\n"
    document, pieces = read(workers, data, "a.mbox")
    assert document.pages == 1
    assert "From here on it is body text\nFrom the pier" in joined(pieces)


def test_text_behind_an_inline_picture_is_part_of_the_message(workers: Workers):
    part = "--b\r\nContent-Type: {}\r\n\r\n{}\r\n"
    parts = [("text/plain", "Before it"), ("image/png; name=i.png", "x"), ("text/plain", "After it"),
             ("text/plain; name=log.txt", "A file")]  # fmt: skip
    body = "".join(part.format(*one) for one in parts)
    head = "From: s@example.net\r\nMime-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    document, pieces = read(workers, (head + body + "--b--\r\n").encode(), "a.eml")
    assert joined(pieces) == (
        "From: s@example.net\n\nBefore it\n\nAfter it\n\n# log.txt\n\nA file\n\nAttachments: i.png, log.txt\n\n"
    )
    assert document.notes == ["The text of attachments was not read: i.png."]


def mailed(headers: str, body: str | bytes = b"") -> bytes:
    data = body if isinstance(body, bytes) else body.encode()
    return f"From: a@example.org\nMIME-Version: 1.0\n{headers}\n\n".encode() + data


def parts(kind: str, *inner: str) -> str:
    body = "".join(f"--b{kind}\n{one}\n" for one in inner)
    return f'Content-Type: multipart/{kind}; boundary="b{kind}"\n\n{body}--b{kind}--\n'


PLAIN, HTML = "Content-Type: text/plain\n\nPlain words\n", "Content-Type: text/html\n\n<p>Page words</p>\n"
PICTURE = "Content-Type: image/png; name=i.png\nContent-Disposition: inline\n\n\0\n"
FORWARDED = "Content-Type: message/rfc822\n\nFrom: b@example.org\nSubject: Inner\n\nInner words\n"
STRUCTURES = {
    "alternative": (parts("alternative", PLAIN, HTML), ["Plain words"], ["Page words"]),
    "empty plain text": (parts("alternative", "Content-Type: text/plain\n\n \n", HTML), ["Page words"], []),
    "page with pictures": (parts("alternative", parts("related", HTML, PICTURE)), ["Page words", "i.png"], []),
    "alternatives behind a picture": (parts("mixed", PICTURE, parts("alternative", PLAIN, HTML)), ["Plain words"], []),
    "Apple Mail": (parts("mixed", HTML, PICTURE, HTML.replace("Page", "Later")), ["Page words", "Later words"], []),
    "file inside an alternative": (
        parts("alternative", PLAIN, parts("mixed", HTML, "Content-Type: text/csv; name=t.csv\n\na,b\n")),
        ["Plain words", "# t.csv", "a,b"], ["Page words"],
    ),
    "forwarded": (
        parts("mixed", PLAIN, FORWARDED), ["Plain words", "# Inner", "From: b@example.org", "Inner words"], [],
    ),
    "digest": (
        parts("digest", "\nSubject: One\n\nFirst\n", "\nSubject: Two\n\nSecond\n"), ["# One", "First", "Second"], [],
    ),
    "report": (
        parts("report", PLAIN, "Content-Type: message/delivery-status\n\nAction: failed\n\nStatus: 5.1.1\n"),
        ["Plain words", "Action: failed", "Status: 5.1.1"], [],
    ),
    "signed": (parts("signed", PLAIN, "Content-Type: application/pgp-signature\n\nabc\n"), ["Plain words"], ["Attach"]),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURES)
def test_each_body_is_read_once(workers: Workers, name: str):
    structure, has, has_not = STRUCTURES[name]
    data = mailed("X: y").rstrip(b"\n") + b"\n" + structure.encode()
    text = joined(read(workers, data, "a.eml")[1])
    assert {one: text.count(one) for one in has} == dict.fromkeys(has, 1)
    assert not [one for one in has_not if one in text]


def test_attachments_are_read_where_their_format_is(workers: Workers):
    mail = EmailMessage()
    mail["Subject"] = "Files"
    mail.set_content("See below")
    inner = EmailMessage()
    inner["Subject"], inner["To"] = "A letter", "ann@example.org"
    inner.set_content("Dear Ann")
    for name, data in {
        "a.docx": samples.docx(samples.word_document(samples.paragraph("In Word"))), "b.pdf": samples.pdf("In a PDF"),
        "c.txt": "Да, это текст".encode("koi8-r"), "d.odt": samples.odf("text", "<text:p>In Writer</text:p>"),
        "e.jar": samples.zipped({"META-INF/MANIFEST.MF": "x"}), "winmail.dat": b"\x78\x9f\x3e\x22\0\0",
        "f.docx": samples.docx(samples.word_document("")), "g.zip": samples.zipped({"a.txt": "x"}),
        "h.eml": inner.as_bytes(),
    }.items():  # fmt: skip
        mail.add_attachment(data, "application", "octet-stream", filename=name)
    document, pieces = read(workers, mail.as_bytes(), "a.eml")
    text = joined(pieces)
    for words in ("# a.docx\n\nIn Word", "In a PDF", "Да, это текст", "In Writer", "# A letter", "Dear Ann"):
        assert words in text
    assert [piece.headings for piece in pieces if "In Word" in piece.text] == [("a.docx",)]
    assert [note.partition(":")[0] for note in document.notes] == [
        "Attachment c.txt", "Attachment e.jar", "Attachment f.docx", "The text of attachments was not read",
    ]  # fmt: skip
    assert "winmail.dat (a message of Outlook in TNEF, such as winmail.dat), g.zip" in document.notes[-1]


def test_a_calendar_says_what_when_where_and_who(workers: Workers):
    event = (
        "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nDTSTART:19700101T000000\nEND:VTIMEZONE\nBEGIN:VEVENT\n"
        "SUMMARY:Tea\\, with\n  cake\nDTSTART;TZID=Europe/Helsinki:20240503T093000\nLOCATION:Room 4\n"
        'ATTENDEE;CN="Ann Lee";ROLE=X:mailto:ann@example.org\nBEGIN:VALARM\nDESCRIPTION:Alarm\nEND:VALARM\n'
        "END:VEVENT\nEND:VCALENDAR\n"
    )
    kinds = parts("alternative", PLAIN, f"Content-Type: text/calendar; method=REQUEST\n\n{event}")
    data = b"From: a@b.c\nMIME-Version: 1.0\n" + kinds.encode()
    assert joined(read(workers, data, "a.eml")[1]).endswith(
        "Plain words\n\nTea, with cake\nStarts: 2024-05-03 09:30 Europe/Helsinki\nPlace: Room 4\n"
        "Attendee: Ann Lee <ann@example.org>\nReminder: Alarm\n\n"
    )


@pytest.mark.parametrize(("headers", "body", "words"), [
    ("Content-Type: text/plain; charset=ks_c_5601-1987", "한국어".encode("cp949"), "한국어"),
    ("Content-Type: text/plain; charset=x-unknown", "Доброе утро, друзья".encode("cp1251"), "Доброе утро, друзья"),
    ("Content-Type: text/plain; charset=us-ascii", "Größe, Grüße, Füße".encode(), "Größe, Grüße, Füße"),
    ("Content-Type: text/html", '<meta charset="windows-1251"><p>Да</p>'.encode("cp1251"), "Да"),
    ("Content-Type: text/plain; charset=iso-2022-jp", "日本語".encode("iso2022_jp"), "日本語"),
    ("Subject: =?utf-8?B?5pel5pys?= =?utf-8?B?6Kqe?=", b"x", "# 日本語"),
    ("Subject: =?utf-8?B?5pel5g==?= =?utf-8?B?nKw=?=", b"x", "# 日本"),
    ("Subject: =?x-sjis?B?k/qWew==?=", b"x", "# 日本"),
    ("Subject: =?no-such?Q?caf=C3=A9?= au lait", b"x", "# café au lait"),
    ("Content-Type: text/plain; format=flowed", "> One \n> line\nTwo \nlines\n-- \nAnn",
     "> One line\nTwo lines\n--\nAnn"),
    ("Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes", "日本 \n語", "日本語"),
])  # fmt: skip
def test_charsets_headers_and_flowed_text(workers: Workers, headers: str, body: str | bytes, words: str):
    assert words in joined(read(workers, mailed(headers, body), "a.eml")[1])


def test_a_subject_of_raw_bytes(workers: Workers):
    data = "From: a@b.c\nTo: b@b.c\nSubject: Доброе утро, друзья\n\nx\n".encode("cp1251")
    assert read(workers, data, "a.eml")[0].title == "Доброе утро, друзья"


def test_a_message_as_apple_mail_keeps_it_and_a_page_that_a_browser_has_saved(workers: Workers):
    message = b"Subject: Tea\nFrom: ann@example.org\n\nGreen.\n"
    kept = str(len(message)).encode() + b"\n" + message + b'<?xml version="1.0"?><plist><dict/></plist>\n'
    assert joined(read(workers, kept, "1.emlx")[1]) == "# Tea\n\nFrom: ann@example.org\n\nGreen.\n\n"
    page = (
        "From: <Saved by Blink>\nSubject: Tea\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n"
        "--b\nContent-Type: text/html\n\n<p>Green.</p>\n--b\nContent-Type: text/css\n\np { color: red }\n--b--\n"
    )
    document, pieces = read(workers, page.encode(), "a.mhtml")
    assert "color" not in joined(pieces)
    assert document.notes == ["Text for programs in a message (CSS, JavaScript) was left out: 5 words."]
