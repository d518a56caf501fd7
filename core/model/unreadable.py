"""Errors of documents: why a file gives no text. Each class has a stable `code`; the message says what is the matter.

    Unreadable
    ├── Encrypted      a password or a key is needed
    ├── NoText         it holds images or drawings alone
    ├── Broken         it is damaged, or it is not what it seems to be
    ├── Empty          it holds nothing
    ├── UnknownFormat  its format is none of those that are read
    ├── FileTooLarge   it exceeds a limit: of bytes, pages, cells, characters, entries or memory
    ├── TimedOut       reading made no progress for too long
    ├── Crashed        the process that read it ended without an answer
    ├── Unsafe         it holds what only an attack needs, such as a path that leads out of an archive
    ├── Missing        it is not there any more
    └── ExtraMissing   a package is needed that is not installed

A file that raises one of them has no text that may be stored, also when some pieces came before the error.
"""

from muisti.core.model.errors import MuistiError


class Unreadable(MuistiError):
    """Base class of what keeps a file from being read. `again` tells whether another try can end differently."""

    code = "document.unreadable"
    again: bool = False


class Encrypted(Unreadable):
    """The file, or the member of an archive, is encrypted."""

    code = "document.encrypted"


class NoText(Unreadable):
    """The file can be read and holds no text, as a scan does."""

    code = "document.no_text"


class Broken(Unreadable):
    """The file is damaged or cut off."""

    code = "document.broken"


class Empty(Unreadable):
    """The file holds no bytes, or blanks alone."""

    code = "document.empty"


class UnknownFormat(Unreadable):
    """The content of the file is in a format that Muisti does not read."""

    code = "document.unknown_format"


class FileTooLarge(Unreadable):
    """The file exceeds a limit. The message names the limit."""

    code = "document.too_large"


class TimedOut(Unreadable):
    """Reading the file made no progress for too long."""

    code = "document.timeout"
    again = True


class Crashed(Unreadable):
    """The process that read the file ended without an answer. The caller counts, and gives up after three times."""

    code = "document.crashed"
    again = True


class Unsafe(Unreadable):
    """The file holds what only an attack needs: entities in XML, a path out of its archive, a link."""

    code = "document.unsafe"


class Missing(Unreadable):
    """The file is not there any more, or on another machine."""

    code = "document.missing"


class ExtraMissing(Unreadable):
    """Reading the file as requested needs a package that is not installed. The message names the extra."""

    code = "document.extra_missing"


BY_CODE: dict[str, type[Unreadable]] = {
    one.code: one
    for one in (
        Encrypted, NoText, Broken, Empty, UnknownFormat, FileTooLarge, TimedOut, Crashed, Unsafe, Missing,
        ExtraMissing,
    )
}  # fmt: skip
