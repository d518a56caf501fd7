"""Commands about probes: questions whose answer is known."""

from collections.abc import Mapping
from typing import Any

import click

from muisti.client import calls
from muisti.service.terminal.base import ERROR, Failure, Globals
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.memory_names import NAME, check_name, locate
from muisti.service.terminal.options import limit, real
from muisti.service.terminal.output import answer, talk
from muisti.service.terminal.session import session
from muisti.service.terminal.views import Shown, View, grid, lines, said

NONE = "There are no probes yet: muisti probe add QUERY ID"

probe = Operations(
    "probe",
    examples=('muisti probe add "when do we deploy?" rules deploy', "muisti probe run"),
    help="Save test questions, and check that searches find the expected memory.\n\n"
    "Run them after a change of the model, the settings or the memories, to notice worse answers.",
)


@probe.has(
    'muisti probe add "when do we deploy?" rules deploy',
    'muisti probe add "what does Anna drink?" 0197a3c0-5f4e-7000-8000-0123456789ab --k 3',
)
@click.argument("query")
@click.argument("expected", metavar=NAME, nargs=-1, required=True)
@limit("It should be among the first N hits.  [default: 10]", None, "--k")
def add(options: Globals, query: str, expected: tuple[str, ...], k: int | None) -> None:
    """Save a question and the memory that it should find.

    Name the memory by its ID, or name a CATEGORY and a KEY: then any memory at that address will do. Prints the probe's
    ID.
    """
    check_name(expected)
    with session(options) as opened:
        found = locate(opened, expected)
        wanted = {"memory_id": found} if isinstance(found, str) else {"category": found[0], "key": found[1]}
        body: dict[str, Any] = {"query": query, **wanted, **({} if k is None else {"k": k})}
        reply = opened.client.send(calls.add_probe(opened.space, body))
        answer(options, reply, *said(reply.data["id"], reply.data["id"]))


@probe.has("muisti probe run", "muisti probe run --min-recall 0.9")
@real("--min-recall", "Exit with 1 when the recall is lower.", 0, 1)
def run(options: Globals, min_recall: float | None) -> None:
    """Ask all questions, and show the rank of each expected memory.

    Plain lines have the ID, the rank (empty: not among the first 100), the expected memory and the query. The recall is
    the share of questions that found theirs.
    """
    with session(options, reads=True) as opened:
        pinned = {one["id"]: one for one in opened.client.send(calls.list_probes(opened.space)).data["items"]}
        reply = opened.client.send(calls.run_probes(opened.space))
        ranks = {one["id"]: one["rank"] for one in reply.data["ranks"]}
        asked = [pinned[id_] for id_ in ranks if id_ in pinned]
        plain = lines("id", lambda one: ranks[one["id"]], _expected, "query")
        answer(options, reply, lambda _: _table(asked, ranks), lambda _: plain({"items": asked}))
        if not ranks:
            talk(NONE)
            if min_recall is not None:
                raise Failure("there is no recall to compare", ERROR)
            return
        recall = reply.data["recall"]
        talk(f"Recall {recall:.3f} of {len(ranks)} probes.")
        if min_recall is not None and recall < min_recall:
            raise Failure(f"the recall is less than {min_recall:g}", ERROR)


def _expected(one: Mapping[str, Any]) -> str:
    return one["memory_id"] or f"{one['category']}/{one['key']}"


def _table(probes: list[Mapping[str, Any]], ranks: Mapping[str, int | None]) -> Shown:
    rows = (
        (
            *(one["id"], one["query"], _expected(one), one["k"]),
            "" if one["id"] not in ranks else ranks[one["id"]] or "-",
        )
        for one in probes
    )
    return grid(None, "id", "query", "expects", "k", "rank", right=("k", "rank"), rows=rows)


probe.call(
    "list",
    calls.list_probes,
    View(lambda data: _table(data["items"], {}), lines("id", "query", _expected, "k"), NONE),
    help="List probes, oldest first.",
)
probe.call(
    "delete ID=probe_id",
    calls.delete_probe,
    lambda given: said(given["probe_id"], given["probe_id"]),
    "muisti probe delete 0197a3c0-5f4e-7000-8000-0123456789b0",
    prints="its ID",
)
