"""A file of another program, before and after: shown as a difference, written whole, with a copy of what was."""

import difflib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

BACKUP = ".muisti-backup"


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a file. None stands for no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> list[str]:
        """Unified, without line ends."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return [*difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm="")]

    def write(self) -> None:
        """Put the new text in place of the old, whole or not at all; links are followed, rights stay.

        Raises:
            OSError: it cannot be written.
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
    """What is in the file, line ends as they are; None when there is none.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is no UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None


def backup_of(path: Path) -> Path:
    """Where the text from before Muisti came is kept."""
    return path.with_name(path.name + BACKUP)
