"""Changes to a file of another program: shown as a diff, written whole or not at all, with a backup beside it."""

import difflib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

BACKUP = ".muisti-backup"


class NotPossible(Exception):
    """A client cannot be connected like this. The message says why, and what to do instead."""


@dataclass(frozen=True, slots=True)
class Change:
    """The text of a file before and after a change. None means that there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> list[str]:
        """Return a unified diff, its lines without line ends."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return [*difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm="")]

    def write(self) -> None:
        """Replace the old text by the new one, whole or not at all. Symbolic links are followed, permissions stay.

        Raises:
            OSError: the file cannot be written.
        """
        target = self.path.resolve()
        if self.after is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(self.after)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, name)
            os.replace(name, target)
        finally:
            Path(name).unlink(missing_ok=True)


def text_of(path: Path) -> str | None:
    """Read a file with its line ends as they are; None when there is no file.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError: the file is no UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None


def backup_of(path: Path) -> Path:
    """Return the path of the backup, which keeps the text from before Muisti was connected."""
    return path.with_name(path.name + BACKUP)
