"""Commands that erase permanently: purge, and verify-report for its reports."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.client import names as by_name
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import ERROR, Failure, Globals, command, completes
from muisti.service.terminal.memory_names import NAME, check_name, locate
from muisti.service.terminal.options import JsonObject, flag, group, option
from muisti.service.terminal.output import answer, asking, revised, talk
from muisti.service.terminal.session import Reply, Session, client, follow, session
from muisti.service.terminal.values import Number
from muisti.service.terminal.views import cell, safe, short, tabbed

if TYPE_CHECKING:
    from muisti.service.auth import signing
else:  # cryptography and the core
    signing = Lazy("muisti.service.auth.signing")

LARGE = 1_000  # memories that are erased as a task
EXAMPLES = 3


report_options = group(
    option(
        "--report",
        "File for the signed report.  [default: muisti-purge-ID.json here]",
        click.Path(dir_okay=False, path_type=Path),
    ),
    flag("--no-report", "Write no report; no other copy is kept."),
)


@command(
    "muisti purge 0197a3c0-5f4e-7000-8000-0123456789ab",
    'muisti purge --author "Ann Example" --dry-run',
    'muisti purge --author "Ann Example" --report ann.json',
    'muisti purge --filter \'{"tags": "private"}\' --older-than-days 90',
    "muisti purge --everything --confirm acme.web --space acme.web",
)
@click.argument("name", metavar=f"[{NAME}]", nargs=-1, shell_complete=completes("memory"))
@option("--author", "Memories that ever had this author.")
@option("--source", "Memories that ever had this source.", metavar="TEXT")
@option("--filter", "Memories of which any version ever met this filter.", JsonObject())
@option("--older-than-days", "Memories created longer ago than this.", Number(), metavar="DAYS")
@flag("--everything", "All memories of the space; needs --confirm.")
@option("--confirm", "Name of the space, to confirm --everything.", metavar="SPACE")
@flag("--dry-run", "Count the memories, and erase nothing.")
@flag("--task", "Erase as a task, which goes on without this command.")
@flag("--yes", "Do not ask. Needed in scripts.")
@report_options
def purge(options: Globals, name: tuple[str, ...], *, dry_run: bool, task: bool, yes: bool, **which: Any) -> None:
    """Erase memories permanently, with a signed report.

    Name one memory by its ID or its CATEGORY and KEY, or choose several by author, source, filter or age. Their history
    is erased too, and nothing brings them back. The command shows the number and three examples, and asks; without a
    terminal it needs --yes. Afterwards it searches every place, and prints what is left there. The signed report is
    written to a file, because no other copy is kept. From 1,000 memories on they are erased as a task.
    """
    reported = {field: which.pop(field) for field in ("report", "no_report")}
    body = {field: value for field, value in which.items() if value is not None and value is not False and value != {}}
    everything = "everything" in body
    if bool(name) == bool(body):
        raise click.UsageError("name one memory, or choose memories by options")
    if task and (name or everything):
        raise click.UsageError("--task goes with a choice by author, source, filter or age")
    agreed = dry_run or yes or "confirm" in body
    if not agreed and not asking():
        raise click.UsageError(
            "purge erases permanently: repeat with --yes, or with --dry-run to see what would be erased"
        )
    with session(options) as opened:
        purged = _purge(opened, name, body)
        planned = purged(True) if dry_run or not (name or everything) or not agreed else None
        if planned is not None and not agreed:
            _ask(opened, planned)
        if not dry_run and planned is not None and not (name or everything):
            task = task or planned.data["changes"] >= LARGE
        erase = (lambda: _by_task(options, opened, body)) if task else (lambda: purged(False))
        reply = planned if dry_run and planned else with_report(options, erase, **reported)
        answer(options, reply, lambda data: cell("\n".join(_lines(data))), _lines)
        if not dry_run and not reply.data["report"]["complete"]:
            raise Failure("Something is left; the report says where. Repeat the command later.", ERROR)


def _purge(opened: Session, name: tuple[str, ...], body: dict[str, Any]) -> Callable[[bool], Reply]:
    if not name:
        return lambda dry_run: opened.client.send(calls.purge(opened.space, body, dry_run=dry_run))
    check_name(name)
    found = locate(opened, name)
    return lambda dry_run: opened.client.send(by_name.delete(opened.space, found, purge=True, dry_run=dry_run))


def _by_task(options: Globals, opened: Session, body: dict[str, Any]) -> Reply:
    """Erase the chosen memories as a task, and return its report.

    Raises:
        Failure: the task has failed or was cancelled; what it has erased until then stays erased.
    """
    reply = opened.client.send(calls.purge(opened.space, body, task=True))
    task = follow(options, opened, reply.data)
    if "result" not in task:
        why = task["error"]["detail"] if "error" in task else "it was cancelled"
        raise Failure(f"not all is erased: {why}. The memories that were erased stay so; repeat the command", ERROR)
    return revised(reply, task["result"])


def _ask(opened: Session, planned: Reply) -> None:
    """Show what would be erased, and ask for a confirmation.

    Raises:
        Failure: the person did not confirm.
    """
    count = planned.data["changes"]
    for memory_id in [one["memory_id"] for one in planned.data["items"][:EXAMPLES]]:
        versions = opened.client.send(by_name.history(opened.space, memory_id)).data["items"]
        talk(f"  {memory_id}  {safe(short(versions[0]['memory']['content']))}")
    if count > EXAMPLES:
        talk(f"  and {count - EXAMPLES:,} more")
    many = f"{count:,} {'memory' if count == 1 else 'memories'}"
    if not click.confirm(f"Erase {many} of the space {opened.space} permanently, with their history?", err=True):
        raise Failure("Nothing was erased.")


@command("muisti verify-report ann.json", "muisti verify-report ann.json --keys keys.json", name="verify-report")
@click.argument("report", type=click.File("r", encoding="utf-8"))
@option("--keys", "File with the answer of GET /v1/signing-keys.", click.File("r", encoding="utf-8"))
def verify_report(options: Globals, report: Any, keys: Any) -> None:
    """Check the signature of a purge report.

    REPORT is a file that `muisti purge` wrote. The public keys come from the server or the database; with --keys, from
    a file. The exit code is 1 when the signature is not valid.
    """
    text = report.read().strip()
    try:
        signed = json.loads(text)["signed"] if text.startswith("{") else text
        if keys is not None:
            known = json.load(keys)
        else:
            with client(options) as opened:
                known = opened.send(calls.get_signing_keys()).data
        payload = signing.verified(str(signed), known["keys"])
    except (ValueError, KeyError, TypeError) as error:
        raise Failure("this is no report, or these are no keys") from error
    except signing.Forged as error:
        raise Failure(str(error)) from error
    if options.json:
        click.echo(payload)
        return
    for line in _lines({"report": json.loads(payload)}):
        click.echo(line)
    talk("The signature is valid.")


def _lines(data: Any) -> list[str]:
    report = data["report"]
    return [
        tabbed("report", report["id"], report["ended_at"]),
        *(tabbed("erased", name, count) for name, count in report["erased"].items()),
        *(tabbed("found", name, count) for name, count in report["found"].items()),
        *(tabbed("unchecked", name, why) for name, why in report["unchecked"].items()),
        *(tabbed("relative", memory_id) for memory_id in report["relatives"]),
        tabbed("complete", "yes" if report["complete"] else "no"),
    ]


def with_report(options: Globals, erase: Callable[[], Reply], report: Path | None, no_report: bool) -> Reply:
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
