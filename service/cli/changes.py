"""Output about a change to another program's file: its diff, and then the result."""

from collections.abc import Mapping
from typing import Any

import click

from muisti.service.cli.base import Globals
from muisti.service.cli.output import cell, console, print_json, safe, tabbed
from muisti.service.connect.files import Change, backup_of

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show(options: Globals, change: Change, dry_run: bool) -> None:
    """Print the diff: on stdout for a dry run, else on stderr."""
    if options.json:
        return
    screen = console(options, stderr=not dry_run)
    for line in change.diff():
        if screen.is_terminal:
            screen.print(cell(line, STYLES.get(line[:1], "")), soft_wrap=True)
        else:
            click.echo(safe(line), err=not dry_run)


def written(options: Globals, change: Change, dry_run: bool, more: Mapping[str, Any]) -> None:
    """Print the file and whether it was changed, unchanged or removed."""
    state = "unchanged" if not change.changes else "removed" if change.after is None else "changed"
    backup = backup_of(change.path)
    kept = str(backup) if backup.exists() else None
    if options.json:
        report = {"file": str(change.path), "state": state, "dry_run": dry_run, "backup": kept, "diff": change.diff()}
        print_json({**report, **more})
    elif not dry_run:
        click.echo(tabbed(change.path, state))
