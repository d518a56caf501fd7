"""Commands about webhooks, which send the changes of a space to URLs."""

from typing import Any, get_args

import click

from muisti.client import calls
from muisti.core.model.choices import ChangeKind, Show
from muisti.service.terminal.base import Globals, Subcommands
from muisti.service.terminal.options import choice, dry_run, integer
from muisti.service.terminal.output import talk
from muisti.service.terminal.session import ask
from muisti.service.terminal.views import Text, ago_of, cell, listed, said, seq_number

webhook = Subcommands(
    "webhook",
    examples=("muisti webhook create https://hooks.example.com/muisti", "muisti webhook list"),
    help="Send the changes of a space to a URL.\n\nA running server sends them, as signed POST requests, to the hosts "
    "that its setting MUISTI_WEBHOOK_HOSTS allows.",
)


def _letters(one: Any) -> str:
    return ",".join(f"{each['first']}-{each['last']}" for each in one["dead_letters"])


def _state(one: Any) -> Text:
    words = f"{one['state']}: {one['error']}" if one["error"] else one["state"]
    return cell(words, "green" if one["state"] == "ok" else "red")


CREATED = listed({"webhook": "id", "secret": "secret"}, ("id", "secret"))
WEBHOOKS = listed(
    {
        "webhook": "id",
        "URL": "url",
        "state": _state,
        "sent up to": seq_number,
        "last": ago_of("told_at"),
        "failed": "attempts",
        "dead letters": _letters,
    },
    ("id", "url", "state", seq_number, "attempts", _letters, "error"),
    right=("failed",),
    none="There are no webhooks yet: muisti webhook create URL",
)


@webhook.has("muisti webhook create https://hooks.example.com/muisti --change created --change updated")
@click.argument("address", metavar="URL")
@choice("--change changes", "Send only this kind; repeat it.", get_args(ChangeKind), multiple=True)
@choice("--show", "Content of a message.", get_args(Show), default="ids")
@dry_run
def create(options: Globals, address: str, changes: tuple[str, ...], show: str, dry_run: bool) -> None:
    """Send the changes of the space to a URL, from now on.

    Prints the webhook's ID and the secret that signs its messages. The secret is never shown again.
    """
    body = {"url": address, "changes": list(changes), "show": show}
    ask(options, lambda space: calls.create_webhook(space, body, dry_run=dry_run), CREATED)
    if not dry_run:
        talk("The secret is shown once.")


@webhook.has("muisti webhook list", name="list")
def list_webhooks(options: Globals) -> None:
    """List webhooks, with the last change sent and the failures.

    Prints the ID, the URL, the state, the number of the last change that was sent, and the failed attempts since. Then
    follow the ranges of changes that could not be sent, and the last error.
    """
    ask(options, calls.list_webhooks, WEBHOOKS, reads=True)


@webhook.has("muisti webhook delete 5f0b7a1e2b1f")
@click.argument("webhook_id", metavar="ID")
@dry_run
def delete(options: Globals, webhook_id: str, dry_run: bool) -> None:
    """Delete a webhook."""
    deleted = said(f"Deleted {webhook_id}.", webhook_id)
    ask(options, lambda space: calls.delete_webhook(space, webhook_id, dry_run=dry_run), deleted)


@webhook.has("muisti webhook redeliver 5f0b7a1e2b1f")
@click.argument("webhook_id", metavar="ID")
@integer("--since", "Send all changes after number N.", 0)
@dry_run
def redeliver(options: Globals, webhook_id: str, since: int | None, dry_run: bool) -> None:
    """Send again the changes that failed, and all after them."""
    body = {"since": since}
    ask(options, lambda space: calls.redeliver_webhook(space, webhook_id, body, dry_run=dry_run), WEBHOOKS)
