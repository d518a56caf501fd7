"""Text of a small file that may change while Muisti runs, such as a token that is renewed."""

from pathlib import Path

from muisti.core.support.waiting import Lock


class Reread:
    """ASCII text of a file without white space around it, read again when the file has changed. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._text = ""
        self._seen: tuple[int, int, int] | None = None
        self._lock = Lock()

    def current(self) -> str:
        """Return the text.

        Raises:
            OSError, UnicodeDecodeError: the file cannot be read.
        """
        with self._lock:
            state = self._file.stat()
            seen = (state.st_mtime_ns, state.st_size, state.st_ino)
            if seen != self._seen:
                self._text = self._file.read_text("ascii").strip()
                self._seen = seen
            return self._text
