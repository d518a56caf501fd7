"""The entries of Muisti that clients have: which of them start a command that is gone."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from muisti.service.connect import planning, program
from muisti.service.connect.clients import CLIENTS, Client, Entry, Home
from muisti.service.connect.files import NotPossible
from muisti.service.connect.jsonc import Unreadable


class Registered(NamedTuple):
    """An entry in the configuration file of a client. `project`: the file is one of a project."""

    client: Client
    path: Path
    project: bool
    entry: Entry

    @property
    def missing(self) -> str | None:
        """The file that the entry needs and that is gone; None when it is there, or a server is reached by its URL."""
        if "command" not in self.entry:
            return None
        return program.missing([self.entry["command"], *self.entry.get("args", [])])

    @property
    def remedy(self) -> str:
        """The command that writes the entry again."""
        return f"muisti connect {self.client.name}{' --project' if self.project else ''}"


def registered(home: Home, folder: Path, name: str = "muisti") -> Iterator[Registered]:
    """Yield the entry `name` of each client, in the user's files and in those of the project in a folder."""
    for client in CLIENTS.values():
        for path, project in ((client.where(home), False), (client.project and folder / client.project, True)):
            if path and (found := entry_of(client, Path(path), name)):
                yield Registered(client, Path(path), project, found)


def entry_of(client: Client, path: Path, name: str) -> Entry | None:
    """Return the entry `name` in a file; None when there is none, or when the file cannot be read."""
    try:
        value: Any = client.form.read(planning.text(path) or "")
    except (NotPossible, Unreadable):
        return None
    for part in (*client.holder, name):
        value = value.get(part) if isinstance(value, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else None
