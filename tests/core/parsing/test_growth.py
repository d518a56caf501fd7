"""Costs of a file are bounded by what was sent: parts are read once, headers are cut, and notes name them."""

import io
import zipfile
from collections.abc import Callable

import pytest

from muisti.core.model.unreadable import FileTooLarge
from muisti.core.parsing.archives import members
from muisti.core.parsing.parsed import ArchiveOptions, Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples


def _again(data: bytes, name: str, start: str, end: str, times: int) -> bytes:
    """Return an office file in a part of which the text from `start` to `end` is there many times."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for one in old.namelist():
            text = old.read(one).decode()
            if one == name:
                at = text.index(start)
                stop = text.index(end, at) + len(end)
                text = text[:at] + text[at:stop] * times + text[stop:]
            new.writestr(one, text)
    return out.getvalue()


REPEATED: dict[str, Callable[[], bytes]] = {
    "a.xlsx": lambda: _again(samples.xlsx([["tea", 1.0]]), "xl/workbook.xml", "<sheet ", "/>", 5_000),
    "a.pptx": lambda: _again(samples.pptx("tea"), "ppt/presentation.xml", "<p:sldId ", "/>", 5_000),
    "a.epub": lambda: _again(samples.epub("<p>tea</p>"), "content.opf", "<itemref ", "/>", 20_000),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_part_that_is_listed_often_is_read_once(name: str, workers: Workers):
    with parse(REPEATED[name](), name, Options(), workers) as document:
        text = "".join(piece.text for piece in document)
    assert text.count("tea") == 1
    assert any("read once" in note for note in document.notes)


@pytest.mark.parametrize(
    "header",
    ["To: " + "a@b.c, " * 100_000, 'To: "' + '\\"' * 100_000, "Content-Type: text/plain" + "; a*1*=x" * 20_000],
    ids=["addresses", "quotes", "parameters"],
)
def test_a_long_header_is_cut_with_a_note(header: str, workers: Workers):
    with parse(f"Subject: tea\n{header}\n\nhello".encode(), "a.eml", Options(), workers) as document:
        text = "".join(piece.text for piece in document)
    assert "hello" in text
    assert len(text) < 25_000
    assert any(header.partition(":")[0] in note for note in document.notes)


def test_a_small_file_gives_a_bounded_text(workers: Workers):
    rows = (b'<row><c t="inlineStr"><is><t>' + b"y" * 30_000 + b"</t></is></c></row>" for _ in range(1_000))
    with (
        pytest.raises(FileTooLarge, match="bytes has more than"),
        parse(samples.xlsx_of_rows(rows), "a.xlsx", Options(), workers) as document,
    ):
        for _ in document:
            pass


def test_an_archive_unpacks_to_a_multiple_of_its_size():
    data = samples.zipped({f"{number}.txt": "tea and bread\n" * 100_000 for number in range(20)})
    read = 0
    with pytest.raises(FileTooLarge, match="unpacks to more than"):
        for member in members(io.BytesIO(data), "a.zip", ArchiveOptions()):
            assert member.content is not None
            read += len(member.content.read())
    assert read <= max(4 << 20, 50 * len(data))
