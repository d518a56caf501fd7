"""Text in images: recognised where the extra `ocr` is installed, and refused with its name where it is not."""

import io
from importlib import import_module
from typing import Any

import pypdfium2 as pdfium
import pytest

from muisti.core.model.unreadable import NoText
from muisti.core.parsing.formats.image import Box, in_order
from muisti.core.parsing.parsed import Options, installed
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from tests.core.parsing import samples

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
TEXT = ("The harbour opens on Tuesdays.", "Boats pay by their length.")
needs_the_extra = pytest.mark.skipif(not installed(), reason="the extra `ocr` is not installed")


def picture() -> Any:
    """Return an image of a page with two lines."""
    page = pdfium.PdfDocument(samples.pdf("\n".join(TEXT)))[0]
    return import_module("PIL.Image").fromarray(page.render(scale=2).to_numpy())


def saved(image: Any, form: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def read(workers: Workers, data: bytes, name: str) -> str:
    with parse(data, name, Options(), workers) as document:
        return "".join(piece.text for piece in document)


@pytest.mark.skipif(installed(), reason="the extra `ocr` is installed")
def test_the_error_names_the_extra(workers: Workers):
    for data, name in ((samples.pdf_of_an_image(), "scan.pdf"), (PNG, "a.png")):
        with pytest.raises(NoText, match=r"muisti\[ocr\]"):
            read(workers, data, name)


@needs_the_extra
@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "PDF"])
def test_text_in_an_image_is_read(workers: Workers, form: str):
    assert read(workers, saved(picture(), form), f"a.{form.lower()}").strip() == "\n".join(TEXT)


@needs_the_extra
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_an_image_may_lie_on_its_side(workers: Workers, degrees: int):
    turned = picture().rotate(degrees, expand=True)
    assert read(workers, saved(turned, "PNG"), "a.png").strip() == "\n".join(TEXT)


@needs_the_extra
def test_each_image_of_a_file_is_a_page_and_one_without_text_is_noted(workers: Workers):
    page = picture()
    blank = page.point(lambda _: 255)
    pages = saved(page, "TIFF", save_all=True, append_images=[blank, page])
    with parse(pages, "a.tiff", Options(), workers) as document:
        assert [piece.page for piece in document] == [1, 3]
    assert document.pages == 3 and document.media_type == "image/tiff"
    with pytest.raises(NoText, match="No text was recognised"):
        read(workers, saved(blank, "PNG"), "a.png")


def test_boxes_beside_each_other_are_a_line_and_lines_have_one_height():
    boxes = [
        Box("right", 60, 2, 90, 13), Box("left", 0, 0, 50, 10), Box("below", 0, 20, 50, 32),
        Box("Title", 0, -60, 90, -30),
    ]  # fmt: skip
    lines = in_order(boxes)
    assert [one.text for one in lines] == ["Title", "left right", "below"]
    assert lines[1].height == lines[2].height < lines[0].height
    assert in_order([]) == []
