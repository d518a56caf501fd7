"""The work of the connect command."""

import os
from pathlib import Path
from typing import Any

import click

from service.cli.base import Failure, Globals
from service.cli.changes import show, written
from service.cli.configuration import in_force
from service.cli.output import talk
from service.cli.session import refusals, server_url, space_choice
from service.connect import jsonc, planning
from service.connect.calling import Called, CallFailed, call
from service.connect.clients import CLIENTS, KEY, Client, Entry, Home
from service.settings import database_path

DEFAULT_SPACE = "default"


def run(
    options: Globals,
    name: str,
    *,
    project: bool,
    called: str,
    dry_run: bool,
    printed: bool,
    undo: bool,
    no_check: bool,
) -> None:
    """Plan, show, check and write; or the way back."""
    client = CLIENTS[name]
    try:
        path = _path(client, project)
        if undo:
            _undo(options, client, path, called, dry_run)
            return
        entry = _entry(options, client, project)
        if printed:
            click.echo(_snippet(client, called, entry))
            return
        change = planning.connect(client, path, called, entry)
        show(options, change, dry_run)
        found = None if no_check or dry_run else _check(options, entry)
        if not dry_run and change.changes:
            planning.save(change, client, called)
    except planning.NotPossible as error:
        raise Failure(str(error)) from error
    written(options, change, dry_run, _told(found))
    if not dry_run:
        _next(client, name, change.changes, project)


def _undo(options: Globals, client: Client, path: Path, called: str, dry_run: bool) -> None:
    change = planning.undo(client, path, called)
    show(options, change, dry_run)
    if not dry_run and change.changes:
        change.write()
        planning.forget_backup(path)
    written(options, change, dry_run, {})


def _path(client: Client, project: bool) -> Path:
    if not project:
        return client.where(Home(Path.home(), os.environ))
    if client.project is None:
        raise planning.NotPossible(f"{client.title} has no configuration of a project; leave out --project")
    return Path.cwd() / client.project


def _entry(options: Globals, client: Client, project: bool) -> Entry:
    url = server_url(options)
    if url:
        return planning.over_http(client, url, key=bool(os.environ.get(KEY)))
    with refusals(options):
        database = in_force(options).database_url
    if database.startswith("file:"):
        database = str(Path(database_path(database)).absolute())
    return planning.over_stdio(client, database, _space(options, client, project))


def _space(options: Globals, client: Client, project: bool) -> str | None:
    """None where the client starts its servers in the project, whose space is then found there."""
    if options.space or project:
        return space_choice(options).space
    return None if client.at_work else DEFAULT_SPACE


def _check(options: Globals, entry: Entry) -> Called:
    talk("Asking as the client would …")
    try:
        found = call(entry, os.environ, space_choice(options).space if "command" not in entry else None)
    except CallFailed as error:
        raise Failure(
            f"no tool could be called: {error}. Nothing was written; --no-check writes it all the same."
        ) from error
    talk(f"It has {len(found.tools)} tools; a call of memory_stats was answered after {found.seconds:.1f} s.")
    return found


def _told(found: Called | None) -> dict[str, Any]:
    return {} if found is None else {"tools": found.tools, "seconds": round(found.seconds, 3)}


def _snippet(client: Client, called: str, entry: Entry) -> str:
    text = client.form.put("", [*client.holder, called], entry)
    return text.rstrip("\n") if client.form is jsonc else text.strip()


def _next(client: Client, name: str, changed: bool, project: bool) -> None:
    where = " --project" if project else ""
    if changed:
        talk(f"{client.then}. To take it out again: muisti connect {name} --undo{where}")
    else:
        talk("It stands there already.")
