"""Server-sent events, read from the pieces of an answer."""

from codecs import getincrementaldecoder


class EventReader:
    """Reader that takes the bytes of a stream in any pieces, and returns the events that are complete.

    >>> EventReader().feed(b"id: 1\\nevent: created\\ndata: {}\\n\\nid: 2\\n")
    [{'id': '1', 'event': 'created', 'data': '{}'}]
    """

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")()
        self._text = ""

    def feed(self, piece: bytes) -> list[dict[str, str]]:
        """Take the next bytes. Return the fields of each event that they complete."""
        *blocks, self._text = (self._text + self._decoder.decode(piece)).split("\n\n")
        return [found for block in blocks if (found := _fields(block))]


def _fields(block: str) -> dict[str, str]:
    fields = (line.partition(":") for line in block.split("\n"))
    return {name: value.removeprefix(" ") for name, _, value in fields if name}
