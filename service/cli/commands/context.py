"""The context command."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from muisti.client import calls
from muisti.core.model.choices import CONTEXT_MAX, CONTEXT_MIN
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.options import as_filter, as_of, choice, filters, flag, integer, option, time_zone, weights
from muisti.service.terminal.output import answer
from muisti.service.terminal.session import session
from muisti.service.terminal.values import one_of, refuse
from muisti.service.terminal.views import Shown, Text, cell, safe, short_id, stack

SECTIONS = (
    *("profile", "instructions", "recent", "summaries", "about", "facts", "documents"),
    *("decided", "tried", "failed", "rejected", "open", "memories"),
)
# Colours of sections, in the text and in the table above it.
COLOURS = dict(
    zip(
        SECTIONS,
        (
            *("magenta", "bright_cyan", "cyan", "blue", "red", "yellow", "white"),
            *("bright_green", "bright_blue", "bright_red", "bright_magenta", "bright_yellow", "green"),
        ),
        strict=True,
    )
)


def _sections(
    context: click.Context, option: click.Parameter, given: Sequence[str]
) -> dict[str, dict[str, int]] | None:
    """Return the sections by name; `profile=256` gives one at most 256 tokens."""
    found: dict[str, dict[str, int]] = {}
    for one in given:
        name, _, most = one.partition("=")
        if name not in SECTIONS or (most and not most.isdecimal()):
            refuse(one, f"{one_of(SECTIONS)}, with =TOKENS if limited", option, context)
        found[name] = {"max_tokens": int(most)} if most else {}
    return found or None


@command(
    'muisti context "when do we deploy?" --budget 1000',
    'muisti context "plan the trip" --section profile=256 --section memories --encoding o200k_base',
    'muisti context "how do we deploy?" --also company=0.8',
    'muisti context "what now?" --conversation c-42 --json',
)
@click.argument("query")
@integer("--budget", "Tokens of the text at most.  [default: 1000]", CONTEXT_MIN, CONTEXT_MAX)
@choice("--encoding", "How tokens are counted.", ("cl100k_base", "o200k_base"))
@option("--conversation", "Conversation whose last turns are shown.")
@option("--section sections", "Section, of at most N tokens.", metavar="NAME[=N]", multiple=True, callback=_sections)
@weights("--also spaces", "Search this space too, with this weight; repeat it for more.", "SPACE[=X]")
@flag("--whole", "Show no memory in pieces.")
@flag("--all fill", "Fill the budget, also with memories that say little beside the best.")
@filters
@as_of
@time_zone
@flag("--no-touch", "Do not count the memories as retrieved.")
@flag("--receipt", "Record the context for `muisti receipt`, and print the record's ID.")
def context(options: Globals, query: str, *, whole: bool, fill: bool, **asked: Any) -> None:
    """Make the text for a prompt, within a number of tokens.

    A terminal also shows the sections with their sizes, where each memory is from, and what was left out. A pipe gets
    the text alone.
    """
    body = {"query": query, "token_budget": asked.pop("budget"), "compress": "never" if whole else None}
    body |= {name: asked.pop(name) for name in ("encoding", "conversation", "sections", "as_of", "time_zone")}
    body["spaces"] = [{"name": name, "weight": weight} for name, weight in asked.pop("spaces")] or None
    body |= {"fill": fill or None, "no_touch": asked.pop("no_touch") or None}
    body |= {"receipt": asked.pop("receipt") or None, "filter": as_filter(**asked) or None}
    body = {name: value for name, value in body.items() if value is not None}
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.get_context(opened.space, body))
        answer(options, reply, _viewed, lambda found: found["text"].splitlines())


@command("muisti handoff", 'muisti handoff --about "the cache" --budget 800')
@option("--about", "Task of the next agent; without it the newest comes first.", metavar="TEXT", default="")
@integer("--budget", "Tokens of the text at most.", CONTEXT_MIN, CONTEXT_MAX, default=1_500)
def handoff(options: Globals, about: str, budget: int) -> None:
    """Make the text that hands work over to the next agent.

    It has what was decided, tried, failed and rejected, and why, open ends, and the end of the last conversation. Lines
    name the code that they are about, and say when it has changed since. A pipe gets the text alone.
    """
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.get_handoff(opened.space, {"about": about, "token_budget": budget}))
        answer(options, reply, _viewed, lambda found: found["text"].splitlines())


def _viewed(found: Mapping[str, Any]) -> Shown:
    share = found["tokens"] / found["token_budget"]
    head = f"{found['tokens']:,} of {found['token_budget']:,} tokens ({share:.0%}), {found['encoding']}"
    parts: list[Shown] = [cell(head, "bold") + cell(f"  evidence: {found['evidence']}", "dim")]
    parts += [_section(one) for one in found["sections"]]
    parts += [cell(""), _text(found), *(_cited(one, several=len(found["spaces"]) > 1) for one in found["citations"])]
    if found["left_out_total"]:
        more = "" if found["next_budget"] is None else f"; {found['next_budget']:,} tokens hold more"
        parts += [cell(""), cell(f"{found['left_out_total']:,} left out{more}")]
        parts += [_left_out(one) for one in found["left_out"]]
    return stack(*parts)


def _section(one: Mapping[str, Any]) -> Text:
    noun = "memory" if one["memories"] == 1 else "memories"
    said = one.get("note") or f"{one['memories']} {noun}, {one['tokens']:,} tokens"
    return cell(f"  {one['name']}", COLOURS[one["name"]]) + cell(f"  {said}", "dim")


def _text(found: Mapping[str, Any]) -> Text:
    shown, at = cell(""), 0
    for one in found["citations"]:
        shown.append(safe(found["text"][at : one["start"]]), "dim")
        shown.append(safe(found["text"][one["start"] : one["stop"]]), COLOURS[one["section"]])
        at = one["stop"]
    shown.append(safe(found["text"][at:]), "dim")
    return shown


def _cited(one: Mapping[str, Any], *, several: bool) -> Text:
    place = f"  in {one['space']}" if several else ""
    score = "" if one["score"] is None else f"  {one['score']:.3f}"
    cut = "  in pieces" if one["cut"] else ""
    return cell(f"{one['n']}. ", "bold") + cell(
        f"{short_id(one)} v{one['version']}{place}  {one['section']}{score}  {one['start']}–{one['stop']}{cut}", "dim"
    )


def _left_out(one: Mapping[str, Any]) -> Text:
    return cell(f"  {short_id(one)}  {one['score']:.3f}  {one['tokens']:,} tokens  {one['reason']}", "dim")
