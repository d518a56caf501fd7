"""Small files of Office before 2007 and of Outlook, made by hand."""

import struct
from collections.abc import Mapping, Sequence


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file of streams by their paths."""
    names = list(
        dict.fromkeys("/".join(path.split("/")[: at + 1]) for path in streams for at in range(path.count("/") + 1))
    )
    entries, sectors, table = [_entry("Root Entry", 5, -1, 1, -2, 0)], list[bytes](), list[int]()
    folders: dict[str, list[int]] = {}
    for number, name in enumerate(names, 1):
        folders.setdefault(name.rpartition("/")[0], []).append(number)
    for number, name in enumerate(names, 1):
        beside = folders[name.rpartition("/")[0]]
        after = next((one for one in beside if one > number), -1)
        data = streams.get(name, b"")
        parts = [data[at : at + 512].ljust(512, b"\0") for at in range(0, len(data), 512)]
        start = len(sectors) if parts else -2
        sectors += parts
        table += [*range(start + 1, start + len(parts)), -2] if parts else []
        kind, child = (2, -1) if name in streams else (1, folders[name][0])
        entries.append(_entry(name.rpartition("/")[2], kind, after, child, start, len(data)))
    directory = b"".join(entries)
    directory = directory.ljust(-(-len(directory) // 512) * 512, b"\0")
    start = len(sectors)
    sectors += [directory[at : at + 512] for at in range(0, len(directory), 512)]
    table += [*range(start + 1, len(sectors)), -2]
    count = -(-(len(table) + 1) // 127)
    tables = struct.pack(f"<{len(table)}i", *table).ljust(512 * count, b"\xff")
    places = [*range(len(sectors), len(sectors) + count)]
    header = struct.pack(
        "<8s16xHHHHH6xIIiIIiIiI109i", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 62, 3, 0xFFFE, 9, 6, 0, count, start, 0, 0,
        -2, 0, -2, 0, *places, *[-1] * (109 - count),
    )  # fmt: skip
    return header + b"".join(sectors) + tables


def _entry(name: str, kind: int, after: int, child: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le")
    return struct.pack("<64sHBBiii36xiQ", raw, len(raw) + 2, kind, 1, -1, after, child, start, size)


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def xls(*sheets: Sequence[Sequence[str | float]], shared: Sequence[str] = ()) -> bytes:
    """Return a workbook of Excel 97; a number in a cell is shown with two decimals."""
    begin, end = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)), _record(0x0A, b"")
    texts = b"".join(struct.pack("<HB", len(one), 1) + one.encode("utf-16-le") for one in shared)
    globals_ = _record(0xE0, struct.pack("<HH16x", 0, 0)) + _record(0xE0, struct.pack("<HH16x", 0, 2))
    globals_ += _record(0xFC, struct.pack("<II", len(shared), len(shared)) + texts[:40])
    cut = 1 if len(texts) > 40 else 0  # the text goes on in another record, which states its width again
    globals_ += _record(0x3C, b"\1" * cut + texts[40:]) if cut else b""
    bodies: list[bytes] = []
    for sheet in sheets:
        cells = b""
        for row, line in enumerate(sheet):
            for column, cell in enumerate(line):
                place = struct.pack("<HHH", row, column, 1)
                if isinstance(cell, str):
                    cells += _record(0x204, place + struct.pack("<HB", len(cell), 0) + cell.encode("latin-1"))
                else:
                    cells += _record(0x203, place + struct.pack("<d", cell))
        cells += b"".join(_record(0xFD, struct.pack("<HHHI", 90 + at, 0, 0, at)) for at in range(len(shared)))
        bodies.append(begin + cells + end)
    names = [f"S{number}".encode() for number in range(len(sheets))]
    at = len(begin + globals_ + end) + sum(12 + len(name) for name in names)
    listed = b""
    for name, body in zip(names, bodies, strict=True):
        listed += _record(0x85, struct.pack("<IBBBB", at, 0, 0, len(name), 0) + name)
        at += len(body)
    return compound({"Workbook": begin + listed + globals_ + end + b"".join(bodies)})


def doc(*parts: str, magic: int = 0xA5EC, flags: int = 0) -> bytes:
    """Return a document of Word 97 with its text in one piece: the body, footnotes, margins, and so on."""
    text = "".join(parts)
    header = bytearray(1024)
    struct.pack_into("<HH", header, 0, magic, 193)
    struct.pack_into("<H", header, 10, flags)
    lengths = [*map(len, parts), *[0] * (8 - len(parts))]
    struct.pack_into("<8I", header, 0x4C, *lengths)
    pieces = struct.pack("<BIII HIH", 2, 16, 0, len(text), 0, 1024, 0)
    struct.pack_into("<II", header, 0x1A2, 0, len(pieces))
    return compound({"WordDocument": bytes(header) + text.encode("utf-16-le"), "0Table": pieces})


def ppt(*slides: tuple[str, str]) -> bytes:
    """Return a presentation of slides with a title in the outline and a text of their own."""

    def record(kind: int, data: bytes, head: int = 0) -> bytes:
        return struct.pack("<HHI", head, kind, len(data)) + data

    def text(kind: int, words: str) -> bytes:
        return record(0x0F9F, struct.pack("<I", kind)) + record(0x0FA0, words.encode("utf-16-le"))

    listed = b"".join(
        record(0x03F3, struct.pack("<IIIII", number, 0, 1, 255 + number, 0)) + text(0, title)
        for number, (title, _) in enumerate(slides, 2)
    )
    records = [record(0x03E8, record(0x0FF0, listed, 0x0F), 0x0F)]
    for _, words in slides:
        shape = record(0xF00D, record(0x0F9E, bytes(4)), 0x0F) + record(0xF00D, text(4, words), 0x0F)
        records.append(record(0x03EE, record(0x03EF, bytes(24)) + record(0x040C, shape, 0x0F), 0x0F))
    places, at = list[int](), 0
    for one in records:
        places.append(at)
        at += len(one)
    places_record = record(0x1772, struct.pack(f"<I{len(places)}I", len(places) << 20 | 1, *places))
    edit = record(0x0FF5, struct.pack("<IIIIIII", 0, 0, 0, at, 1, len(places), 0))
    user = struct.pack("<4xIIIII", 0, 20, 0xE391C05F, at + len(places_record), 0)
    return compound({"PowerPoint Document": b"".join([*records, places_record, edit]), "Current User": user})


def msg(subject: str, body: str, files: Mapping[str, bytes] | None = None, inner: str = "", **more: bytes) -> bytes:
    """Return a message of Outlook with attachments, one of them a message where `inner` is its subject."""
    streams = {
        "__properties_version1.0": bytes(32) + struct.pack("<HHIQ", 0x40, 0x39, 6, 133_592_850_000_000_000),
        "__substg1.0_0037001F": subject.encode("utf-16-le"), "__substg1.0_1000001F": body.encode("utf-16-le"),
        "__substg1.0_0C1A001F": "Lee, Ann".encode("utf-16-le"), **more,
    }  # fmt: skip
    for number, (name, data) in enumerate((files or {}).items()):
        place = f"__attach_version1.0_#{number:08X}"
        streams[f"{place}/__substg1.0_3707001F"] = name.encode("utf-16-le")
        streams[f"{place}/__substg1.0_37010102"] = data
    if inner:
        place = "__attach_version1.0_#000000FF/__substg1.0_3701000D"
        streams[f"{place}/__properties_version1.0"] = bytes(24)
        streams[f"{place}/__substg1.0_0037001F"] = inner.encode("utf-16-le")
    return compound(streams)
