"""Checks of entries that clients have already."""

import os
from pathlib import Path

from muisti.service.cli.base import Failure, Globals
from muisti.service.cli.output import talk
from muisti.service.connect.calling import TOOL, CallFailed, call
from muisti.service.connect.clients import Client
from muisti.service.connect.registered import Registered, entry_of


def check(options: Globals, client: Client, path: Path, called: str, *, project: bool) -> None:
    """Start or reach what the entry names, and call a tool as the client would.

    Raises:
        Failure: there is no entry, its command is gone, or no tool could be called. The message says what to do.
    """
    entry = entry_of(client, path, called)
    found = None if entry is None else Registered(client, path, project, entry)
    if found is None:
        raise Failure(f"{client.title} has no entry {called} in {path}; `muisti connect {client.name}` writes it")
    if found.missing:
        raise Failure(f"{path} starts {found.missing}, which is gone. `{found.remedy}` writes the entry again.")
    try:
        told = call(found.entry, os.environ, options.space)
    except CallFailed as error:
        raise Failure(f"no tool could be called: {error}. `{found.remedy}` writes the entry again.") from error
    asked = f"a call of {TOOL}" if TOOL in told.tools else "the list of tools"
    talk(f"{client.title} has {len(told.tools)} tools; {asked} was answered after {told.seconds:.1f} s.")
