"""The validate command: check a text without storing it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.support.lazy import Lazy
from muisti.service.app.client import ApiError
from muisti.service.cli.base import CONFLICT, Globals, command
from muisti.service.cli.commands.write import text_of
from muisti.service.cli.output import cell, fields, grid, likeness, show, stack, tabbed
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.console import RenderableType

    from muisti.core.text import secrets, sentences
    from muisti.service.cli.opening import Session
else:  # numpy and the core
    sentences = Lazy("muisti.core.text.sentences")
    secrets = Lazy("muisti.core.text.secrets")

AGAINST = ("duplicate", "conflict")


@command(
    'muisti validate "The staging database runs on port 5436"',
    "muisti validate - < notes.md",
    'muisti validate "We deploy on Fridays" --json',
)
@click.argument("text")
def validate(options: Globals, text: str) -> None:
    """Check a text without storing it.

    TEXT is the content; - reads it from standard input. Prints the number of tokens and passages, whether it looks
    like a secret, and which memories say the same or the contrary. The exit code is that of `muisti add`: 2 for a
    conflict, 3 for a text that is too long.
    """
    content = text_of(text)
    rule = secrets.find_secret(content)
    with session(options, reads=True) as opened:
        answer = _tried(opened, content)
    parts = sentences.split(content, answer["tokens"])
    found: dict[str, Any] = {
        "characters": len(content),
        "tokens": answer["tokens"],
        "passages": len(parts),
        "secret": rule,
        "similar": answer["similar"],
    }
    show(options, found, _table, _lines)
    if any(one["kind"] in AGAINST for one in found["similar"]):
        raise click.exceptions.Exit(CONFLICT)


def _tried(opened: "Session", content: str) -> Mapping[str, Any]:
    """Return the answer of a dry run that adds the text beside any similar memory."""
    request = calls.add_memory(opened.space, {"content": content, "on_conflict": "keep"}, dry_run=True)
    try:
        return opened.client.send(request).data["answer"]
    except ApiError as error:
        if error.code != "sensitive_content":
            raise
        return {"tokens": None, "similar": []}


def _lines(found: Mapping[str, Any]) -> list[str]:
    numbers = [tabbed(name, found[name]) for name in ("characters", "tokens", "passages", "secret")]
    return [*numbers, *(tabbed(one["kind"], one["id"], one["content"]) for one in found["similar"])]


def _table(found: Mapping[str, Any]) -> "RenderableType":
    numbers = [(cell(name, "dim"), cell(found[name])) for name in ("characters", "tokens", "passages")]
    if found["secret"]:
        numbers.append((cell("looks like a secret", "red"), cell(f"rule {found['secret']}: add would refuse it")))
    if not found["similar"]:
        return stack(fields(numbers), cell("No similar memory is stored."))
    table = grid(None, "would be", "memory")
    for one in found["similar"]:
        table.add_row(cell(one["kind"], "red" if one["kind"] in AGAINST else ""), cell(likeness(one)))
    return stack(fields(numbers), table)
