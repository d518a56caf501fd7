"""Questions about memories as files: a page of a folder, and changes of files."""

from msgspec import Struct

from muisti.core.model.filed import FileOperation


class Folder(Struct, frozen=True, kw_only=True):
    """A page of the files whose path begins with `prefix`: all, or with `deep` false those in that folder.

    `prefix` and `after`, the last item of the page before, are paths as the store has them.
    """

    prefix: str = ""
    deep: bool = True
    after: str = ""
    limit: int = 20


class Changed(Struct, frozen=True, kw_only=True):
    """A page of changes of files that meet all given conditions, newest first; `before` is the seq of the last one."""

    memory_id: str | None = None
    version: int | None = None
    operation: FileOperation | None = None
    actor: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    before: int | None = None
    limit: int = 20
