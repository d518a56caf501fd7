"""Commands about erasing for good: purge and verify-report."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from service.cli.base import ERROR, Command, Failure, Globals
from service.cli.naming import check_name, find, find_id
from service.cli.options import JsonObject
from service.cli.output import answer, cell, tabbed, talk
from service.cli.session import client, session


@click.command(
    cls=Command,
    examples=(
        "muisti purge 0197a3c0-5f4e-7000-8000-0123456789ab",
        'muisti purge --author "Ann Example" --dry-run',
        'muisti purge --author "Ann Example" --report ann.json',
        'muisti purge --filter \'{"tags": "private"}\' --older-than-days 90',
        "muisti purge --everything --confirm acme.web --space acme.web",
    ),
)
@click.argument("name", metavar="[ID | CATEGORY KEY]", nargs=-1)
@click.option("--author", metavar="NAME", help="Memories that ever bore this author.")
@click.option("--source", metavar="TEXT", help="Memories that ever came from this source.")
@click.option("--filter", "filter_", type=JsonObject(), metavar="JSON", help="Memories that ever met a filter.")
@click.option("--older-than-days", type=float, metavar="DAYS", help="Memories that were created before.")
@click.option("--everything", is_flag=True, help="All that is in the space; needs --confirm.")
@click.option("--confirm", metavar="SPACE", help="The name of the space, typed once more.")
@click.option("--dry-run", is_flag=True, help="Count, and erase nothing.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write the signed report to a file.")
@click.pass_obj
def purge(
    options: Globals,
    name: tuple[str, ...],
    author: str | None,
    source: str | None,
    filter_: dict[str, Any] | None,
    older_than_days: float | None,
    everything: bool,
    confirm: str | None,
    dry_run: bool,
    report: Path | None,
) -> None:
    """Erase memories for good, with a signed report.

    One by its ID or its CATEGORY and KEY, or those of an author, a source, a filter, an age. Their history goes too,
    and nothing brings them back.
    Prints where it was looked for and how much was found; the signed report is kept nowhere else: --report saves it.
    """
    given = {"author": author, "source": source, "older_than_days": older_than_days, "confirm": confirm}
    body: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    body |= {"filter": filter_} if filter_ else {}
    body |= {"everything": True} if everything else {}
    if bool(name) == bool(body):
        raise click.UsageError("name one memory, or say by options which to erase")
    with session(options) as opened:
        if name:
            check_name(name)
            memory_id = find_id(opened, name[0]) if len(name) == 1 else opened.read(lambda: find(opened, name))["id"]
            reply = opened.read(lambda: opened.client.purge(opened.space, memory_id, dry_run=dry_run))
        else:
            reply = opened.read(lambda: opened.client.purge_some(opened.space, body, dry_run=dry_run))
        if report is not None:
            report.write_bytes(reply.body)
        answer(options, reply, table=lambda data: cell("\n".join(_lines(data))), plain=_lines)
        if not dry_run and not reply.data["report"]["complete"]:
            raise Failure("Something is left; the report says where. Repeat this when it is free.", ERROR)


@click.command(
    "verify-report",
    cls=Command,
    examples=("muisti verify-report ann.json", "muisti verify-report ann.json --keys keys.json"),
)
@click.argument("report", type=click.File("r", encoding="utf-8"))
@click.option("--keys", type=click.File("r", encoding="utf-8"), help="Answer of GET /v1/signing-keys; else asked for.")
@click.pass_obj
def verify_report(options: Globals, report: Any, keys: Any) -> None:
    """Check who signed the report of a purge.

    REPORT is what `muisti purge --report` wrote. The keys are those of the server or of the database, or of a file.
    Exit code 1 when the signature does not hold.
    """
    text, signing = report.read().strip(), import_module("service.signing")
    try:
        signed = json.loads(text)["signed"] if text.startswith("{") else text
        known = json.load(keys) if keys is not None else _keys(options)
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
    talk("The signature holds.")


def _keys(options: Globals) -> Any:
    with client(options) as opened:
        return opened.signing_keys().data


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
