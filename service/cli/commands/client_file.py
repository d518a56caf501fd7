"""The entry of Muisti in the configuration file of an agent client: planned, checked, written, removed."""

import os
from pathlib import Path
from typing import Any

import click

from muisti.client import calls
from muisti.core.model.location import database_path
from muisti.service.cli.commands.clients import apply, show_change
from muisti.service.connect import planning
from muisti.service.connect.calling import TOOL, Called, CallFailed, call
from muisti.service.connect.clients import CLIENTS, KEY, Client, Entry, Home
from muisti.service.connect.planning import Registered, entry_of
from muisti.service.connect.program import Program, given
from muisti.service.connect.program import program as installed
from muisti.service.terminal.base import Failure, Globals
from muisti.service.terminal.configuration import file_of, in_force, place_of
from muisti.service.terminal.opening import client as connection
from muisti.service.terminal.opening import empty
from muisti.service.terminal.output import talk
from muisti.service.terminal.progress import compile_once
from muisti.service.terminal.session import refusals, server_url, space_choice

ROOTS = "roots"  # as the folder: `muisti mcp` asks the client for it


def run(options: Globals, name: str, *, project: bool, called: str, dry_run: bool, **how: Any) -> None:
    """Plan the entry, show it, check it and write it; or remove it."""
    client = CLIENTS[name]
    try:
        path = _path(client, project)
        if how["undo"]:
            _undo(options, client, path, called, dry_run)
            return
        if how["check"]:
            check_existing(options, client, path, called, project=project)
            return
        command = how["command"]
        program = None if server_url(options) else installed() if command is None else given(command)
        groups = _groups(options, how["tools"])
        made = _entry(options, client, program, project, groups)
        if how["printed"]:
            snippet = client.form.put("", [*client.holder, called], made)
            click.echo(snippet.strip())
            return
        change = planning.connect(client, path, called, made)
        show_change(options, change, dry_run)
        found = None if how["no_check"] or dry_run else _check(options, client, program, made, project, groups)
        if not dry_run and change.changes:
            planning.save(change, client, called)
    except planning.NotPossible as error:
        raise Failure(str(error)) from error
    called_tool = {} if found is None else {"tools": found.tools, "seconds": round(found.seconds, 3)}
    apply(options, change, dry_run, called_tool)
    if not dry_run:
        _uses(options, client, project)
        if program is not None and program.clone is not None:
            _moves(program, name)
        _next(client, name, change.changes, project)


def entry(options: Globals, client: Client, program: Program | None, tools: str | None) -> Entry:
    """Return the entry of a client for the user's file.

    Raises:
        NotPossible: the client cannot be connected like this.
    """
    return _entry(options, client, program, False, _groups(options, tools))


def check(options: Globals, client: Client, program: Program | None, tools: str | None) -> None:
    """Call a tool as the client would, before anything is written.

    Raises:
        Failure: no tool could be called.
    """
    groups = _groups(options, tools)
    _check(options, client, program, _entry(options, client, program, False, groups), False, groups)


def _groups(options: Globals, tools: str | None) -> str | None:
    with refusals(options):
        return None if tools is None else in_force(options, {"mcp_tools": tools}).mcp_tools


def _undo(options: Globals, client: Client, path: Path, called: str, dry_run: bool) -> None:
    change = planning.undo(client, path, called)
    show_change(options, change, dry_run)
    if not dry_run and change.changes:
        change.write()
        planning.forget_backup(path)
    apply(options, change, dry_run, {})


def check_existing(options: Globals, client: Client, path: Path, called: str, *, project: bool = False) -> None:
    """Start or reach what the entry names, and call a tool as the client would.

    Raises:
        Failure: there is no entry, its command is gone, or no tool could be called. The message says what to do.
    """
    made = entry_of(client, path, called)
    found = None if made is None else Registered(client, path, project, made)
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


def _path(client: Client, project: bool) -> Path:
    if not project:
        return client.where(Home(Path.home(), os.environ))
    if client.project is None:
        raise planning.NotPossible(f"{client.title} has no configuration of a project; leave out --project")
    return Path.cwd() / client.project


def _stdio(options: Globals, client: Client, project: bool, groups: str | None) -> list[str]:
    """Return further options of `muisti mcp`: how it finds the project of a client that starts it elsewhere."""
    tools = [] if groups is None else ["--tools", groups]
    if client.at_work or _space(options, client, project) is not None:
        return tools
    return ["--folder", client.workspace or ROOTS, *tools]


def _entry(options: Globals, client: Client, program: Program | None, project: bool, groups: str | None) -> Entry:
    url = server_url(options)
    if url or program is None:
        space = _space(options, client, project)
        return planning.over_http(client, url or "", key=bool(os.environ.get(KEY)), tools=groups, space=space)
    with refusals(options):
        database = in_force(options).database_url
    if database.startswith("file:"):
        database = str(Path(database_path(database)).absolute())
    return planning.over_stdio(
        client, program, database, _space(options, client, project), _stdio(options, client, project, groups)
    )


def _space(options: Globals, client: Client, project: bool) -> str | None:
    """Return the space to write into the entry; None when the project that the client works in decides."""
    if options.space or project:
        return space_choice(options).space
    return None


def _check(
    options: Globals, client: Client, program: Program | None, made: Entry, project: bool, groups: str | None
) -> Called:
    """Call a tool as the client would. A space that does not exist yet is replaced by a temporary database."""
    if server_url(options) is None:
        compile_once(options)  # the client would wait for it at its first question
    talk("Calling a tool as the client would …")
    try:
        if program is None:
            found = call(made, os.environ, space_choice(options).space)
        elif _there(options, _space(options, client, project) or space_choice(options).space):
            found = call(made, os.environ, None)
        else:
            with empty(options, "connect") as trial:
                there = database_path(trial.database_url)
                space = _space(options, client, project)
                found = call(
                    planning.over_stdio(client, program, there, space, _stdio(options, client, project, groups)),
                    os.environ,
                    None,
                )
    except CallFailed as error:
        raise Failure(f"no tool could be called: {error}. Nothing was written; --no-check writes it anyway.") from error
    asked = f"a call of {TOOL}" if TOOL in found.tools else "the list of tools"
    talk(f"It has {len(found.tools)} tools; {asked} was answered after {found.seconds:.1f} s.")
    return found


def _there(options: Globals, space: str) -> bool:
    """Tell whether the database has the space. The check creates neither of them."""
    path = file_of(in_force(options))
    if path is not None and not path.exists():
        return False
    with connection(options) as opened:
        return any(one["name"] == space for one in opened.send(calls.list_spaces()).data["items"])


def _uses(options: Globals, client: Client, project: bool) -> None:
    """Say which database and space the client will use, and which space commands here use."""
    if url := server_url(options):
        talk(f"It uses the server {url}; a call may name its space.")
        return
    with refusals(options):
        place = place_of(in_force(options))
    pinned, here = _space(options, client, project), space_choice(options).space
    space = "the space of the project that it works in" if pinned is None else f"the space {pinned}"
    talk(f"It uses the database {place} and {space}.")
    if pinned not in (None, here):
        talk(f"Commands in this folder use the space {here}: --space {here} makes the client use it too.")


def _moves(program: Program, name: str) -> None:
    talk(f"It starts {program.words[0]} of a clone: when the clone moves or goes, the entry breaks.")
    talk(
        "To avoid that: `make dist`, then `uv tool install` (or pipx, or pip) the wheel in dist, then "
        f'`muisti connect {name} --command muisti`; or --command "uvx --from WHEEL muisti".'
    )


def _next(client: Client, name: str, changed: bool, project: bool) -> None:
    where = " --project" if project else ""
    if changed:
        talk(f"{client.then}. To remove it: muisti connect {name} --undo{where}")
    else:
        talk("The entry exists already.")
