"""The search command."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from muisti.client import calls
from muisti.core.model.choices import APPLIES
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.calling import takes
from muisti.service.terminal.memory_names import find_id, locate_id
from muisti.service.terminal.options import (
    as_filter,
    as_of,
    filters,
    flag,
    full,
    option,
    real,
    time_zone,
    weights,
)
from muisti.service.terminal.output import answer, for_people, talk
from muisti.service.terminal.session import session, space_choice
from muisti.service.terminal.views import (
    BRIEF,
    Shown,
    address,
    ago,
    brief,
    cell,
    fields,
    indented,
    short_id,
    stack,
    tabbed,
)

MARK = "**"  # around words that match, in `highlight`
RELATED = "Possibly related:"  # above hits of weak evidence

# Factors of the score by group, in the order in which they are computed.
FACTORS = {
    "words": ("lexical", "bm25", "terms"),
    "meaning": ("cosine", "second"),
    "together": ("fusion", "alpha", "fused", "blend"),
    "signals": ("signals", "composite"),
    "multiplied by": ("time", "recency", "decay", "importance", "trust", "feedback", "answer", "space_weight"),
    "age in days": ("age_days", "refreshed_days"),
    "novelty": ("novelty",),
    "definition": ("symbol",),
    "fact": ("facts",),
    "in words": ("sentence",),
}


@command(
    'muisti search "when do we deploy?"',
    "muisti search QX-991 --mode keyword --limit 3",
    'muisti search "tea or coffee" --tag drinks --recency-weight 0.3 --half-life 14 --explain',
    'muisti search "notes tagged auth from last week" --mode auto',
    'muisti search "when do we deploy?" --why-not 0123456789ae',
    'muisti search "how do we deploy?" --in web=1 --in company=0.8 --group-by category',
)
@click.argument("query", default="")
@takes(
    calls.search,
    "--limit --mode --match --fusion --alpha --second-query --trust-weight --min-evidence --min-score --similar-to "
    "--group-by --diversity --context-window --preset --tag-rule --facts --instructions --intent --explain --highlight "
    "--no-touch --receipt",
    mode="Way to rank; hybrid: words and meaning; auto: what the query asks for.",
    alpha="Weight of meaning against words.",
    second_query="Way to ask the second model of the space.",
    trust_weight="How much low trust lowers a score.",
    min_evidence="Show no hits with less evidence.",
    similar_to="Search by this memory, an ID, in place of a query.",
    preset="Add up similarity, tags, age and position instead.",
    instructions="Show at most N standing instructions that apply.",
    highlight="Show the passage that answers, with matching words in bold.",
    receipt="Record the search for `muisti receipt`, and print the record's ID.",
)
@filters
@as_of
@time_zone
@real("--recency-weight", "How much age lowers a score, 0 to 1.", 0, 1)
@real("--half-life", "Age at which half of that effect is reached.  [default: 30]", min_open=True, metavar="DAYS")
@flag("--all all_", "Show all hits: also those that probably don't answer.")
@real("--applies", "Show the hits that answer with this probability, 0 to 1.  [default: 0.5]", 0, 1)
@option("--why-not why_not", "Say why a memory is a hit or not.", metavar="ID", multiple=True)
@full
@click.option(
    "--fallback-to-keyword/--no-fallback-to-keyword",
    default=True,
    help="Rank by words where the model of the space is missing, or fail.  [default: rank]",
)
@weights("--signal signals", "Weight of a signal, which lowers scores: tag, position, recency.")
@weights("--boost-tag boost_tags", "Score of a tag, for the tag signal.", "TAG[=X]")
@weights("--ranking rankings", "Weight of a ranking beside those of the mode: graph, by ties to what is named.")
@weights("--in spaces", "Search this space, with this weight; repeat it to search several together.", "SPACE[=X]")
@option("--inherit", "Search a chain of spaces, the nearest first.", metavar="A,B,C")
@flag("--inherited", "Search the space, and those that its policy inherits.")
def search(options: Globals, query: str, *, full: bool, all_: bool, why_not: Sequence[str], **asked: Any) -> None:
    """Find the memories that best answer a query.

    QUERY may be left out with --mode recent or metadata. Words in double quotes must occur as a phrase. Hits that
    probably don't answer the query are left out and counted; --all shows them. When the evidence is weak, the hits have
    the heading "Possibly related:". With --json all hits are printed, unless --applies is given.
    """
    several = spaces_of(asked, lambda: space_choice(options).space)
    if several and why_not:
        raise click.UsageError("--why-not explains a search of one space")
    applies = asked.pop("applies")
    if applies is None:
        applies = not (all_ or options.json)
    body = {"query": query, "applies": applies, **_parameters(asked), **ranking_body(asked), **several}
    wanted = as_filter(**asked)
    if wanted:
        body["filter"] = wanted
    with session(options, reads=True) as opened:
        if "similar_to" in body and not several:
            body["similar_to"] = find_id(opened, [body["similar_to"]])
        if why_not:
            body["explain_ids"] = [locate_id(opened, one) for one in why_not]
        call = calls.search_spaces(body) if several else calls.search(opened.space, body)
        reply = opened.client.send(call)
        hits, weak = reply.data["hits"], reply.data["evidence"] == "weak"
        if hits and weak and not options.json and not for_people(options):
            talk(RELATED)
        head = RELATED if weak else None
        answer(options, reply, lambda _: _hits(hits, head), lambda _: [_line(hit, full) for hit in hits])
        for line in () if options.json else _beside(reply.data):
            talk(line)
        for note in _notes(reply.data):
            talk(note)
        place = "spaces searched" if several else f"space {opened.space}"
        if (remark := _note_on(place, reply.data, filtered=wanted is not None)) and not options.json:
            talk(remark)


def ranking_body(asked: dict[str, Any]) -> dict[str, Any]:
    """Move the options out of the arguments of the command, into fields of the request; leave out the rest."""
    signals: Sequence[tuple[str, float]] = asked.pop("signals")
    plain = ("similar_to", "group_by", "diversity", "context_window", "min_score", "preset", "tag_rule")
    body: dict[str, Any] = {name: asked.pop(name) for name in (*plain, "intent", "facts")}
    body |= {"rankings": dict(asked.pop("rankings"))}
    body |= {"signals": dict(signals), "boost_tags": dict(asked.pop("boost_tags"))}
    falls_back: bool = asked.pop("fallback_to_keyword")
    given = {name: value for name, value in body.items() if value not in (None, False, {})}
    return given if falls_back else {**given, "fallback_to_keyword": False}


def spaces_of(asked: dict[str, Any], usual: Callable[[], str]) -> Mapping[str, Any]:
    """Move the spaces out of the arguments of the command, into fields of the request; empty for the usual space."""
    spaces: Sequence[tuple[str, float]] = asked.pop("spaces")
    chain: str | None = asked.pop("inherit")
    inherited: bool = asked.pop("inherited")
    if [bool(spaces), bool(chain), inherited].count(True) > 1:
        raise click.UsageError("--in, --inherit and --inherited name the spaces in several ways; give one")
    if inherited:
        return {"inherit_from": usual()}
    if chain:
        return {"inherit": [name.strip() for name in chain.split(",") if name.strip()]}
    return {"spaces": [{"name": name, "weight": weight} for name, weight in spaces]} if spaces else {}


def _beside(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each standing instruction, with why it counts as one, and for each explained memory."""
    for one in found.get("instructions", ()):
        why = "guard" if one["reason"] == "type" else "reads like one"
        yield f"Standing instruction ({short_id(one['memory'])}, {why}): {brief(one['memory']['content'])}"
    for one in found.get("explained", ()):
        yield f"{one['id']}: {one['reason']}. {one['sentence']}"


def _notes(found: Mapping[str, Any]) -> Iterator[str]:
    if (intent := found.get("intent")) is not None:
        yield f"Read as {intent['kind']}: {intent['sentence']}" + ("" if intent["applied"] else " Not applied.")


def _note_on(place: str, found: Mapping[str, Any], *, filtered: bool) -> str:
    """Return a note about the answer for the person: what it leaves out, or why there are no hits; else an empty text.

    >>> memory = {"content": "Deploys are on Tuesday"}
    >>> _note_on("space s", {"hits": [], "left_out": 2, "nearest": {"memory": memory}, "total": 2}, filtered=False)
    'Nothing in the space s answers this. --all shows the 2 memories that come nearest, first: Deploys are on Tuesday'
    >>> _note_on("space s", {"hits": [1], "left_out": 3, "total": 4}, filtered=False)
    "3 more memories were found that probably don't answer this; --all shows them."
    >>> _note_on("space s", {"hits": [], "left_out": 0, "total": 0}, filtered=True)
    'Nothing in the space s matches and passes the filter.'
    """
    place, left_out = f"the {place}", found["left_out"]
    if not found["total"]:
        return f"Nothing in {place} matches{' and passes the filter' if filtered else ''}."
    place += " that passes the filter" if filtered else ""
    if found["hits"]:
        if left_out == 1:
            return "1 more memory was found that probably doesn't answer this; --all shows it."
        if left_out:
            return f"{left_out} more memories were found that probably don't answer this; --all shows them."
        doubtful = found["applies"] is not None and found["applies"] < APPLIES
        return f"Probably nothing in {place} answers this; these memories come nearest." if doubtful else ""
    if "nearest" not in found:
        return f"Nothing about this in {place}."
    which = "memory that comes nearest" if left_out == 1 else f"{left_out} memories that come nearest, first"
    return f"Nothing in {place} answers this. --all shows the {which}: {brief(found['nearest']['memory']['content'])}"


def _parameters(asked: dict[str, Any]) -> dict[str, Any]:
    """Move the parameters of the request out of `asked`, which keeps the parts of the filter."""
    plain = ("limit", "as_of", "time_zone", "mode", "match", "fusion", "alpha", "trust_weight", "second_query")
    body = {name: asked.pop(name) for name in (*plain, "min_evidence", "explain", "highlight", "no_touch", "receipt")}
    recency = {"weight": asked.pop("recency_weight"), "half_life_days": asked.pop("half_life")}
    given = {name: value for name, value in recency.items() if value is not None}
    body["recency"] = {"function": "half_life", **given} if given else None
    body["instructions"] = asked.pop("instructions")
    return {name: value for name, value in body.items() if value is not None and value is not False}


def _line(hit: Mapping[str, Any], full: bool) -> str:
    memory = hit["memory"]
    text = _said(hit) + (hit.get("highlight") or (memory["content"] if full else brief(_passage(hit))))
    parts = [*hit.get("facts", ()), *([" ".join(_factors(hit["explain"]))] if hit.get("explain") else [])]
    where = _in_document(hit["place"]) if "place" in hit else address(memory)
    return tabbed(memory["id"], f"{hit['score']:.4f}", where, text, *parts)


def _hits(hits: Sequence[Mapping[str, Any]], head: str | None) -> Shown:
    spaces = {hit["memory"]["space"] for hit in hits}
    parts: list[Shown] = [cell(head, "bold")] if head and hits else []
    for number, hit in enumerate(hits, start=1):
        memory = hit["memory"]
        facts = [f"{hit['score']:.3f}", short_id(memory), ago(memory["created_at"]), address(memory)]
        facts += [f"#{tag}" for tag in memory["tags"]]
        facts += _place(hit, several=len(spaces) > 1)
        parts.append(cell(f"{number}. ", "bold") + cell("  ".join(filter(None, facts)), "dim"))
        around = hit.get("context") or {"before": (), "after": ()}
        parts += [_neighbour(one) for one in around["before"]]
        parts.append(_body(hit))
        parts += [indented(cell(fact, "green")) for fact in hit.get("facts", ())]
        parts += [_neighbour(one) for one in around["after"]]
        if hit.get("explain"):
            parts.append(indented(_explained(hit["explain"])))
    return stack(*parts) if parts else cell("No hits.")


def _place(hit: Mapping[str, Any], *, several: bool) -> Iterator[str]:
    """Yield the place of a chunk in its document, and the space and the group of a hit, where there are several."""
    if "place" in hit:
        yield _in_document(hit["place"])
        yield from (" › ".join(hit["place"]["headings"]), hit["place"]["symbol"] or "")
    if several:
        yield f"in {hit['memory']['space']}"
    if (group := hit.get("group")) is not None:
        yield f"best of {group['ranked']} ranked, {group['count']} in all of {group['value']}"


def _in_document(place: Mapping[str, Any]) -> str:
    """Return the path of a document, with the lines or the page of a chunk.

    >>> _in_document({"path": "a.py", "first_line": 3, "last_line": 9, "page": None})
    'a.py:3-9'
    """
    if place["page"] is not None:
        return f"{place['path']}, page {place['page']}"
    return f"{place['path']}:{place['first_line']}-{place['last_line']}"


def _neighbour(memory: Mapping[str, Any]) -> Shown:
    return indented(cell(f"{memory['author'] or '…'}: {brief(memory['content'])}", "dim"))


def _body(hit: Mapping[str, Any]) -> Shown:
    if hit.get("highlight"):
        text = cell(_said(hit), "dim")
        for number, part in enumerate(" ".join(hit["highlight"].split()).split(MARK)):
            text.append_text(cell(part, "bold" if number % 2 else ""))
        return indented(text)
    return indented(cell(_said(hit), "dim") + cell(brief(_passage(hit))))


def _said(hit: Mapping[str, Any]) -> str:
    """Return the speaker of a turn with a colon; nothing where its text begins with that."""
    speaker = " ".join((hit.get("speaker") or "").split())
    return f"{speaker}: " if speaker and not _passage(hit).lstrip().startswith(f"{speaker}:") else ""


def _passage(hit: Mapping[str, Any]) -> str:
    content, found = hit["memory"]["content"], hit["passage"]
    return content if len(content) <= BRIEF else content[found["start"] : found["stop"]]


def _factors(explain: Mapping[str, Any]) -> Iterator[str]:
    for name, value in explain.items():
        if isinstance(value, float | int | str):
            yield f"{name}={value:.4f}" if isinstance(value, float) else f"{name}={value}"
        elif isinstance(value, Mapping):
            yield from _factors({f"{name}.{part}": one for part, one in value.items()})


def _explained(explain: Mapping[str, Any]) -> Shown:
    factors = dict(explain)
    groups = {
        title: [(name, factors.pop(name)) for name in names if name in factors] for title, names in FACTORS.items()
    }
    groups["other"] = [*factors.items()]
    rows = [(cell(title, "dim"), cell("  ".join(_valued(found)), "dim")) for title, found in groups.items()]
    return fields([(title, found) for title, found in rows if found.plain])


def _valued(found: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Format names with their values; a value of None is left out."""
    for name, value in found:
        if isinstance(value, Mapping):
            yield from _valued([(str(part), one) for part, one in value.items()])
        elif value is not None:
            yield f"{name.replace('_', ' ')} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
