"""Commands about webhooks, which send the changes of a space to URLs."""

from typing import Any

from muisti.client import calls
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.output import talk
from muisti.service.terminal.views import Text, ago_of, cell, listed, said, seq_number

webhook = Operations(
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


webhook.call(
    "create URL=url --change=changes --show --dry-run",
    calls.create_webhook,
    CREATED,
    "muisti webhook create https://hooks.example.com/muisti --change created --change updated",
    help="""Send the changes of the space to a URL, from now on.

    Prints the webhook's ID and the secret that signs its messages. The secret is never shown again.
    """,
    texts={"changes": "Send only this kind; repeat it."},
    then=lambda _, data: None if "dry_run" in data else talk("The secret is shown once."),
)
webhook.call(
    "list",
    calls.list_webhooks,
    WEBHOOKS,
    prints="the ID, the URL, the state, the last change sent, the failed attempts since, the changes that could not be "
    "sent, and the last error",
)
webhook.call(
    "delete ID=webhook_id --dry-run",
    calls.delete_webhook,
    lambda given: said(f"Deleted {given['webhook_id']}.", given["webhook_id"]),
    "muisti webhook delete 5f0b7a1e2b1f",
)
webhook.call(
    "redeliver ID=webhook_id --since --dry-run",
    calls.redeliver_webhook,
    WEBHOOKS,
    "muisti webhook redeliver 5f0b7a1e2b1f",
    texts={"since": "Send all changes after number N."},
)
