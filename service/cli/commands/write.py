"""Commands that change what is stored: add, put, update, supersede, delete; and validate, which only checks."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.client import names as by_name
from muisti.core.model.choices import CONTENT_MAX, OnConflict
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import CONFLICT, TOO_LONG, USAGE, Failure, Globals, command, completes
from muisti.service.terminal.client import ApiError
from muisti.service.terminal.memory_names import NAME, etag, find, find_id, locate, memory_argument, split_text
from muisti.service.terminal.options import choice, comma_list, dry_run, if_version, memory_fields, option, said_fields
from muisti.service.terminal.output import answer, hint, show, talk
from muisti.service.terminal.session import Reply, Session, session
from muisti.service.terminal.values import STDIN
from muisti.service.terminal.views import Shown, brief, cell, fields, grid, likeness, lines, said, stack, stated, tabbed

if TYPE_CHECKING:
    from muisti.core.text import secrets, sentences
    from muisti.service.documents import citing
else:  # numpy and the core
    citing = Lazy("muisti.service.documents.citing")
    secrets = Lazy("muisti.core.text.secrets")
    sentences = Lazy("muisti.core.text.sentences")

SHOWN = 60  # characters of a content in a confirmation


@command(
    'muisti add "We deploy on Tuesdays"',
    'muisti add "Ann prefers tea" --category people --key ann --tag taste,drinks --type preference',
    "git log -1 --format=%B | muisti add - --source git --author $USER",
)
@click.argument("text")
@memory_fields
@choice(
    "--on-conflict",
    "What to do when a memory already says the same, or the contrary.  [default: reject]",
    get_args(OnConflict),
)
@option("--idempotency-key", "Repeating the command with the same key stores nothing twice.", metavar="KEY")
@dry_run
def add(options: Globals, text: str, *, idempotency_key: str | None, dry_run: bool, **fields: Any) -> None:
    """Store a text as a new memory.

    TEXT is the content; - reads it from standard input. Prints the new memory's ID.
    """
    memory = {"content": text_of(text), **_given(fields)}
    with session(options, create=not dry_run, reads=dry_run) as opened:
        body = _sourced(opened, memory)
        request = calls.add_memory(opened.space, body, idempotency_key=idempotency_key, dry_run=dry_run)
        reply = opened.write(lambda: opened.client.send(request))
        if reply.headers.get("Idempotent-Replayed") == "true":
            talk("This was stored before, by the request with the same --idempotency-key.")
        for found in reply.data.get("similar", ()):
            talk(_beside(found))
        place = f"in the space {opened.space} of {opened.place}"
        answer(options, reply, lambda memory: cell(f"Stored {memory['id']} {place}."), lines("id"))


@command('muisti put rules deploy "We deploy on Mondays now" --author ann', "muisti put notes plan - < plan.md")
@click.argument("category")
@click.argument("key")
@click.argument("text")
@said_fields
@if_version
@dry_run
def put(
    options: Globals, category: str, key: str, text: str, *, if_version: int | None, dry_run: bool, **fields: Any
) -> None:
    """Store a text at a category and key, replacing any memory there.

    TEXT is the content; - reads it from standard input. A memory at that address keeps its ID and gets a new version,
    without any of its old fields. Prints the ID and the version.
    """
    memory = {"content": text_of(text), **_given(fields)}
    with session(options, create=not dry_run, reads=dry_run) as opened:
        body = _sourced(opened, memory)

        def sent() -> Reply:
            tag = etag(opened.client, opened.space, (category, key), if_version)
            return opened.client.send(calls.put_entry(opened.space, category, key, body, if_match=tag, dry_run=dry_run))

        reply = sent() if if_version is not None else opened.write(sent)
        answer(options, reply, *stated("Stored {id} at {category}/{key}: version {version}.", "id", "version"))
        if not dry_run and reply.data["version"] > 1:
            hint(options, f"To undo it: muisti restore {reply.data['id']}")


@command(
    "muisti update 0197a3c0-5f4e-7000-8000-0123456789ab --importance high",
    'muisti update rules/deploy "We deploy on Mondays now" --if-version 3',
    "muisti update rules deploy --author ann",
    'muisti update 0197a3c0-5f4e-7000-8000-0123456789ab --user "I moved to Oslo"',
)
@click.argument("words", metavar=f"{NAME} [TEXT]", nargs=-1, required=True, shell_complete=completes("memory"))
@option("--user", "Of a turn of a conversation: its first message.", metavar="TEXT")
@option("--system", "Of a turn of a conversation: the reply to it; empty removes the reply.", metavar="TEXT")
@memory_fields
@if_version
@dry_run
def update(options: Globals, words: tuple[str, ...], *, if_version: int | None, dry_run: bool, **fields: Any) -> None:
    """Change fields of a memory.

    Only the fields that you give change. TEXT is the new content; - reads it from standard input. Two words are a name
    and a TEXT when the first is an ID or has a slash, as in rules/deploy. Any other two words are a CATEGORY and a KEY.
    An empty value, as in --author "", removes a field; --tag and --metadata replace the old values. Prints the ID and
    the new version.
    """
    name, text = split_text(words)
    changes = ({} if text is None else {"content": text_of(text)}) | _given(fields, clearing=True)
    if not changes:
        raise click.UsageError("nothing to change: give a new TEXT or at least one field")
    with session(options) as opened:
        body, found = _sourced(opened, changes), locate(opened, name)
        tag = etag(opened.client, opened.space, found, if_version)
        reply = opened.client.send(by_name.update(opened.space, found, body, if_match=tag, dry_run=dry_run))
        answer(options, reply, *stated("Changed {id}: now version {version}.", "id", "version"))
        if not dry_run:
            hint(options, f"To undo it: muisti restore {reply.data['id']}")


@command(
    'muisti supersede 0197a3c0-5f4e-7000-8000-0123456789ab "We deploy on Mondays now" --reason "Too busy"',
    'muisti supersede rules deploy "We deploy on Mondays now"',
)
@memory_argument
@click.argument("text")
@memory_fields
@if_version
@dry_run
def supersede(
    options: Globals, name: tuple[str, ...], text: str, *, if_version: int | None, dry_run: bool, **fields: Any
) -> None:
    """Replace a memory by a new one; the old one stays in the history.

    TEXT is the content of the new one; - reads it from standard input. Searches no longer find the old one. Without
    --category and --key the new memory takes over those of the old. Prints the new ID.
    """
    memory = {"content": text_of(text), **_given(fields)}
    with session(options) as opened:
        body, found = _sourced(opened, memory), locate(opened, name)
        tag = etag(opened.client, opened.space, found, if_version)
        reply = opened.client.send(by_name.supersede(opened.space, found, body, if_match=tag, dry_run=dry_run))
        answer(options, reply, lambda new: cell(f"Stored {new['id']} in place of {'/'.join(name)}."), lines("id"))
        if not dry_run:
            hint(options, "To undo it: muisti undo")


@command("muisti delete 0197a3c0-5f4e-7000-8000-0123456789ab", "muisti delete people ann")
@memory_argument
@if_version
@dry_run
def delete(options: Globals, name: tuple[str, ...], if_version: int | None, dry_run: bool) -> None:
    """Delete a memory.

    Name it by its ID, or by its CATEGORY and KEY. Prints the ID. Its versions stay in the history: `muisti restore`
    brings the memory back, and `muisti purge` erases it permanently.
    """
    with session(options) as opened:
        found = find(opened, name)
        tag = etag(opened.client, opened.space, found["id"], if_version)
        reply = opened.client.send(calls.delete_memory(opened.space, found["id"], if_match=tag, dry_run=dry_run))
        answer(options, reply, *said(f"Deleted {found['id']}: {brief(found['content'], SHOWN)}", found["id"]))
        if not dry_run:
            hint(options, f"To restore it: muisti restore {found['id']}")


def text_of(text: str) -> str:
    """Return the content that was given: the text, or standard input for `-`.

    Raises:
        Failure: the content is too long, or standard input is no UTF-8.
    """
    content = _standard_input() if text == STDIN else text
    if len(content) > CONTENT_MAX:
        raise Failure(f"the content has {len(content):,} characters; at most {CONTENT_MAX:,} are allowed", TOO_LONG)
    return content


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise Failure(f"standard input is no UTF-8 (byte {error.start})", USAGE) from error


def _given(fields: Mapping[str, Any], clearing: bool = False) -> dict[str, Any]:
    """Return the fields that were given, as the API names them. With `clearing` an empty value removes the field."""
    given: dict[str, Any] = {}
    for name, value in fields.items():
        field = name.rstrip("_")
        if field in ("tags", "derived_from"):
            if value:
                given[field] = comma_list(value)
        elif field == "anchors":
            if value:
                given[field] = [citing.cited(one) for one in value if one]
        elif value is not None:
            given[field] = None if clearing and value == "" else value
    return given


def _sourced(opened: Session, memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with whole ids in `derived_from`, however the memories were named."""
    sources = memory.get("derived_from")
    return {**memory, **({"derived_from": [find_id(opened, [name]) for name in sources]} if sources else {})}


def _beside(found: Mapping[str, Any]) -> str:
    if found["kind"] == "possible_conflict":
        return f"Stored, but it may contradict {likeness(found).removesuffix('.')}. `muisti conflicts list` shows both."
    return f"Stored beside a similar memory: {likeness(found)}"


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
    show(options, found, _validated, _validated_lines)
    if any(one["kind"] in AGAINST for one in found["similar"]):
        raise click.exceptions.Exit(CONFLICT)


def _tried(opened: Session, content: str) -> Mapping[str, Any]:
    request = calls.add_memory(opened.space, {"content": content, "on_conflict": "keep"}, dry_run=True)
    try:
        return opened.client.send(request).data["answer"]
    except ApiError as error:
        if error.code != "sensitive_content":
            raise
        return {"tokens": None, "similar": []}


def _validated_lines(found: Mapping[str, Any]) -> list[str]:
    numbers = [tabbed(name, found[name]) for name in ("characters", "tokens", "passages", "secret")]
    return [*numbers, *(tabbed(one["kind"], one["id"], one["content"]) for one in found["similar"])]


def _validated(found: Mapping[str, Any]) -> Shown:
    numbers = [(cell(name, "dim"), cell(found[name])) for name in ("characters", "tokens", "passages")]
    if found["secret"]:
        numbers.append((cell("looks like a secret", "red"), cell(f"rule {found['secret']}: add would refuse it")))
    if not found["similar"]:
        return stack(fields(numbers), cell("No similar memory is stored."))
    rows = ((cell(one["kind"], "red" if one["kind"] in AGAINST else ""), likeness(one)) for one in found["similar"])
    return stack(fields(numbers), grid(None, "would be", "memory", rows=rows))
