"""Anchors of the files on this machine, as the working tree has them. The command line reads them, no server does."""

from hashlib import sha256
from pathlib import Path

from muisti.core.model.anchors import anchor_of, path_of
from muisti.core.parsing.code.apart import read
from muisti.core.parsing.code.grammars import TooIntricate
from muisti.core.parsing.code.reading import source_language
from muisti.core.parsing.code.records import definition_of, hashes_of
from muisti.service.documents.folder_sync import document_path
from muisti.service.folders import git
from muisti.service.terminal.base import USAGE, Failure

LARGEST = 2_000_000  # bytes of a file in which a symbol is sought


def cited(text: str) -> dict[str, str]:
    """Return the anchor that `path` or `path:symbol` names, with the hashes of the file, the symbol and the commit.

    Raises:
        Failure: there is no such file, or no such symbol in it.
    """
    given = anchor_of(text)
    place = Path(path_of(text.strip())) if Path(path_of(text.strip())).is_file() else Path(given["path"])
    try:
        data = place.read_bytes()
    except OSError as error:
        raise Failure(f"--anchor: {given['path']} cannot be read: {error.strerror}", USAGE) from None
    found = {"path": document_path(place), "blob": sha256(data).hexdigest()}
    commit = git.ask(place.resolve().parent, "rev-parse", "--verify", "--quiet", "HEAD")
    if commit:
        found["commit"] = commit.decode("ascii").strip()
    return found | (_symbol(place, data, given["symbol"]) if place == Path(given["path"]) and "symbol" in given else {})


def _symbol(place: Path, data: bytes, symbol: str) -> dict[str, str]:
    language = source_language(place.name)
    if language is None or len(data) > LARGEST:
        return {"symbol": symbol}
    text = data.decode("utf-8", "replace")
    try:
        named = definition_of(hashes_of(read(place.name, text, language), text), symbol)
    except TooIntricate:
        return {"symbol": symbol}
    if named is None:
        raise Failure(f"--anchor: {place} has no definition {symbol}, or several", USAGE)
    return {"symbol": named[0], "text": named[1]}
