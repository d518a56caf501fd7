"""Bearer token of a remote database, given as text or in a file that may change while Muisti runs."""

from pathlib import Path

from muisti.core.model.errors import StoreUnavailable
from muisti.core.support.rereading import Reread


class Token:
    """Token that is read again when its file has changed. Thread-safe."""

    def __init__(self, text: str | None = None, file: Path | None = None) -> None:
        """Take the token as text or as a file, not both; neither means that there is no token.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        self._text = text
        self._file = None if file is None else Reread(file)
        self.current()

    def current(self) -> str | None:
        """Return the current token, None when there is none."""
        if self._file is None:
            return self._text
        try:
            return self._file.current()
        except (OSError, UnicodeDecodeError) as error:
            raise StoreUnavailable(f"the file with the token for the database cannot be read: {error}") from error
