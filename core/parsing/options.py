"""Limits and choices of reading a document."""

from msgspec import Struct

MB = 1 << 20


class Options(Struct, frozen=True, kw_only=True):
    """Options of reading a file, and limits of what it may cost.

    `main_content` leaves menus and the like out of web pages; it needs the extra `web`. `encoding` is that of a text,
    where the sender states one. `media_type` is a hint, used where the content leaves a choice.

    `max_bytes` limits files that a worker process reads; text, Markdown, CSV and code stream, so they have no limit
    here. `max_characters`, `max_pages` and `max_cells` limit what comes out of such a file. `patience` is the
    processor time in seconds that a worker may use without giving a piece; `seconds` is that for the whole file.
    Each page whose text is recognised has more, and at most `max_recognised` pages of a file are.
    """

    main_content: bool = False
    encoding: str | None = None
    media_type: str | None = None
    max_bytes: int = 128 * MB
    max_characters: int = 50_000_000
    max_pages: int = 10_000
    max_cells: int = 500_000
    max_recognised: int = 300
    patience: int = 3
    seconds: int = 120


class ArchiveOptions(Struct, frozen=True, kw_only=True):
    """Limits of an archive.

    `max_entries` counts entries of all nested archives; `max_bytes` is the sum of what they unpack to, `max_member`
    that of one. `depth` is how many archives may be inside each other. `ratio` limits how much a member, and the
    whole archive, may expand, once it has unpacked to more than 4 MB.
    """

    max_entries: int = 50_000
    max_bytes: int = 8 << 30
    max_member: int = 1 << 30
    depth: int = 3
    ratio: int = 50
