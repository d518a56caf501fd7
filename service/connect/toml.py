"""Change one table of a TOML file that a person wrote, by tomlkit, which keeps comments and order."""

from collections.abc import MutableMapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from muisti.service.connect.jsonc import Unreadable


def read(text: str) -> Any:
    """Read the value of a text.

    Raises:
        Unreadable: naming the line.
    """
    return _document(text).unwrap()


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a table put under these names.

    >>> put("# mine\\n", ["servers", "muisti"], {"url": "http://x"})
    '# mine\\n\\n[servers.muisti]\\nurl = "http://x"\\n'

    Raises:
        Unreadable: the text is no TOML, or a name on the way holds something else than a table.
    """
    document = _document(text)
    holder: MutableMapping[str, Any] = document
    for depth, name in enumerate(path[:-1]):
        if name not in holder:
            holder[name] = tomlkit.table(is_super_table=True)
        holder = holder[name]
        if not isinstance(holder, MutableMapping):
            raise Unreadable(f"{'.'.join(path[: depth + 1])} is no table")
    table = tomlkit.table()
    table.update(value)
    if holder.get(path[-1]) == value:
        return text
    if isinstance(holder.get(path[-1]), Table):
        old = holder[path[-1]]
        for name in [*old]:
            if name not in value:
                del old[name]
        old.update(value)
    else:
        holder[path[-1]] = table
    return tomlkit.dumps(document)


def drop(text: str, path: Sequence[str]) -> str:
    """Return the text without that table; unchanged when there is none.

    Raises:
        Unreadable: naming the line.
    """
    document = _document(text)
    holder: Any = document
    for name in path[:-1]:
        holder = holder.get(name)
        if not isinstance(holder, MutableMapping):
            return text
    if path[-1] not in holder:
        return text
    del holder[path[-1]]
    return tomlkit.dumps(document)


def _document(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise Unreadable(str(error)) from error
