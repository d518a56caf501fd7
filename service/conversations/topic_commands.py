"""Commands about what is found in conversations: topics, summaries, working memory, preferences."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from muisti.client import Call, calls
from muisti.core.model.choices import LIMIT_MAX
from muisti.service.conversations.commands import conversations
from muisti.service.terminal.base import Globals
from muisti.service.terminal.calling import category, takes
from muisti.service.terminal.options import dry_run, flag, integer, option
from muisti.service.terminal.output import answer, revised, talk
from muisti.service.terminal.session import concluded, session
from muisti.service.terminal.views import Shown, Text, View, brief, cell, grid, lines, listed, stack, tabbed


def _spans(topic: Any) -> str:
    return ",".join(f"{first}-{last}" for first, last in topic["spans"])


def _of(one: Any) -> str:
    return one["topic"] or one["of"]


def _about(one: Any) -> Text:
    return cell(f"{_of(one)}, stale", "dim") if one["stale"] else cell(_of(one), "cyan")


def _memory(one: Any) -> Any:
    return one.get("memory") or {"id": None, "content": str(one.get("problem", {}).get("detail")).partition("; ")[0]}


SUGGESTIONS = lines(
    "turn",
    lambda one: one["problem"]["code"] if one["status"] == "failed" else one["status"],
    lambda one: _memory(one)["id"],
    lambda one: _memory(one)["content"],
)
TOPICS = listed(
    {"topic": lambda one: cell(one["name"], "cyan"), "turns": _spans, "title": lambda one: brief(one["title"])},
    ("name", _spans, "title", "id"),
    none="No topic is complete yet; close the conversation to complete the last.",
)
SUMMARIES = listed({"of": _about, "summary": "text"}, (_of, lambda one: "stale" if one["stale"] else None, "text"))


@conversations.has(
    "muisti conversations topics c-42",
    'muisti conversations topics c-42 --split t1 --at 9 --title "The keys"',
    "muisti conversations topics c-42 --merge t1,t2",
    "muisti conversations topics c-42 --move t2 --at 14",
)
@click.argument("name")
@option("--split", "Split this topic before the turn --at.", metavar="TOPIC")
@option("--merge", "Merge these topics into the first.", metavar="A,B,…")
@option("--move", "Let this topic begin at the turn --at.", metavar="TOPIC")
@integer("--at turn", "The first turn of the later topic.", 1, metavar="TURN")
@option("--title", "Title of the later part of a split topic.", metavar="TEXT")
@category
@dry_run
def topics(options: Globals, name: str, *, category: str | None, dry_run: bool, **change: Any) -> None:
    """Show the topics of a conversation, or change them.

    Topics are found while turns come in. Later turns never change one that you have changed. A TOPIC is a name or an
    ID. Prints name, stretches of turns, title and ID of each topic, or of those that were changed.
    """
    request = _change(name, category, dry_run, **change)
    with session(options, reads=request is None) as opened:
        ask = request or partial(calls.list_topics, conversation=name, category=category, limit=LIMIT_MAX)
        answer(options, opened.client.send(ask(opened.space)), *TOPICS)


@conversations.has("muisti conversations summarise", "muisti conversations summarise --no-wait")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Follow the task until it ends.")
@option("--category", "Only conversations of this category.")
def summarise(options: Globals, wait: bool, category: str | None) -> int:
    """Make the topics and summaries of all conversations that are missing or stale.

    On a database file this command does the work; a server does it in the background. You can stop it and run it again.
    Prints the task.
    """
    with session(options) as opened:
        task = opened.client.send(calls.summarise_space(opened.space, category=category)).data
        return concluded(options, opened, task, wait=wait)


@conversations.has("muisti conversations summary c-42", "muisti conversations summary c-42 --renew --abstractive")
@click.argument("name")
@flag("--renew", "First make those that are missing or stale.")
@flag("--abstractive", "Have the server's language model write those that are made.")
@category
def summary(options: Globals, name: str, *, renew: bool, abstractive: bool, category: str | None) -> None:
    """Show the summaries of a conversation: of each topic, then of all.

    They are kept up to date by themselves when a topic is complete, and when the conversation is closed. Prints what is
    summarised, whether it has changed since, and the text of each.
    """
    with session(options, reads=not (renew or abstractive)) as opened:
        if renew or abstractive:
            method = "abstractive" if abstractive else "extractive"
            request = calls.summarise_conversation(opened.space, name, {"method": method, "category": category})
            for said in opened.client.send(request).data["degraded"]:
                talk(said)
        reply = opened.client.send(calls.list_summaries(opened.space, name, category=category))
        none = f"There are no summaries yet: muisti conversations summary {name} --renew"
        answer(options, reply, *SUMMARIES._replace(none=none))


@conversations.has(
    "muisti conversations working c-42 --budget 1000",
    "muisti conversations working c-42 --keep rules --memory 0197a3c0-5f4e-7000-8000-0123456789ab",
    'muisti conversations working c-42 --keep tone --text "Answer in Finnish." --ttl 3600',
    "muisti conversations working c-42 --release rules",
)
@click.argument("name")
@takes(calls.get_working_memory, "--budget=token_budget --encoding")
@takes(
    calls.keep_in_working_memory,
    "--keep=key --memory=memory_id --text=content --reserve=tokens --priority --ttl=ttl_seconds",
    key="Keep --memory, --text or --reserve at this key.",
    memory_id="The memory to keep.",
    content="The text to keep.",
    tokens="Tokens to leave free.",
)
@flag("--evictable", "Let it be evicted when the budget is short.")
@option("--release", "Release what is kept at this key.", metavar="KEY")
@category
def working(
    options: Globals, name: str, *, key: str | None, release: str | None, evictable: bool, **given: Any
) -> None:
    """Show the working memory of a conversation, or keep and release parts of it.

    It holds what you keep, and the turns that are worth their tokens now. Prints what is held and what is evicted:
    source, key or turn, tokens and value.
    """
    with session(options, reads=key is None and release is None) as opened:
        tokens = {field: given.pop(field) for field in ("token_budget", "encoding", "category")}
        if key is not None:
            body = {field: value for field, value in given.items() if value is not None} | {"pinned": not evictable}
            put = calls.keep_in_working_memory(opened.space, name, key, body, **tokens)
            opened.client.send(put)
        if release is not None:
            gone = calls.release_from_working_memory(opened.space, name, release, category=tokens["category"])
            opened.client.send(gone)
        reply = opened.client.send(calls.get_working_memory(opened.space, name, **tokens))
        answer(options, reply, _working, _working_lines)


@conversations.has("muisti conversations suggest c-42 --dry-run", "muisti conversations suggest c-42 --from 17")
@click.argument("name")
@integer("--from first", "The first turn to read.", 0, metavar="TURN")
@category
@dry_run
def suggest(options: Globals, name: str, *, first: int | None, category: str | None, dry_run: bool) -> None:
    """Suggest preferences that users state in a conversation.

    Each is stored as a candidate, which is no part of a profile until `muisti update ID --status active` accepts it.
    What is known already is passed over. Prints turn, `created` or the reason against it, memory ID and text of each.
    """
    with session(options, reads=dry_run) as opened:
        request = calls.suggest_preferences(opened.space, name, from_=first, category=category, dry_run=dry_run)
        reply = opened.client.send(request)
        done = reply.data["answer"] if dry_run else reply.data
        counts = "{created:,} new candidates; {duplicates:,} known already, {failed:,} refused."
        view = View(lambda data: cell("\n".join([*SUGGESTIONS(data), counts.format_map(data)])), SUGGESTIONS)
        answer(options, revised(reply, done), *view)
        if done["next_turn"] is not None:
            talk(f"More may follow: --from {done['next_turn']}")


def _change(
    name: str, category: str | None, dry_run: bool, split: Any, merge: Any, move: Any, turn: Any, title: Any
) -> Callable[[str], Call] | None:
    """Return the request of the change that the options say; None when they say none.

    Raises:
        UsageError: they say several, or only a part of one.
    """
    given = [how for how, what in (("split", split), ("merge", merge), ("move", move)) if what is not None]
    if len(given) > 1:
        raise click.UsageError("Give one of --split, --merge and --move.")
    if not given:
        if turn is not None or title is not None:
            raise click.UsageError("--at and --title belong to --split or --move.")
        return None
    if merge is not None:
        topics = {"topics": [one.strip() for one in merge.split(",")]}
        return lambda space: calls.merge_topics(space, name, topics, category=category, dry_run=dry_run)
    if turn is None:
        raise click.UsageError(f"--{given[0]} needs --at TURN.")
    body = {"turn": turn, **({"title": title} if title is not None else {})}
    make = calls.move_topic if split is None else calls.split_topic
    return lambda space: make(space, name, split or move, body, category=category, dry_run=dry_run)


def _working(data: Any) -> Shown:
    used = f"{data['tokens']:,} tokens and {data['reserved']:,} reserved of {data['token_budget']:,}"
    rows = (
        (
            cell(state, "" if state == "held" else "dim"),
            one["source"],
            cell(one["key"] or one["turn"], "cyan"),
            f"{one['tokens']:,}",
            "pinned" if one["pinned"] else "" if one["value"] is None else f"{one['value']:.2f}",
        )
        for state in ("held", "evicted")
        for one in data[state]
    )
    table = grid(None, "", "source", "key or turn", "tokens", "value", right=("tokens", "value"), rows=rows)
    return stack(cell(used, "bold"), table)


def _working_lines(data: Any) -> list[str]:
    parts = [*(("held", one) for one in data["held"]), *((one["reason"], one) for one in data["evicted"])]
    return [
        tabbed(state, one["source"], one["key"] or one["turn"], one["tokens"], one["value"]) for state, one in parts
    ]
