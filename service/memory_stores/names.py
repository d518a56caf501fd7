"""Names of memory stores: ids of stores, memories and versions, paths, and texts that no memory takes as they are."""

import json
import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from litestar.types import Scope

from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.filed import ROOT
from muisti.core.model.ids import id_bytes
from muisti.core.model.values import NAME_MAX, Address, Memory, is_blank
from muisti.core.text.terms import fold
from muisti.service.http.decode import SLASH

STORE, MEMORY, VERSION, DELETED = "memstore_", "mem_", "memver_", "d"
CONTENT_BYTES = 102_400
PATH_BYTES, SEGMENTS = 1_024, 20
SPACE_CHARACTERS = 48  # of a name, in that of its space
_VERSION = re.compile(rf"{VERSION}([0-9a-f]{{32}})_([0-9]{{1,15}})({DELETED}?)")
_HIDDEN = frozenset(("Cc", "Cf", "Zl", "Zp", "Cs"))


def store_space(scope: Scope) -> None:
    """Put the space of a request's store among its parameters. Raises NotFound when the store cannot be one."""
    given = cast(dict[str, str], scope["path_params"])
    if (store := given.get("store")) is not None:
        if not store.startswith(STORE) or SLASH in store:
            raise NotFound("memory store", store[:80].replace(SLASH, "/"))
        given["space"] = store.removeprefix(STORE)


def space_names(name: str) -> Iterator[str]:
    """Yield names for the space of a new store: that of the store in small letters, then longer ones."""
    plain = re.sub("[^a-z0-9]+", "-", name.lower())[:SPACE_CHARACTERS].strip("-") or "store"
    yield plain
    for _ in range(4):
        yield f"{plain}-{secrets.token_hex(4)}"


def memory_id(sent: str) -> str:
    """Return the id of a memory as Muisti has it. Raises NotFound."""
    digits = sent.removeprefix(MEMORY)
    dashed = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    if not sent.startswith(MEMORY) or id_bytes(dashed) is None:
        raise NotFound("memory", sent[:80])
    return dashed


def sent_id(of: str) -> str:
    """Return the id of a memory as the SDK gets it."""
    return f"{MEMORY}{of.replace('-', '')}"


def sent_version(of: str, version: int, *, deleted: bool = False) -> str:
    """Return the id of a version, or of the deletion after it."""
    return f"{VERSION}{of.replace('-', '')}_{version}{DELETED * deleted}"


def version_of(sent: str) -> tuple[str, int, bool]:
    """Return the memory and the number of a version, and whether it is the deletion after it. Raises NotFound."""
    match = _VERSION.fullmatch(sent)
    if match is None:
        raise NotFound("memory version", sent[:80])
    return memory_id(f"{MEMORY}{match[1]}"), int(match[2]), bool(match[3])


# Paths: folders are the category, which compares without case, so that letters which fold are written in hexadecimal


def segments(path: str, name: str = "$.path") -> list[str]:
    """Return the segments of a path. Raises InvalidInput when it breaks a rule."""
    found = path.removeprefix("/").split("/")
    problem = ""
    if not path.startswith("/"):
        problem = "must begin with /"
    elif len(path.encode("utf-8", "surrogatepass")) > PATH_BYTES:
        problem = f"has more than {PATH_BYTES:,} bytes"
    elif len(found) > SEGMENTS or any(one in ("", ".", "..") for one in found):
        problem = f"needs 1 to {SEGMENTS} segments, none of them empty, . or .."
    elif any(unicodedata.category(one) in _HIDDEN for one in path) or not unicodedata.is_normalized("NFC", path):
        problem = "must be in Unicode Normalization Form C, without control or format characters"
    if problem:
        raise InvalidInput.at(name, f"{path[:80]!r} {problem}")
    return found


def address_of(found: Sequence[str]) -> Address:
    """Return the address of a path: as many folders as fit are the category.

    >>> address_of(["Notes", "a.md"]), address_of(["a.md"])
    (Address(category='%4Eotes', key='a.md'), Address(category='.', key='a.md'))
    """
    folders = ""
    for place, one in enumerate(found[:-1]):
        deeper = f"{folders}/{_folder(one)}" if folders else _folder(one)
        if len(deeper) > NAME_MAX:
            return Address(folders or ROOT, "/".join(found[place:]))
        folders = deeper
    return Address(folders or ROOT, found[-1])


def prefix_of(path: str) -> str:
    """Return the beginning of the stored paths below a folder. Raises InvalidInput when it is no folder's path."""
    if path == "/":
        return ""
    if not path.endswith("/"):
        raise InvalidInput.at("$.path_prefix", f"{path[:80]!r} must end with /")
    at = address_of([*segments(path[:-1], "$.path_prefix"), ""])
    return f"{fold(at.category)}/{at.key}" if at.category != ROOT else at.key


def path_of(memory: Memory) -> str:
    """Return the path of a memory: its category and key, or its id where it has no key."""
    folder = fold(memory.category or ROOT)
    return f"/{'' if folder == ROOT else f'{unquote(folder)}/'}{memory.key or memory.id.replace('-', '')}"


def shown_path(stored: str, reach: int) -> str:
    """Return the path of a folder as callers see it; the first `reach` characters are of a category."""
    return f"/{unquote(stored[:reach])}{stored[reach:]}"


def _folder(name: str) -> str:
    """Write the name of a folder so that it stays the same when it is folded."""
    parts = [one if fold(one) == one != "%" else _escaped(one) for one in name]
    written, stays = "".join(parts), "".join(part.lower() if len(part) > 1 else part for part in parts)
    return _escaped(name) if is_blank(written) or fold(written) != stays else written


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


# Texts: the marks are those of `muisti.integrations`, whose file tool reads and writes the same memories

_WRITTEN = "written_as"


def packed(text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return the content and the metadata of a memory that holds a text, which may be one that no memory takes.

    >>> packed("tea", {"cups": 2}), packed("", {})
    ({'content': 'tea', 'metadata': {'cups': 2}}, {'content': '""', 'metadata': {'written_as': 'json'}})
    """
    plain = {name: value for name, value in metadata.items() if name != _WRITTEN}
    if not is_blank(text) and "\0" not in text:
        return {"content": text, "metadata": plain}
    return {"content": json.dumps(text), "metadata": {**plain, _WRITTEN: "json"}}


def text_of(memory: Memory) -> str:
    """Return the text of a file."""
    return json.loads(memory.content) if memory.metadata.get(_WRITTEN) == "json" else memory.content
