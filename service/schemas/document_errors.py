"""Errors of files that give no text, as HTTP problems: status, title and meaning by their code."""

from collections.abc import Mapping

OF_FILES: Mapping[str, tuple[int, str, str]] = {
    "document.unreadable": (422, "Unreadable file", "The file gives no text."),
    "document.encrypted": (422, "Encrypted file", "The file needs a password or a key."),
    "document.no_text": (422, "File without text", "The file holds images or drawings alone, as a scan does."),
    "document.broken": (422, "Broken file", "The file is damaged, or it is not what it seems to be."),
    "document.empty": (422, "Empty file", "The file holds nothing, or blanks alone."),
    "document.unknown_format": (415, "Unknown format", "The format of the file is none of those that are read."),
    "document.too_large": (413, "File too large", "The file exceeds a limit of bytes, pages, cells or characters."),
    "document.timeout": (422, "File takes too long", "Reading the file made no progress for too long."),
    "document.crashed": (422, "File crashes its reader", "The process that read the file ended."),
    "document.unsafe": (422, "Unsafe file", "The file holds what only an attack needs."),
    "document.missing": (422, "Missing file", "The file is not there any more, or on another machine."),
    "document.extra_missing": (422, "Extra missing", "A package is needed that is not installed."),
}
