"""Bearer token of a remote database, given as text or in a file that may change while Muisti runs."""

from pathlib import Path

from muisti.core.model.errors import StoreUnavailable
from muisti.core.support.waiting import Lock


class Token:
    """Token that is read again when its file has changed. Thread-safe."""

    def __init__(self, text: str | None = None, file: Path | None = None) -> None:
        """Take the token as text or as a file, not both; neither means that there is no token.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        self._text = text
        self._file = file
        self._seen: tuple[int, int, int] | None = None
        self._lock = Lock()
        self.current()

    def current(self) -> str | None:
        """Return the current token, None when there is none."""
        if self._file is None:
            return self._text
        try:
            with self._lock:
                state = self._file.stat()
                seen = (state.st_mtime_ns, state.st_size, state.st_ino)
                if seen != self._seen:
                    self._text = self._file.read_text("ascii").strip()
                    self._seen = seen
                return self._text
        except (OSError, UnicodeDecodeError) as error:
            raise StoreUnavailable(f"the file with the token for the database cannot be read: {error}") from error
