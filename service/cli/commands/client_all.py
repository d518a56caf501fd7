"""`muisti connect all` and `muisti connect status`: every client of this machine together."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from muisti.service.cli.commands import client_file
from muisti.service.cli.commands.clients import hook_options, show_change, skill_text
from muisti.service.connect import everything, hooks, planning
from muisti.service.connect.clients import CLIENTS, Client, Home
from muisti.service.connect.planning import Change
from muisti.service.connect.program import given
from muisti.service.connect.program import program as installed
from muisti.service.terminal.base import Failure, Globals
from muisti.service.terminal.output import print_json, talk
from muisti.service.terminal.session import server_url
from muisti.service.terminal.views import tabbed

WORDS = {True: "yes", False: "no", None: "-"}


def run(options: Globals, *, status: bool, **how: Any) -> None:
    """Show who has what; or plan the changes of every client that is present, show them, and write them."""
    home = Home(Path.home(), os.environ)
    if how["project"] or how["printed"] or how["called"] != everything.NAME:
        raise click.UsageError("all clients together take neither --project, --print nor --as; name one client")
    if status:
        _show_status(options, home)
        return
    present = [client for client in CLIENTS.values() if client.is_present(home)]
    if not present:
        raise Failure("no agent client was found here; `muisti connect CLIENT` connects one all the same")
    if how["check"]:
        _check(options, home, present)
        return
    planned = {client: found for client in present if (found := _plan(options, home, client, how))}
    for changes in planned.values():
        for change in changes:
            show_change(options, change, how["dry_run"])
    if not (how["dry_run"] or how["undo"] or how["no_check"]) and planned:
        client_file.check(options, next(iter(planned)), None if server_url(options) else _program(how), how["tools"])
    if not how["dry_run"]:
        for client, changes in planned.items():
            _save(home, client, changes)
    _report(options, home, planned, how)


def _plan(options: Globals, home: Home, client: Client, how: dict[str, Any]) -> Sequence[Change]:
    """Return the changes of a client; none, with the reason on stderr, for one that cannot be changed."""
    try:
        if how["undo"]:
            return everything.undo(client, home, skill_text())
        program = None if server_url(options) else _program(how)
        entry = client_file.entry(options, client, program, how["tools"])
        return everything.connect(client, home, entry, hook_options(options), skill_text())
    except planning.NotPossible as error:
        talk(f"{client.title} stays as it is: {error}")
        return ()


def _program(how: dict[str, Any]) -> Any:
    return installed() if how["command"] is None else given(how["command"])


def _save(home: Home, client: Client, changes: Sequence[Change]) -> None:
    try:
        everything.save(client, home, changes)
    except planning.NotPossible as error:
        raise Failure(str(error)) from error


def _report(options: Globals, home: Home, planned: dict[Client, Sequence[Change]], how: dict[str, Any]) -> None:
    rows = [(client.name, change) for client, changes in planned.items() for change in changes]
    if options.json:
        report = [{"client": name, "file": str(one.path), "diff": one.diff()} for name, one in rows]
        print_json({"dry_run": how["dry_run"], "changes": report})
        return
    if not how["dry_run"]:
        for name, one in rows:
            click.echo(tabbed(name, one.path, "removed" if one.after is None else "changed"))
    if not rows:
        talk("Nothing to change.")
    elif not how["dry_run"] and not how["undo"]:
        talk("Restart the clients. To remove it all: muisti connect all --undo")


def _check(options: Globals, home: Home, present: Sequence[Client]) -> None:
    """Call a tool as each client would.

    Raises:
        Failure: one of them has no entry, or its call failed.
    """
    failed = 0
    for client in present:
        try:
            client_file.check_existing(options, client, client.where(home), everything.NAME)
            _check_hooks(client, home)
            click.echo(tabbed(client.name, "works"))
        except Failure as error:
            failed += 1
            click.echo(tabbed(client.name, str(error)))
    if failed:
        raise Failure(f"{failed} of {len(present)} clients cannot use Muisti")


def _check_hooks(client: Client, home: Home) -> None:
    """Check that what the hooks of a client start is there.

    Raises:
        Failure: it is gone, or a file cannot be read.
    """
    place = hooks.HOOKS.get(client.name)
    try:
        gone = None if place is None else hooks.missing(client.name, place.where(home))
    except planning.NotPossible as error:
        raise Failure(str(error)) from error
    if gone:
        raise Failure(f"its hooks start {gone}, which is gone. `muisti connect all` writes them again.")


def _show_status(options: Globals, home: Home) -> None:
    found = [everything.parts(client, home) for client in CLIENTS.values()]
    if options.json:
        names = ("present", "entry", "hooks", "skill")
        print_json([{"client": one.client.name} | {name: getattr(one, name) for name in names} for one in found])
        return
    click.echo(tabbed("client", "found", "server", "hooks", "skill"))
    for one in found:
        states = (WORDS[value] for value in (one.present, one.entry, one.hooks, one.skill))
        click.echo(tabbed(one.client.name, *states))
