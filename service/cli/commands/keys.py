"""Commands about keys, and the audit log."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.choices import Scope, SourceClass
from muisti.core.support.lazy import Lazy
from muisti.service.schemas.access_modes import MODES, OVERLAP_SECONDS
from muisti.service.terminal.base import Failure, Globals, Subcommands, command
from muisti.service.terminal.options import Moment, choice, comma_list, dry_run, flag, integer, limit, option
from muisti.service.terminal.output import answer, asking, show, talk
from muisti.service.terminal.session import Client, Reply, client, demand, file_of, refusals, server_url, settings_for
from muisti.service.terminal.views import ago_of, listed, said

if TYPE_CHECKING:
    from muisti.core.engine import Engine
    from muisti.service.runtime import running
    from muisti.service.settings import Settings
    from muisti.service.settings import sources as checks
else:  # with the core
    running = Lazy("muisti.service.runtime.running")
    checks = Lazy("muisti.service.settings.sources")


ENDED = ("revoked", "expired")  # states of a key that opens nothing
BACK = "`muisti keys clear` on the machine of the database file goes back to a server without keys."

keys = Subcommands(
    "keys",
    examples=("muisti keys create --admin", "muisti keys list", "muisti keys revoke 0123456789ab"),
    help="Create, list, revoke and rotate API keys.\n\nClients send a key to a server, which looks up what the key may "
    "do. Once a key exists, every request needs one, until `muisti keys clear`. Without --url the keys in the database "
    "file are changed.",
)


def _state(one: Any) -> str:
    if one["revoked_at"]:
        return "revoked"
    ends = one["expires_at"]
    if ends and datetime.fromisoformat(ends) <= datetime.now(UTC):
        return "expired"
    return f"until {ends}" if ends else "open"


KEYS = listed(
    {
        "id": "id",
        "name": "name",
        "may": lambda one: ", ".join(one["scopes"]),
        "spaces": lambda one: ", ".join(one["spaces"]),
        "category": "category",
        "last used": ago_of("last_used_at"),
        "state": _state,
    },
    ("id", "name", lambda one: ",".join(one["scopes"]), lambda one: ",".join(one["spaces"]), _state),
    none="There are no keys yet: muisti keys create --admin",
)
AUDIT = listed(
    {"when": ago_of("at"), "who": "actor", "what": "action", "space": "space", "id": "target"},
    ("at", "actor", "action", "space", "target"),
)


ONLY_HERE = "keys clear works on a database file, on the machine that holds it"
MEANING = (
    "All clients lose access with their keys, and every program on this machine can then read and change all spaces."
)


@keys.has(
    "muisti keys create --admin",
    'muisti keys create "web agent" --mode no-delete --spaces acme.web',
    'muisti keys create notes --mode append-only --spaces "acme.*" --category notes --expires-at 2030-01-01',
)
@click.argument("name", required=False)
@flag("--admin", "Allow everything in every space.")
@choice("--mode", "Allowed operations, as one word; see --scope.", list(MODES))
@option("--scope scopes", f"Allowed operation: {', '.join(get_args(Scope))}; repeat it.", multiple=True)
@option("--spaces", 'Allowed space, or "acme.*"; repeat it, or give a,b,c.', multiple=True)
@option("--category", "Limit the key to this category.")
@choice("--source-class", "Most trusted source that it may state.", get_args(SourceClass))
@option(
    "--expires-at --expires", "When the key stops working: a date, a time, or a span such as 30d.", Moment(ahead=True)
)
def create(options: Globals, name: str | None, *, admin: bool, **given: Any) -> None:
    """Create a key, and show it once.

    Only a hash of the key is stored. Once a key exists, every request to the server needs one, even after all keys
    expire. `muisti keys clear` deletes all keys.
    """
    scopes, spaces = comma_list(given.pop("scopes")), comma_list(given.pop("spaces"))
    given = {field: value for field, value in given.items() if value}
    if admin and (scopes or spaces or "mode" in given or "category" in given):
        raise click.UsageError("--admin allows everything; leave out --mode, --scope, --spaces and --category")
    if not admin and not (spaces and (scopes or "mode" in given)):
        raise click.UsageError("say what the key may do: --admin, or --mode (or --scope) together with --spaces")
    if not admin and not name:
        raise click.UsageError("give the key a name that says what it is for")
    body = {"name": name or "admin", "spaces": ["*"] if admin else spaces, **given}
    if admin or scopes:
        body["scopes"] = [*get_args(Scope)] if admin else scopes
    with client(options, create=True) as opened:
        demand(options, "admin")
        if not _all(opened):
            talk("This is the first key: from now on every request to a server needs one, even after all keys expire.")
            talk(BACK)
        _show(options, opened.send(calls.create_key(body)))


@keys.has("muisti keys list", "muisti keys list --json", name="list")
def list_keys(options: Globals) -> None:
    """List keys, newest first, including revoked and expired ones."""
    with client(options, reads=True) as opened:
        demand(options, "admin")
        answer(options, opened.send(calls.list_keys()), *KEYS)


@keys.has("muisti keys revoke 0123456789ab", 'muisti keys revoke "web agent"')
@click.argument("key", metavar="KEY")
def revoke(options: Globals, key: str) -> None:
    """Revoke a key now, and every key that was created with it.

    KEY is an ID or a name. A name that several keys have is refused.
    """
    with client(options) as opened:
        demand(options, "admin")
        key_id = _id_of(key, _all(opened))
        answer(options, opened.send(calls.revoke_key(key_id)), *said(f"Revoked {key_id}.", key_id, "revoked"))
        if server_url(options) is None and all(_state(one) in ENDED for one in _all(opened)):
            talk("No key is valid now, and requests to a server still need one: create another.")
            talk(BACK)


@keys.has("muisti keys rotate 0123456789ab", "muisti keys rotate 0123456789ab --overlap 0")
@click.argument("key", metavar="KEY")
@integer("--overlap", "How long the old key still works.", 0, 2_592_000, metavar="SECONDS", default=OVERLAP_SECONDS)
def rotate(options: Globals, key: str, overlap: int) -> None:
    """Replace a key by a new one, and show that once.

    KEY is an ID or a name. A name that several keys have is refused.
    """
    with client(options) as opened:
        demand(options, "admin")
        key_id = _id_of(key, _all(opened))
        _show(options, opened.send(calls.rotate_key(key_id, {"overlap_seconds": overlap})))


def _show(options: Globals, reply: Reply) -> None:
    talk("This key is shown once and stored nowhere; keep it with your other secrets.")
    answer(options, reply, *said(reply.data["key"], reply.data["key"]))


@command("muisti audit", "muisti audit --json")
@limit("Show at most this many entries.")
def audit(options: Globals, limit: int) -> None:
    """Show who administered or deleted what.

    Entries of the audit log, newest first: the time, who acted, the action, the space and the ID.
    """
    with client(options, reads=True) as opened:
        answer(options, opened.send(calls.list_audit(limit=limit)), *AUDIT)


def _all(opened: Client) -> Sequence[Any]:
    return opened.send(calls.list_keys()).data["items"]


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


@keys.has("muisti keys clear", "muisti keys clear --yes", "muisti keys clear --dry-run")
@flag("--yes", "Delete without asking; needed where nobody can be asked.")
@dry_run
def clear(options: Globals, *, yes: bool, dry_run: bool) -> None:
    """Delete all keys, so that requests need none, as before the first key.

    Every program on this machine can then read and change all spaces. Other machines cannot: a server without keys
    listens on this machine only, unless MUISTI_INSECURE is on. Keys that were deleted open nothing for ever, and
    sessions of the console end. A server that runs asks for a key until it is restarted. The command works on the
    database file alone, never over HTTP. Prints how many keys were deleted; the audit log notes it.
    """
    if server_url(options):
        raise click.UsageError(f"{ONLY_HERE}: run it there, without --url and MUISTI_URL")
    if not (yes or dry_run or asking()):
        raise click.UsageError("keys clear deletes all keys: repeat with --yes, or with --dry-run to count them")
    with refusals(options):
        demand(options, "admin")
        settings = settings_for(options)
        if file_of(settings) is None:
            raise click.UsageError(f"{ONLY_HERE}; this database is on a server")
        with options.application.open_here(settings) as engine:
            count = _cleared(engine, yes=yes, dry_run=dry_run)
    show(options, {"deleted": count, "dry_run": dry_run}, lambda _: str(count), lambda _: [str(count)])
    if count and not dry_run:
        _say_what_remains(settings)


def _cleared(engine: "Engine", *, yes: bool, dry_run: bool) -> int:
    """Delete all keys, and return how many there were.

    Raises:
        Failure: there are none, or the person did not agree.
    """
    count = len(engine.keys.all())
    if not count:
        raise Failure("There are no keys; requests need none.")
    if dry_run:
        return count
    if not yes:
        talk(MEANING)
        if not click.confirm("Delete the key?" if count == 1 else f"Delete all {count:,} keys?", err=True):
            raise Failure("Nothing was deleted.")
    return engine.keys.clear(engine.now())


def _say_what_remains(settings: "Settings") -> None:
    if checks.asks(settings):
        talk("The settings name an administrator's key or an issuer of tokens: a server with them still asks for one.")
    path = file_of(settings)
    found = None if path is None else running.running_on(path)
    if found is not None:
        talk(f"The server at {found.url} (pid {found.pid}) asks for a key until it is restarted.")
    talk("`muisti keys create --admin` makes a first key again.")
