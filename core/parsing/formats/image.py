"""Read images: the text that is recognised in them, by the models that come with the package `rapidocr`."""

import io
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from muisti.core.model.unreadable import Broken, FileTooLarge, NoText
from muisti.core.parsing.parsed import About, Options, Outline, block, refusal
from muisti.core.parsing.pieces import Piece

SIDE = 1_600  # pixels of the longer side of an image that is looked at
SEARCHED = 960  # pixels of the longer side in which text is searched; more find no more, and take much more memory
SECONDS = 20  # of processor time that a page may take
SURE = 0.5  # a line that is less sure is left out
ALIKE = 1.4  # heights of lines that differ by less are taken as one size, as those of recognised lines vary
DOUBTFUL = 0.9  # a page that is less sure on average may be upside down
ASKED = 5  # lines that are asked whether an image is upside down
_ON_ONE_LINE = 0.5  # part of the height by which two boxes overlap on one line


class Box(NamedTuple):
    """A recognised text and where it is, in pixels from the upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


class Seen(NamedTuple):
    """A line of text in an image, its upper edge and its height in pixels."""

    text: str
    top: float
    height: float


class TooMuchMemory(Exception):
    """Recognising the text of an image needs more memory than a worker has."""


class Recogniser:
    """Recognises text with one thread. The models load with the first image."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._failures: tuple[type[Exception], ...] = ()

    def lines(self, image: Any) -> list[Seen]:
        """Return the lines of an image, an array of height, width and the colours blue, green, red.

        An image that lies on its side or is upside down is read as if it were upright.

        Raises:
            TooMuchMemory: the engine failed, which it does for nothing else.
        """
        if self._engine is None:
            self._load()
        try:
            boxes, sure = self._boxes(image)
            if _lies(boxes):
                image = image.swapaxes(0, 1)[::-1].copy()
                boxes, sure = self._boxes(image)
            if sure < DOUBTFUL and self._is_upside_down(image, boxes):
                boxes, _ = self._boxes(image[::-1, ::-1].copy())
        except self._failures as error:
            raise TooMuchMemory from error
        return in_order([one for one in boxes if one.text])

    def _load(self) -> None:
        """Load the engine. Threads of its own it may not start, as a worker is limited to one."""
        rapidocr: Any = import_module("rapidocr")
        threads = {f"EngineConfig.onnxruntime.{name}_op_num_threads": 1 for name in ("intra", "inter")}
        sizes = {"Global.max_side_len": SIDE, "Det.limit_type": "max", "Det.limit_side_len": SEARCHED}
        alone = {"Rec.rec_batch_num": 1, "Cls.cls_batch_num": 1}  # lines of unlike length would be filled up
        self._engine = rapidocr.RapidOCR(params={"Global.log_level": "critical", **threads, **sizes, **alone})
        runtime: Any = import_module("rapidocr.inference_engine.onnxruntime.main")
        self._failures = (runtime.ONNXRuntimeError, import_module("cv2").error)

    def _boxes(self, image: Any) -> tuple[list[Box], float]:
        """Return the boxes of an image, without a text where it is doubtful, and how sure all texts are on average."""
        found = self._engine(image, use_det=True, use_cls=False, use_rec=True)
        if found.boxes is None:
            return [], 1.0
        boxes = [
            Box(str(text).strip() if sure >= SURE else "", *map(float, (*corners.min(axis=0), *corners.max(axis=0))))
            for corners, text, sure in zip(found.boxes, found.txts, found.scores, strict=True)
        ]
        return boxes, sum(found.scores) / max(1, len(boxes))

    def _is_upside_down(self, image: Any, boxes: Sequence[Box]) -> bool:
        longest = sorted(boxes, key=lambda one: -one.width)[:ASKED]
        turned = 0
        for box in longest:
            part = image[int(box.top) : int(box.bottom) + 1, int(box.left) : int(box.right) + 1]
            told = self._engine(part, use_det=False, use_cls=True, use_rec=False)
            turned += told.cls_res[0][0] == "180"
        return turned > len(longest) / 2


def _lies(boxes: Sequence[Box]) -> bool:
    """Return whether most of the text is in boxes that are higher than wide."""
    lengths = [(max(one.height, one.width), one.height > one.width) for one in boxes]
    return sum(length for length, lies in lengths if lies) > sum(length for length, _ in lengths) / 2


def in_order(boxes: Sequence[Box]) -> list[Seen]:
    """Return boxes as lines from top to bottom; those beside each other are one line.

    >>> [one.text for one in in_order([Box("b", 50, 1, 60, 11), Box("a", 0, 0, 40, 10), Box("c", 0, 20, 9, 30)])]
    ['a b', 'c']
    """
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda one: one.top + one.bottom):
        row = rows[-1] if rows else []
        if row and _overlap(row, box) >= _ON_ONE_LINE * min(box.height, max(one.height for one in row)):
            row.append(box)
        else:
            rows.append([box])
    return [*_evened([sorted(row, key=lambda one: one.left) for row in rows])]


def _overlap(row: Sequence[Box], box: Box) -> float:
    top = sum(one.top for one in row) / len(row)
    bottom = sum(one.bottom for one in row) / len(row)
    return min(bottom, box.bottom) - max(top, box.top)


def _evened(rows: Sequence[Sequence[Box]]) -> Iterator[Seen]:
    """Yield rows as lines. A height near the usual one is the usual one."""
    heights = sorted(max(one.height for one in row) for row in rows)
    usual = heights[len(heights) // 2] if heights else 0.0
    for row in rows:
        height = max(one.height for one in row)
        even = usual if usual / ALIKE < height < usual * ALIKE else height
        yield Seen(" ".join(one.text for one in row), min(one.top for one in row), even)


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
    out: list[str] = []
    before: Seen | None = None
    for line in lines:
        if before is not None:
            far = line.top - before.top > GAP * max(line.height, before.height)
            out.append("\n\n" if far else "\n")
        out.append(line.text)
        before = line
    return "".join(out)
