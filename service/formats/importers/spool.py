"""Texts in a temporary file, found by a name, so that an importer may read them in another order than they come."""

import tempfile
from types import TracebackType
from typing import Self


class Spool:
    """Texts by name. A context manager, which deletes the file at its end."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="muisti-import-")  # noqa: SIM115  # `__exit__` closes it
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def put(self, name: str, text: str) -> None:
        """Store the text of a name."""
        data = text.encode("utf-8", "surrogatepass")
        self._file.seek(self._end)
        self._file.write(data)
        self._places[name] = (self._end, len(data))
        self._end += len(data)

    def get(self, name: str) -> str:
        """Return the text of a name.

        Raises:
            KeyError: there is none.
        """
        start, size = self._places[name]
        self._file.seek(start)
        return self._file.read(size).decode("utf-8", "surrogatepass")
