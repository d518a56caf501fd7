"""Texts that are read in this process: not a character is lost, whatever the encoding."""

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.unreadable import Broken, Empty, UnknownFormat
from muisti.core.model.values import is_blank
from muisti.core.parsing.detect import is_binary
from muisti.core.parsing.parsed import Options
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.reading import parse
from muisti.core.parsing.text import WINDOW, MarkdownReader, lines, windows
from muisti.core.parsing.workers import Workers

NONE = Workers(1)  # never started: the formats here need no process
LINES = st.sampled_from(
    ["# One\n", "## Two ##\r\n", "Title\n", "===\n", "---\n", "```py\n", "```\n", "~~~\n", "| a | b |\n", "|---|---|\n",
     "- item\n", "1. item\n", "text\n", "\n", "  \n", "    code\n", "x", "\t", "title: T\n", "####### no\n"]
)  # fmt: skip
texts = st.lists(LINES, max_size=60).map("".join) | st.text()


def read(data: bytes, name: str, options: Options | None = None) -> list[Piece]:
    with parse(data, name, options or Options(), NONE) as document:
        return [*document]


@given(texts)
def test_markdown_is_joined_to_itself(text: str):
    reader = MarkdownReader()
    assert "".join(piece.text for piece in reader.pieces(lines([text]))) == text


@given(st.lists(st.text(alphabet="a \n"), max_size=30), st.integers(2, 50))
def test_windows_are_joined_to_the_text_and_are_short(parts: list[str], size: int):
    found = [*windows(parts, size)]
    assert "".join(found) == "".join(parts)
    assert all(0 < len(window) <= size for window in found)


@given(
    st.text(min_size=1).filter(lambda text: not is_binary(text.encode()) and not is_blank(text) and text[0] != "\ufeff")
)
def test_the_text_of_a_file_is_its_bytes(text: str):
    for name in ("a.txt", "a.md", "a.py"):
        assert "".join(piece.text for piece in read(text.encode(), name)).encode() == text.encode()


def test_markdown_knows_headings_code_tables_and_lists():
    text = "# Guide\n\nIntro.\n\n## Use\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n- one\n- two\n\n"
    text += "```python\nx = 1\n# no heading\n```\n"
    with parse(text.encode(), "guide.md", Options(), NONE) as document:
        pieces = [*document]
    by_kind = {piece.kind: piece for piece in pieces}
    assert document.title == "Guide"
    assert [piece.headings for piece in pieces if piece.kind == "heading"] == [("Guide",), ("Guide", "Use")]
    assert by_kind["table"].text.startswith("| a | b |") and by_kind["table"].headings == ("Guide", "Use")
    assert by_kind["list"].text == "- one\n- two\n\n"
    assert by_kind["code"].language == "python" and "# no heading" in by_kind["code"].text


def test_front_matter_gives_the_title_and_what_excel_states_is_no_row():
    with parse(b"---\ntitle: 'A plan'\n---\nText\n", "plan.md", Options(), NONE) as document:
        pieces = [*document]
    assert (document.title, pieces[0].kind, pieces[0].language) == ("A plan", "code", "yaml")
    assert "".join(piece.text for piece in read(b"sep=;\r\na;b,c\r\n1;2\r\n", "s.csv")).startswith("| a | b,c |")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "cp1252"]
)
@pytest.mark.parametrize("text", ["Größe: déjà vu, naïve façade. ", "日本語の文章です。\n"])
def test_encodings_are_recognised(encoding: str, text: str):
    if encoding == "cp1252" and not text.startswith("G"):
        return
    text = text * 3_000
    assert "".join(piece.text for piece in read(text.encode(encoding), "a.txt")) == text


def test_a_stated_encoding_is_used_and_must_fit():
    data = "Привет, мир".encode("koi8-r")
    assert read(data, "a.txt", Options(encoding="koi8-r"))[0].text == "Привет, мир"
    with pytest.raises(Broken):
        read(b"\xff\xff", "a.txt", Options(encoding="utf-8"))
    assert read(b"\x93a\x81\x94", "a.txt", Options(encoding="US-ASCII"))[0].text == "“a\x81”"  # as the web reads it
    for name in ("no-such", "base64", "rot13"):
        with pytest.raises(UnknownFormat):
            read(data, "a.txt", Options(encoding=name))


@pytest.mark.parametrize("data", [b"", b" \n", b"\xef\xbb\xbf", b"\n" * 300_000])
def test_blanks_are_no_document(data: bytes):
    with pytest.raises(Empty):
        read(data, "a.txt")


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "a.csv"), (";", "a.csv"), ("\t", "a.tsv"), ("\t", "a.csv"), ("|", "a.csv")]
)
def test_rows_of_any_delimiter_are_a_table(delimiter: str, name: str):
    rows = [["name", "note"], ["Ada", "one, two"], ["Bo", 'a "quote"'], ["Cy", "x|y"]]
    rows += [[str(number), "row"] for number in range(60)]
    quoted = ['"' + cell.replace('"', '""') + '"' for row in rows for cell in row]
    data = "".join(delimiter.join(quoted[at : at + 2]) + "\n" for at in range(0, len(quoted), 2))
    text = "".join(piece.text for piece in read(data.encode(), name))
    assert text.splitlines() == [
        "| name | note |", "| --- | --- |", "| Ada | one, two |", '| Bo | a "quote" |', "| Cy | x\\|y |",
        *(f"| {number} | row |" for number in range(60)),
    ]  # fmt: skip


class Endless(io.RawIOBase):
    """A file of many lines that is nowhere in memory."""

    def __init__(self, size: int) -> None:
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, target: bytearray) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        line = b"A line of a long text, which has eight words.\n"
        size = min(len(target) // len(line) * len(line), self._left)
        target[:size] = line * (size // len(line))
        self._left -= size
        return size


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.py", "a.csv"])
def test_a_long_text_takes_little_memory(name: str):
    size = 46 * 120_000
    tracemalloc.start()
    try:
        with parse(io.BufferedReader(Endless(size)), name, Options(), NONE) as document:
            longest = max(len(piece.text) for piece in document)
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()
    assert document.characters >= size
    assert longest <= (1 << 20 if name == "a.py" else WINDOW)


@pytest.mark.parametrize(("name", "text", "encoding"), [
    ("a.py", "# -*- encoding: koi8-r -*-\ntest = 'Познание'\n", "koi8-r"),
    ("b.py", "#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\ntest = 'Познание'\n", "cp1251"),
    ("c.xml", '<?xml version="1.0" encoding="windows-1251"?>\n<a>Привет</a>\n', "cp1251"),
    ("d.py", "# coding: no-such-encoding\ntest = 'é'\n", "utf-8"),
    ("e.py", "# coding: koi8-r\ntest = 'it is UTF-8: éàüß'\n", "utf-8"),
    ("f.c", "/* -*- coding: latin-1 -*- */\nchar *a = \"œuvre\";\n", "cp1252"),
    ("g.css", '@charset "x-sjis";\na::after { content: "日本" }\n', "cp932"),
    ("h.po", '"Content-Type: text/plain; charset=ks_c_5601-1987\\n"\nmsgstr "한국어"\n', "cp949"),
    ("i.py", "# coding: gbk\ntest = '联通'\n", "gbk"),
    ("j.txt", "日本語の文章です。\n", "iso2022_jp"),
    ("k.xml", '<?xml version="1.0" encoding="utf-16"?>\n<a>é</a>\n', "utf-8"),
])  # fmt: skip
def test_the_encoding_that_a_file_states_is_read(name: str, text: str, encoding: str):
    with parse(text.encode(encoding), name, Options(), NONE) as document:
        assert ("".join(piece.text for piece in document), document.notes) == (text, [])


@pytest.mark.parametrize(("text", "encoding"), [
    ("Привет, как твои дела сегодня?\n", "cp1251"), ("Добрый день, это письмо.\n", "mac_cyrillic"),
    ("Καλημέρα, τι κάνεις σήμερα;\n", "cp1253"), ("שלום, מה שלומך היום?\n", "cp1255"),
    ("مرحبا، كيف حالك اليوم؟\n", "cp1256"), ("안녕하세요, 오늘 날씨가 좋네요.\n", "cp949"),
    ("今天天氣很好，我們去公園。\n", "big5"), ("今日は天気がいいですね。\n", "shift_jis"),
    ("Bugün hava çok güzel, değil mi? Işık yanıyor.\n", "cp1254"),
    ("Příliš žluťoučký kůň úpěl ďábelské ódy.\n", "cp1250"),
    ("The café of Zoë\n", "cp1252"), ("It’s a “test” – no more\n", "cp1252"),
])  # fmt: skip
def test_an_encoding_is_guessed_and_noted_once(text: str, encoding: str):
    data = b"plain\n" * 10 + text.encode(encoding) * 9_000
    with parse(data, "r.txt", Options(), NONE) as document:
        found = "".join(piece.text for piece in document)
        assert (found.replace("\r", ""), len(document.notes)) == ("plain\n" * 10 + text * 9_000, 1)
        assert "which is a guess of confidence 0." in document.notes[0]


def test_a_few_bytes_in_utf8_that_are_none_are_read_as_western():
    text = "日本語です。" * 100
    with parse(text.encode() + b"\n\x93caf\xe9\x94\n", "r.txt", Options(), NONE) as document:
        assert "".join(piece.text for piece in document) == text + "\n“café”\n"
        assert "Windows-1252" in document.notes[0]


@pytest.mark.parametrize("data", [
    bytes(range(1, 32)) * 20, b"\x89\x01\x02" * 300, b"\x00\x01\x02\x03" * 64, b"text " * 30_000 + b"\0" * 9,
    b"words and a \0 byte",
])  # fmt: skip
def test_bytes_that_are_no_text_are_refused(data: bytes):
    with pytest.raises(UnknownFormat):
        read(data, "a.txt")
