"""Read images: the text that is recognised in them. Each image of a TIFF file is a page."""

import io
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import Broken, FileTooLarge, NoText
from muisti.core.parsing.blocks import Outline, block
from muisti.core.parsing.formats.recognising import SECONDS, SIDE, Recogniser, Seen, TooMuchMemory
from muisti.core.parsing.options import Options
from muisti.core.parsing.parsed import About
from muisti.core.parsing.recognition import refusal

PIXELS = 64 << 20  # of an image at most
GAP = 1.6  # lines that lie further apart, in heights of a line, belong to two paragraphs
FORMATS = ("PNG", "JPEG", "TIFF")


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of an image. Raises `Broken`, `FileTooLarge` by its pixels or pages, `NoText` without any."""
    pillow: Any = import_module("PIL.Image")
    sequence: Any = import_module("PIL.ImageSequence")
    errors = (OSError, ValueError, SyntaxError, pillow.DecompressionBombError)
    recogniser, outline = Recogniser(), Outline()
    found, number = False, 0
    try:
        with pillow.open(io.BytesIO(data), formats=FORMATS) as file:
            for number, image in enumerate(sequence.Iterator(file), 1):
                if number > options.max_recognised:
                    raise FileTooLarge(f"The file has more than {options.max_recognised:,} images.")
                about.more_time(SECONDS)
                if text := _paragraphs(recogniser.lines(_array(image))):
                    found = True
                    yield block(outline, text, page=number if getattr(file, "n_frames", 1) > 1 else None)
    except TooMuchMemory as error:
        raise FileTooLarge("Recognising the text needs more memory than a file may use.") from error
    except errors as error:
        raise Broken(f"The image is damaged: {error}") from error
    about.pages = number
    if not found:
        raise NoText(f"The file is an image. {refusal()}")


def _array(image: Any) -> Any:
    """Return the pixels of an image, upright, no larger than is looked at, in the order blue, green, red."""
    if image.width * image.height > PIXELS:
        raise FileTooLarge(f"The image has more than {PIXELS >> 20} million pixels.")
    if max(image.size) > SIDE:
        image.draft("RGB", (SIDE, SIDE))  # a JPEG is then unpacked at half its size or less, if it stays large enough
    upright: Any = import_module("PIL.ImageOps").exif_transpose(image)
    if max(upright.size) > SIDE:
        upright = upright.copy()
        upright.thumbnail((SIDE, SIDE))
    return np.ascontiguousarray(np.asarray(upright.convert("RGB"))[:, :, ::-1])


def _paragraphs(lines: list[Seen]) -> str:
    """Return lines as text, paragraphs apart."""
    out: list[str] = []
    before: Seen | None = None
    for line in lines:
        if before is not None:
            far = line.top - before.top > GAP * max(line.height, before.height)
            out.append("\n\n" if far else "\n")
        out.append(line.text)
        before = line
    return "".join(out)
