"""Commands about keys, and the audit log."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import Scope, SourceClass
from muisti.service.cli.base import Command, Globals, Subcommands
from muisti.service.cli.options import Moment, comma_list
from muisti.service.cli.output import ago, answer, cell, grid, tabbed, talk
from muisti.service.cli.session import client, demand, server_url
from muisti.service.schemas.modes import MODES, OVERLAP_SECONDS

if TYPE_CHECKING:
    from rich.table import Table

COMMANDS = {
    "create": ("keys:create", "Create a key, and show it once."),
    "list": ("keys:list_keys", "List keys."),
    "revoke": ("keys:revoke", "Revoke a key now, and every key that was created with it."),
    "rotate": ("keys:rotate", "Replace a key by a new one, and show that once."),
    "clear": ("keys_clear:clear", "Delete all keys, so that requests need none."),
}

ENDED = ("revoked", "expired")  # states of a key that opens nothing
BACK = "`muisti keys clear` on the machine of the database file goes back to a server without keys."

keys = Subcommands(
    "keys",
    commands_at=COMMANDS,
    examples=("muisti keys create --admin", "muisti keys list", "muisti keys revoke 0123456789ab"),
    help="Create, list, revoke and rotate API keys.\n\nClients send a key to a server, which looks up what the key may "
    "do. Once a key exists, every request needs one, until `muisti keys clear`. Without --url the keys in the database "
    "file are changed.",
)


@click.command(
    cls=Command,
    examples=(
        "muisti keys create --admin",
        'muisti keys create "web agent" --mode no-delete --spaces acme.web',
        'muisti keys create notes --mode append-only --spaces "acme.*" --category notes --expires-at 2030-01-01',
    ),
)
@click.argument("name", required=False)
@click.option("--admin", is_flag=True, help="Allow everything in every space.")
@click.option("--mode", type=click.Choice(list(MODES)), help="Allowed operations, as one word; see --scope.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    metavar="NAME",
    help=f"Allowed operation: {', '.join(get_args(Scope))}; repeat it.",
)
@click.option("--spaces", multiple=True, metavar="NAME", help='Allowed space, or "acme.*"; repeat it, or give a,b,c.')
@click.option("--category", metavar="NAME", help="Limit the key to this category.")
@click.option("--source-class", type=click.Choice(get_args(SourceClass)), help="Most trusted source that it may state.")
@click.option(
    "--expires-at",
    "--expires",
    type=Moment(ahead=True),
    metavar="TIME",
    help="When the key stops working: a date, a time, or a span such as 30d.",
)
@click.pass_obj
def create(
    options: Globals,
    name: str | None,
    admin: bool,
    mode: str | None,
    scopes: tuple[str, ...],
    spaces: tuple[str, ...],
    category: str | None,
    source_class: str | None,
    expires_at: str | None,
) -> None:
    """Create a key, and show it once.

    Only a hash of the key is stored. Once a key exists, every request to the server needs one, even after all keys
    expire. `muisti keys clear` deletes all keys.
    """
    if admin and (mode or scopes or spaces or category):
        raise click.UsageError("--admin allows everything; leave out --mode, --scope, --spaces and --category")
    if not admin and (not (mode or scopes) or not spaces):
        raise click.UsageError("say what the key may do: --admin, or --mode (or --scope) together with --spaces")
    body: dict[str, Any] = {"name": name or "admin", "spaces": ["*"] if admin else comma_list(spaces)}
    if not admin and not name:
        raise click.UsageError("give the key a name that says what it is for")
    if admin or scopes:
        body["scopes"] = list(get_args(Scope)) if admin else comma_list(scopes)
    if mode:
        body["mode"] = mode
    body |= {
        name: value
        for name, value in (("category", category), ("source_class", source_class), ("expires_at", expires_at))
        if value
    }
    with client(options, create=True) as opened:
        demand(options, "admin")
        if not opened.send(calls.list_keys()).data["items"]:
            talk("This is the first key: from now on every request to a server needs one, even after all keys expire.")
            talk(BACK)
        reply = opened.send(calls.create_key(body))
        talk("This key is shown once and stored nowhere; keep it with your other secrets.")
        answer(options, reply, table=lambda data: cell(data["key"]), plain=lambda data: [data["key"]])


@click.command("list", cls=Command, examples=("muisti keys list", "muisti keys list --json"))
@click.pass_obj
def list_keys(options: Globals) -> None:
    """List keys, newest first, including revoked and expired ones."""
    with client(options, reads=True) as opened:
        demand(options, "admin")
        answer(
            options,
            opened.send(calls.list_keys()),
            table=_table,
            plain=lambda data: [
                tabbed(one["id"], one["name"], ",".join(one["scopes"]), ",".join(one["spaces"]), _state(one))
                for one in data["items"]
            ],
            none="There are no keys yet: muisti keys create --admin",
        )


@click.command(cls=Command, examples=("muisti keys revoke 0123456789ab", 'muisti keys revoke "web agent"'))
@click.argument("key", metavar="KEY")
@click.pass_obj
def revoke(options: Globals, key: str) -> None:
    """Revoke a key now, and every key that was created with it.

    KEY is an ID or a name. A name that several keys have is refused.
    """
    with client(options) as opened:
        demand(options, "admin")
        key_id = _id_of(key, opened.send(calls.list_keys()).data["items"])
        answer(
            options,
            opened.send(calls.revoke_key(key_id)),
            table=lambda _: cell(f"Revoked {key_id}."),
            plain=lambda _: [tabbed(key_id, "revoked")],
        )
        if server_url(options) is None and all(
            _state(one) in ENDED for one in opened.send(calls.list_keys()).data["items"]
        ):
            talk("No key is valid now, and requests to a server still need one: create another.")
            talk(BACK)


@click.command(cls=Command, examples=("muisti keys rotate 0123456789ab", "muisti keys rotate 0123456789ab --overlap 0"))
@click.argument("key", metavar="KEY")
@click.option(
    "--overlap",
    type=click.IntRange(0, 2_592_000),
    default=OVERLAP_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long the old key still works.",
)
@click.pass_obj
def rotate(options: Globals, key: str, overlap: int) -> None:
    """Replace a key by a new one, and show that once.

    KEY is an ID or a name. A name that several keys have is refused.
    """
    with client(options) as opened:
        demand(options, "admin")
        key_id = _id_of(key, opened.send(calls.list_keys()).data["items"])
        reply = opened.send(calls.rotate_key(key_id, {"overlap_seconds": overlap}))
        talk("This key is shown once and stored nowhere; keep it with your other secrets.")
        answer(options, reply, table=lambda data: cell(data["key"]), plain=lambda data: [data["key"]])


@click.command(cls=Command, examples=("muisti audit", "muisti audit --json"))
@click.option(
    "--limit", type=click.IntRange(1, 100), default=50, show_default=True, help="Show at most this many entries."
)
@click.pass_obj
def audit(options: Globals, limit: int) -> None:
    """Show who administered or deleted what.

    Entries of the audit log, newest first: the time, who acted, the action, the space and the ID.
    """
    with client(options, reads=True) as opened:
        answer(
            options,
            opened.send(calls.list_audit(limit=limit)),
            table=_audit_table,
            plain=lambda data: [
                tabbed(one["at"], one["actor"], one["action"], one["space"], one["target"]) for one in data["items"]
            ],
        )


def _id_of(key: str, known: Sequence[Any]) -> str:
    """Return the ID of the key that has an ID or a name. Keys that ended count only when no open one has the name.

    Raises:
        UsageError: several keys have the name.
    """
    if any(one["id"] == key for one in known):
        return key
    named = [one for one in known if one["name"] == key]
    found = [one for one in named if _state(one) not in ENDED] or named
    if len(found) > 1:
        raise click.UsageError(
            f"{len(found)} keys are named {key!r}; give an ID: {', '.join(one['id'] for one in found)}"
        )
    return found[0]["id"] if found else key


def _table(data: Any) -> "Table":
    now = datetime.now(UTC)
    table = grid(None, "id", "name", "may", "spaces", "category", "last used", "state")
    for one in data["items"]:
        table.add_row(
            cell(one["id"]),
            cell(one["name"]),
            cell(", ".join(one["scopes"])),
            cell(", ".join(one["spaces"])),
            cell(one["category"]),
            ago(one["last_used_at"], now),
            _state(one),
        )
    return table


def _audit_table(data: Any) -> "Table":
    now = datetime.now(UTC)
    table = grid(None, "when", "who", "what", "space", "id")
    for one in data["items"]:
        table.add_row(
            ago(one["at"], now), cell(one["actor"]), cell(one["action"]), cell(one["space"]), cell(one["target"])
        )
    return table


def _state(one: Any) -> str:
    if one["revoked_at"]:
        return "revoked"
    ends = one["expires_at"]
    if ends and datetime.fromisoformat(ends) <= datetime.now(UTC):
        return "expired"
    return f"until {ends}" if ends else "open"
