"""Signed reports of erasures. No other copy is kept, so every command that erases permanently writes one."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muisti.service.cli.base import Failure, Globals
from muisti.service.cli.output import talk

if TYPE_CHECKING:
    from muisti.service.app.client import Reply

F = TypeVar("F", bound=Callable[..., Any])


def report_options(command: F) -> F:
    """Add --report and --no-report to a command."""
    where = click.option(
        "--report",
        type=click.Path(dir_okay=False, path_type=Path),
        help="File for the signed report.  [default: muisti-purge-ID.json here]",
    )
    none = click.option("--no-report", is_flag=True, help="Write no report; no other copy is kept.")
    return where(none(command))


def with_report(options: Globals, erase: Callable[[], "Reply"], report: Path | None, no_report: bool) -> "Reply":
    """Erase, and write the signed report. An erasure is reported only once, so the file is tested before it.

    Raises:
        Failure: the report cannot be written, and nothing was erased.
    """
    if no_report and report is not None:
        raise click.UsageError("give --report or --no-report, not both")
    if no_report:
        return erase()
    part = (report or Path("muisti-purge.json")).with_suffix(f".{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
    except OSError as error:
        raise Failure(
            f"the report cannot be written to {part.parent.absolute()} ({error.strerror}); nothing was erased. Name a "
            "place with --report, or do without it with --no-report"
        ) from error
    try:
        reply = erase()
        name = report or Path(f"muisti-purge-{reply.data['report']['id']}.json")
        _write(part, name, reply.body)
    finally:
        part.unlink(missing_ok=True)
    talk(f"The signed report is in {name}: `muisti verify-report {name}` checks it.")
    return reply


def _write(part: Path, name: Path, body: bytes) -> None:
    try:
        part.write_bytes(body)
        part.replace(name)
    except OSError as error:
        talk(f"The report could not be written to {name} ({error.strerror}); here it is:")
        talk(body.decode())
