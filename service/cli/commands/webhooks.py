"""Commands about webhooks, which send the changes of a space to URLs."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import ChangeKind, Show
from muisti.service.cli.base import Command, Globals, Subcommands
from muisti.service.cli.options import dry_run_option
from muisti.service.cli.output import ago, answer, cell, grid, tabbed, talk
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table

COMMANDS = {
    "create": ("webhooks:create", "Send the changes of the space to a URL, from now on."),
    "list": (
        "webhooks:list_webhooks",
        "List webhooks, with the last change sent and the failures.",
    ),
    "delete": ("webhooks:delete", "Delete a webhook."),
    "redeliver": ("webhooks:redeliver", "Send again the changes that failed, and all after them."),
}

webhook = Subcommands(
    "webhook",
    commands_at=COMMANDS,
    examples=("muisti webhook create https://hooks.example.com/muisti", "muisti webhook list"),
    help="Send the changes of a space to a URL.\n\nA running server sends them, as signed POST requests, to the hosts "
    "that its setting MUISTI_WEBHOOK_HOSTS allows.",
)


@click.command(
    cls=Command,
    examples=("muisti webhook create https://hooks.example.com/muisti --change created --change updated",),
)
@click.argument("address", metavar="URL")
@click.option(
    "--change",
    "changes",
    type=click.Choice(get_args(ChangeKind)),
    multiple=True,
    help="Send only this kind; repeat it.",
)
@click.option(
    "--show", type=click.Choice(get_args(Show)), default="ids", show_default=True, help="Content of a message."
)
@dry_run_option
@click.pass_obj
def create(options: Globals, address: str, changes: tuple[str, ...], show: str, dry_run: bool) -> None:
    """Send the changes of the space to a URL, from now on.

    Prints the webhook's ID and the secret that signs its messages. The secret is never shown again.
    """
    body = {"url": address, "changes": list(changes), "show": show}
    with session(options) as opened:
        reply = opened.client.send(calls.create_webhook(opened.space, body, dry_run=dry_run))
        answer(options, reply, table=_made, plain=lambda data: [tabbed(data["id"], data["secret"])])
        if not dry_run:
            talk("The secret is shown once.")


@click.command("list", cls=Command, examples=("muisti webhook list",))
@click.pass_obj
def list_webhooks(options: Globals) -> None:
    """List webhooks, with the last change sent and the failures.

    Prints the ID, the URL, the state, the number of the last change that was sent, and the failed attempts since. Then
    follow the ranges of changes that could not be sent, and the last error.
    """
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.list_webhooks(opened.space))
        answer(
            options,
            reply,
            table=_table,
            plain=lambda data: [tabbed(*_line(one)) for one in data["items"]],
            none="There are no webhooks yet: muisti webhook create URL",
        )


@click.command(cls=Command, examples=("muisti webhook delete 5f0b7a1e2b1f",))
@click.argument("webhook_id", metavar="ID")
@dry_run_option
@click.pass_obj
def delete(options: Globals, webhook_id: str, dry_run: bool) -> None:
    """Delete a webhook."""
    with session(options) as opened:
        reply = opened.client.send(calls.delete_webhook(opened.space, webhook_id, dry_run=dry_run))
        answer(options, reply, table=lambda _: cell(f"Deleted {webhook_id}."), plain=lambda _: [webhook_id])


@click.command(cls=Command, examples=("muisti webhook redeliver 5f0b7a1e2b1f",))
@click.argument("webhook_id", metavar="ID")
@click.option("--since", type=click.IntRange(min=0), metavar="N", help="Send all changes after number N.")
@dry_run_option
@click.pass_obj
def redeliver(options: Globals, webhook_id: str, since: int | None, dry_run: bool) -> None:
    """Send again the changes that failed, and all after them."""
    with session(options) as opened:
        request = calls.redeliver_webhook(opened.space, webhook_id, {"since": since}, dry_run=dry_run)
        reply = opened.client.send(request)
        answer(options, reply, table=lambda data: _table({"items": [data]}), plain=lambda data: [tabbed(*_line(data))])


def _line(one: Any) -> list[str]:
    letters = ",".join(f"{each['first']}-{each['last']}" for each in one["dead_letters"])
    return [one["id"], one["url"], one["state"], _number(one), str(one["attempts"]), letters, one["error"] or ""]


def _number(one: Any) -> str:
    return one["seq"].rpartition(":")[2]


def _made(data: Any) -> "Table":
    table = grid(None, "webhook", "secret")
    table.add_row(cell(data["id"]), cell(data["secret"]))
    return table


def _table(data: Any) -> "Table":
    now = datetime.now(UTC)
    table = grid(None, "webhook", "URL", "state", "sent up to", "last", "failed", "dead letters", right=("failed",))
    for one in data["items"]:
        id_, url, state, number, attempts, letters, error = _line(one)
        table.add_row(
            cell(id_),
            cell(url),
            cell(f"{state}: {error}" if error else state, "green" if state == "ok" else "red"),
            number,
            ago(one["told_at"], now),
            attempts,
            cell(letters),
        )
    return table
