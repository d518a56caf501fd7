"""Statements on the graph from the command line, and reading memories for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from muisti.client import Call, calls
from muisti.service.cli.base import OK, Globals
from muisti.service.cli.following import exit_code, follow
from muisti.service.cli.output import answer, cell, tabbed, talk
from muisti.service.cli.session import session


def merge(options: Globals, name: str, others: Sequence[str], *, dry_run: bool) -> None:
    """State that names are those of an entity, and print the statement."""
    body = {"others": [*others]}
    _state(options, lambda space: calls.merge_entities(space, name, body, dry_run=dry_run))


def keep_apart(options: Globals, name: str, others: Sequence[str], *, dry_run: bool) -> None:
    """State that names are not those of an entity, and print the statement."""
    body = {"others": [*others]}
    _state(options, lambda space: calls.keep_entities_apart(space, name, body, dry_run=dry_run))


def relate(
    options: Globals,
    subject: str,
    kind: str,
    object_: str | None,
    literal: str | None,
    *,
    negative: bool,
    dry_run: bool,
) -> None:
    """State a relation, and print the statement."""
    if (object_ is None) == (literal is None):
        raise click.UsageError("give OBJECT, a name, or --text, words")
    body: dict[str, Any] = {"subject": subject, "kind": kind, "negative": negative}
    body |= {"object": object_} if literal is None else {"literal": literal}
    _state(options, lambda space: calls.state_relation(space, body, dry_run=dry_run), create=not dry_run, reads=dry_run)


def retract(options: Globals, memory: str, *, dry_run: bool) -> None:
    """Delete a statement."""
    with session(options) as opened:
        reply = opened.client.send(calls.retract_statement(opened.space, memory, dry_run=dry_run))
        if dry_run:
            answer(options, reply, table=_said, plain=_line)
        elif options.json:
            click.echo("{}")
        else:
            talk("Retracted; muisti undo takes it back.")


def build(options: Globals, *, again: bool, wait: bool, dry_run: bool) -> int:
    """Begin the task that reads memories, follow it if asked to, and return the exit code."""
    with session(options) as opened:
        request = calls.build_graph(opened.space, {"again": again}, dry_run=dry_run)
        reply = opened.client.send(request)
        if dry_run:
            found = reply.data["answer"]
            talk(f"Nothing was stored. The next {found['read']:,} versions have {found['mentions']:,} mentions and "
                 f"{found['relations']:,} relations; {found['pending']:,} versions are to be read.")  # fmt: skip
            if options.json:
                click.echo(reply.body)
            return OK
        task = follow(options, opened, reply.data) if wait else reply.data
        reply = opened.client.send(calls.get_task(opened.space, task["id"]))
        answer(
            options,
            reply,
            table=lambda one: cell(f"{one['id']} {one['state']}, {one['done']:,} versions read"),
            plain=lambda one: [tabbed(one["id"], one["state"], one["done"])],
        )
    return exit_code(task) if wait else OK


def drop(options: Globals) -> None:
    """Delete what was read from memories, and print how many entities there were."""
    with session(options) as opened:
        reply = opened.client.send(calls.drop_graph(opened.space))
        answer(
            options,
            reply,
            table=lambda data: cell(f"Dropped {data['entities']:,} entities."),
            plain=lambda data: [str(data["entities"])],
        )


def _state(options: Globals, ask: Callable[[str], Call], *, create: bool = False, reads: bool = False) -> None:
    with session(options, create=create, reads=reads) as opened:
        answer(options, opened.client.send(ask(opened.space)), table=_said, plain=_line)


def _said(data: Any) -> Any:
    return cell(data["id"], "dim") + cell(f"  {data['content']}")


def _line(data: Any) -> list[str]:
    return [tabbed(data["id"], data["content"])]
