"""Commands of one request, an entry each: what the operation declares becomes arguments, options, choices and help.

    webhook.call("redeliver ID=webhook_id --since --dry-run", calls.redeliver_webhook, WEBHOOKS, "muisti webhook …")

The words are the command's name, its arguments and its options; `=` gives the field of the operation under another
name. Fields that all commands share, such as `--as-of`, have their own options. `more` has options that are special.
The example of a command without arguments is its name.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, cast

import click

from muisti.client import Call
from muisti.client.operations import OPERATIONS
from muisti.service.terminal.base import FIRST, Command, Globals, Subcommands, command, completes
from muisti.service.terminal.options import JsonObject, as_of, dry_run, flag, group, option
from muisti.service.terminal.session import ask
from muisti.service.terminal.values import Number, OneOf, Whole
from muisti.service.terminal.views import View

Given = Mapping[str, Any]  # values by the fields of an operation
Decorator = Callable[[Any], Any]
BOUNDED = {"integer": Whole, "number": Number}

category = option("--category", "Its category, if it has one.", shell_complete=completes("category"))
cursor = option("--cursor", "Continue after a page: the cursor that it printed.", metavar="TEXT")
SHARED: Mapping[str, Decorator] = {
    "--as-of": as_of, "--category": category, "--cursor": cursor, "--dry-run": dry_run,
}  # fmt: skip


def calling(
    words: str,
    request: Callable[..., Call],
    view: View | Callable[[Given], View],
    *examples: str,
    help: str = "",
    prints: str = "",
    texts: Mapping[str, str] | None = None,
    more: tuple[Decorator, ...] = (),
    then: Callable[[Globals, Any], int | None] | None = None,
    **asking: bool,
) -> click.Command:
    """Return the command of an operation. A view that depends on what is given is a function of it.

    `help` replaces the operation's summary, and `texts` the descriptions of its fields. `prints` says what a plain line
    has. `then` gets the data of the answer, and may return an exit
    code. `asking` is for `ask`; requests that read take a missing space as empty.
    """
    name, _, taken = words.partition(" ")
    declared = _declared(request)
    asking = {"reads": declared["method"] == "GET"} | asking

    def run(options: Globals, **given: Any) -> int | None:
        shown = view(given) if callable(view) else view
        data = ask(options, lambda space: _request(request, declared, space, given), shown, **asking)
        return None if then is None else then(options, data)

    about = help or f"{FIRST.split(declared['about'])[0].rstrip('.')}."
    about += f"\n\nPrints {prints}." if prints else ""
    return command(*examples, name=name, help=about)(group(takes(request, taken, **(texts or {})), *more)(run))


def takes(request: Callable[..., Call], words: str, **texts: str) -> Decorator:
    """Return the arguments and options of an operation that words name, for an entry or for the function of a command.

    `texts` replaces the descriptions of fields.
    """
    declared = _declared(request)
    fields = dict.fromkeys(declared["parts"], {}) | declared["params"] | declared["body"]
    return group(*(_parameter(word, fields, texts) for word in words.split()))


def _declared(request: Callable[..., Call]) -> Any:
    return json.loads(OPERATIONS[request.__name__])


def _request(request: Callable[..., Call], declared: Any, space: str, given: Given) -> Call:
    """Write the request. Fields that are not given are left out."""
    known = {*declared["parts"], *declared["params"], *declared["body"]}
    named = ((name if name in known else name.rstrip("_"), value) for name, value in given.items())
    stated = {name: value for name, value in named if value not in (None, ())}
    parts = [space if name == "space" else stated[name] for name in declared["parts"]]
    body = {name: value for name, value in stated.items() if name in declared["body"]}
    params = {name: value for name, value in stated.items() if name in declared["params"]}
    return request(*parts, *([body] if declared["body"] else []), **params)


def _parameter(word: str, fields: Given, texts: Mapping[str, str]) -> Decorator:
    """Return the argument or option that a word of the entry names."""
    if word in SHARED:
        return SHARED[word]
    typed, _, field = word.partition("=")
    names = typed.strip("[]").split(",")
    field = field or names[-1].lower().lstrip("-").replace("-", "_")
    declared: Given = fields[field]
    name = f"{field}_" if field in Globals.__dataclass_fields__ else field  # the global options have theirs
    kind, many = _kind(declared), declared.get("type") == "array"
    if not typed.startswith("-"):
        shown: Given = {"metavar": typed} if names[0].lower() != name or typed != names[0] else {}
        return click.argument(name, type=kind, nargs=-1 if many else 1, required=typed == names[0], **shown)
    text, usual = texts.get(field) or declared["description"], declared.get("default")
    if declared.get("type") == "boolean":
        return flag(" ".join([*names, name]), text)
    text += f"  [default: {usual}]" if usual else ""
    metavar = None if isinstance(kind, OneOf) else "N" if isinstance(kind, Whole) else "X" if kind else "TEXT"
    return option(" ".join([*names, name]), text, kind, multiple=many, metavar=metavar)


def _kind(declared: Given) -> click.ParamType | None:
    of_each = declared.get("items", declared)
    if (words := of_each.get("enum")) is not None:
        return OneOf(words)
    if (bounded := BOUNDED.get(of_each.get("type"))) is not None:
        return bounded(of_each.get("minimum"), of_each.get("maximum"))
    return JsonObject() if of_each.get("type") == "object" else None


P = ParamSpec("P")


def _added(make: Callable[P, click.Command]) -> Callable[Concatenate[click.Group, P], None]:
    def call(group: click.Group, *entry: P.args, **more: P.kwargs) -> None:
        made = cast(Command, make(*entry, **more))
        made.examples = made.examples or (f"muisti {group.name} {made.name}",)
        group.add_command(made)

    return call


class Operations(Subcommands):
    """A group of commands, many of which are entries: see `calling`."""

    call = _added(calling)
