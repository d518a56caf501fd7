"""Commands about spaces: which one is used here, which there are, and the policy of one."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.choices import (
    CLEAR_PHRASE,
    HALF_LIFE_MIN,
    LIMIT_MAX,
    SIMILARITY_MIN,
    Echoes,
    GraphSwitch,
    Screening,
)
from muisti.service.erasure.commands import report_options, with_report
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.client import ApiError
from muisti.service.terminal.options import (
    OrDefault,
    allow_secrets,
    choice,
    comma_list,
    dry_run,
    flag,
    option,
)
from muisti.service.terminal.output import answer, print_json, revised, talk
from muisti.service.terminal.session import Client, Reply, ask, client, session, space_choice
from muisti.service.terminal.values import OneOf
from muisti.service.terminal.views import (
    ago_of,
    alike,
    grid,
    listed,
    safe,
    said,
    same,
    seq_number,
    short,
    tabbed,
    whole,
)

if TYPE_CHECKING:
    from pathlib import Path


def _differences(data: Any) -> Iterator[tuple[str, ...]]:
    for one in data["items"]:
        who = "conflict" if one["conflict"] else "theirs" if one["there"] or one["ours"] is None else "ours"
        changes = one["there"] if who == "theirs" else one["here"] if who == "ours" else []
        for each in changes:
            yield who, one["id"], each["field"], short(each["before"]), short(each["after"])
        if not changes:
            ours, theirs = (None if one[side] is None else one[side]["content"] for side in ("ours", "theirs"))
            yield who, one["id"], "content", short(ours), short(theirs)


DIFFERENCES = alike(
    ("who", "memory", "field", "was or ours", "is or theirs"), _differences, none="A merge would change nothing."
)
MERGED = same("added", "changed", "ended")
CLEARED = listed(
    {"deleted": "ended", "to undo this": lambda data: f"muisti rollback {data['before'].rpartition(':')[2]}"},
    ("ended",),
)
SPACES = listed(
    {"space": "name", "changes": seq_number, "made": ago_of("created_at")},
    ("name", "seq", "created_at"),
    right=("changes",),
)


def _shown(options: Globals) -> None:
    choice = space_choice(options)
    if options.json:
        print_json({"space": choice.space, "why": choice.why})
    else:
        click.echo(safe(f"{choice.space}\t{choice.why}"))


@click.group(
    "space",
    cls=Operations,
    invoke_without_command=True,
    examples=("muisti space", "muisti space fork try", "muisti space merge try default"),
)
@click.pass_context
def space(context: click.Context) -> None:
    """Show which space is used here, and why.

    A space is a separate set of memories. Its name comes from the first of these: --space, MUISTI_SPACE, the git remote
    origin, the folder of the git repository, the working directory. The commands below list, create, fork, compare,
    merge and erase spaces.
    """
    if context.invoked_subcommand is None:
        _shown(context.ensure_object(Globals))


@space.has("muisti space which --json")
def which(options: Globals) -> None:
    """Show which space is used here, and why. Needs neither a server nor a database."""
    _shown(options)


def _listed(options: Globals) -> None:
    """List the spaces."""
    with client(options, reads=True) as opened:
        answer(options, opened.send(calls.list_spaces()), *SPACES)


space.has("muisti space list", name="list")(_listed)
spaces = command("muisti spaces", "muisti spaces --url http://127.0.0.1:8321", name="spaces")(_listed)


@space.has("muisti space create notes", 'muisti space create shop --description "What customers want"')
@click.argument("name")
@option("--description", "What the space is for.", metavar="TEXT")
@dry_run
def create(options: Globals, name: str, description: str | None, dry_run: bool) -> None:
    """Create an empty space."""
    body = {"name": name, **({} if description is None else {"description": description})}
    with client(options, create=not dry_run, reads=dry_run) as opened:
        reply = opened.send(calls.create_space(body, dry_run=dry_run))
        if dry_run and not options.json:
            talk(f"Nothing was stored. It would make the space {name}.")
            return
        answer(options, reply, *said(f"Made the space {name}.", name))


@space.has("muisti space fork try")
@click.argument("name")
@dry_run
def fork(options: Globals, name: str, dry_run: bool) -> None:
    """Copy the current space to a new one.

    The copies of the memories have new IDs. Work in the copy with --space NAME; later merge it with `muisti space
    merge`, or delete it.
    """
    copied = said(f"Copied {space_choice(options).space} to {name}.", name)
    ask(options, lambda space: calls.fork_space(space, {"name": name}, dry_run=dry_run), copied)


space.call(
    "warm",
    calls.warm_space,
    same("loaded", "seconds", "model"),
    "muisti space warm",
    prints="whether the index was loaded, the seconds that took, and the model",
)
space.call(
    "compare OTHER --limit --cursor",
    calls.compare_spaces,
    DIFFERENCES,
    "muisti space compare try",
    help="""Show what a merge of another space into this one would change.

    Prints for each difference the space that changed the memory (ours, theirs, conflict) and its ID here. Then follow a
    field with its old and new value, or the content here and there.
    """,
)


@space.has("muisti space merge try default", "muisti space merge old-name new-name --drop")
@click.argument("from_", metavar="FROM")
@click.argument("into", metavar="INTO")
@choice("--strategy", "Space that wins when both changed a memory.", ["ours", "theirs"])
@flag("--drop", "Erase FROM after the merge.")
@allow_secrets
@dry_run
def merge(options: Globals, from_: str, into: str, *, strategy: str | None, drop: bool, dry_run: bool) -> None:
    """Merge the changes of one space into another.

    INTO takes over what FROM has changed since the fork or the last merge; of a space that is no fork, all memories are
    added. The merge does everything or nothing. If both changed a memory, it fails unless --strategy is given. Prints
    how many memories were added, changed and ended. A repeated merge with --drop, whose space is already erased, exits
    with 0.
    """
    with client(options) as opened:
        try:
            body = {"from": from_, "strategy": strategy, "drop": drop}
            reply = opened.send(calls.merge_spaces(into, body, dry_run=dry_run))
        except ApiError as error:
            if not (drop and error.status == 404 and _was_merged(opened, from_, into)):
                raise
            talk(f"Nothing to do: {from_} was merged into {into} before, and erased.")
            return
        answer(options, reply, *MERGED)


@space.has("muisti space delete try --confirm try")
@click.argument("name")
@option("--confirm", "The name again, to confirm.", required=True)
@dry_run
@report_options
def delete(options: Globals, name: str, *, confirm: str, dry_run: bool, report: "Path | None", no_report: bool) -> None:
    """Erase a space and all its memories. This cannot be undone."""
    if confirm != name:
        raise click.UsageError(f"--confirm says {confirm!r}; to erase the space it must say {name!r}")
    with client(options) as opened:
        request = calls.delete_space(name, confirm=name, dry_run=dry_run)
        if dry_run:
            reply = opened.send(request)
        else:
            reply = with_report(options, lambda: opened.send(request), report, no_report)
        answer(options, reply, *said(f"Erased the space {name}.", name))


@space.has("muisti space clear --dry-run", 'muisti space clear --space try --confirm "DELETE ALL MEMORIES"')
@option("--confirm", f"The phrase {CLEAR_PHRASE!r}; without it you are asked.", metavar="PHRASE")
@dry_run
def clear(options: Globals, confirm: str | None, *, dry_run: bool) -> None:
    """Delete all memories of the current space.

    Histories stay, and the printed rollback brings all of them back. `muisti purge --everything` erases them for good.
    """
    with session(options) as opened:
        asked = f"To clear {opened.space} type {CLEAR_PHRASE}"
        phrase = CLEAR_PHRASE if dry_run else confirm or click.prompt(asked, err=True)
        request = calls.clear_space(opened.space, {"confirm": phrase}, dry_run=dry_run)
        reply = opened.client.send(request)
        answer(options, reply, *CLEARED)


def _was_merged(opened: Client, source: str, into: str) -> bool:
    """Tell whether `source` is gone, and the audit log says that it was merged into `into`, which still exists."""
    names = {space["name"] for space in opened.send(calls.list_spaces()).data["items"]}
    if source in names or into not in names:
        return False
    try:
        noted = opened.send(calls.list_audit(limit=LIMIT_MAX)).data["items"]
    except ApiError:
        return False  # this key may not read it
    wanted = ("space_merged", into, source)
    return any((one["action"], one["space"], one["target"]) == wanted for one in noted)


NONE = {"similarity_limit": "none", "review_limit": "none"}  # for people, where a value is null
CHOICES = OneOf([*get_args(Screening), OrDefault.WORD])


DAYS = OrDefault("days", click.FloatRange(), "a number of days")


def within(name: str, low: float, high: float) -> OrDefault:
    return OrDefault(name, click.FloatRange(low, high), f"a number from {low} to {high}")


COSINE = within("cosine", SIMILARITY_MIN, 1)


@command(
    "muisti policy",
    "muisti policy --secrets redact --personal-data refuse --space acme",
    "muisti policy --history-days 30 --purge-after-days 730",
    "muisti policy --similarity-limit 0.85",
    "muisti policy --second-model minilm",
    "muisti policy --time-zone Europe/Helsinki",
    "muisti policy --recency-weight 0.3 --recency-half-life-days 30",
)
@option("--secrets", "What to do with texts that have passwords, keys or tokens.", CHOICES)
@option("--personal-data", "The same for e-mail addresses, phone numbers, cards, bank accounts.", CHOICES)
@choice("--echoes", "The same for texts that only repeat a search result.", [*get_args(Echoes), OrDefault.WORD])
@option("--history-days", "How long to keep old versions; 0: for ever.", DAYS, metavar="DAYS")
@option("--purge-after-days", "Erase memories older than this; default: never.", DAYS, metavar="DAYS")
@option("--similarity-limit", "Refuse texts this similar to a memory, 0.6 to 1; default: no such limit.", COSINE)
@option("--review-limit", "Ask about contradictions from this similarity on, 0.6 to 1; default: always.", COSINE)
@option("--recency-weight", "How much age lowers a score in searches that do not say it, 0 to 1.", within("x", 0, 1))
@option("--recency-half-life-days", "Age at which half of that is reached.", within("days", HALF_LIFE_MIN, 36_500))
@choice("--graph", "Whether names and facts go into the knowledge graph.", [*get_args(GraphSwitch), OrDefault.WORD])
@option(
    "--second-model",
    "Second embedder whose vectors searches use too: off, minilm, or a model of the server; default: its setting.",
    metavar="MODEL",
)
@option("--time-zone", "Zone of words like today in searches that name none; default: UTC.", metavar="ZONE")
@option("--inherits", "Spaces that `search --inherited` adds, the nearest first.", metavar="A,B,C")
def policy(options: Globals, **given: str | float | None) -> None:
    """Show or set which texts a space accepts, and how long it keeps them.

    New texts with secrets or personal data are refused (refuse), stored without them (redact), or stored as they are
    (allow). Echoes, which only repeat a search result, are refused, flagged or allowed. `default` is the server's
    setting. Memories that are stored already stay, unless they are too old: `muisti purge --older-than-days DAYS
    --dry-run` shows what would be purged.
    """
    changes: dict[str, Any] = {
        name: None if value == OrDefault.WORD else value for name, value in given.items() if value is not None
    }
    if isinstance(chain := changes.get("inherits"), str):
        changes["inherits"] = comma_list([chain])
    with session(options, reads=not changes) as opened:
        if changes:
            reply = opened.client.send(calls.set_policy(opened.space, changes))
        else:
            reply = opened.client.send(calls.get_space(opened.space))
        answer(
            options, _policy(reply), _policy_table, lambda found: [tabbed(name, whole(found[name])) for name in found]
        )


def _policy(reply: Reply) -> Reply:
    return revised(reply, reply.data["policy"]) if "policy" in reply.data else reply


def _policy_table(found: Mapping[str, Any]) -> Any:
    rows = (
        (name.replace("_", " "), NONE.get(name, "never") if value is None else whole(value))
        for name, value in found.items()
    )
    return grid(None, "", "policy", rows=rows)
