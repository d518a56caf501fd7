"""List, build, compare, exchange and drop the models of a space."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muisti.client import calls
from muisti.client.calls import Call
from muisti.service.cli.base import ERROR, Failure, Globals
from muisti.service.cli.following import concluded
from muisti.service.cli.output import answer, cell, grid, tabbed, talk
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table


def show_all(options: Globals) -> None:
    """Print the models of a space."""
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.list_generations(opened.space))
        answer(options, reply, table=lambda data: _table(data["items"]), plain=_lines, none="Nothing is embedded yet.")
        talk("At hand: " + (", ".join(reply.data["models"]) or "no model, embeddings are off"))


def build(options: Globals, model: str, *, wait: bool) -> int:
    """Begin a second model, follow its task if asked to, and return the exit code."""
    with session(options) as opened:
        request = calls.build_generation(opened.space, {"model": model})
        task = opened.client.send(request).data
        return concluded(options, opened, task, wait=wait)


def compare(options: Globals, queries: Sequence[str], judged: str | None, k: int) -> None:
    """Print how the model of a space and its shadow answer the same questions."""
    body = {"k": k, "queries": [*queries], "qrels": {} if judged is None else _judged(Path(judged))}
    with session(options) as opened:
        reply = opened.client.send(calls.compare_generations(opened.space, body))
        answer(options, reply, table=_compared, plain=_compared_lines)
        if not reply.data["questions"]:
            talk("There was no question: add probes with muisti probe add, or give --query or --judged.")


def switch(options: Globals, *, force: bool) -> None:
    """Use the shadow of a space, and print it."""
    with session(options) as opened:
        _exchange(options, opened, calls.switch_generation(opened.space, {"force": force}))
        talk("muisti generations rollback leads back; muisti generations drop ends the model before.")


def roll_back(options: Globals, *, force: bool) -> None:
    """Use the model before again, and print it."""
    with session(options) as opened:
        _exchange(options, opened, calls.roll_back_generation(opened.space, {"force": force}))


def drop(options: Globals, model: str) -> None:
    """Delete the vectors of a model, and print how many there were."""
    with session(options) as opened:
        reply = opened.client.send(calls.drop_generation(opened.space, model))
        answer(
            options,
            reply,
            table=lambda one: cell(f"{one['generation']} {one['dropped']}"),
            plain=lambda one: [tabbed(one["generation"], one["dropped"])],
        )


def _exchange(options: Globals, opened: Any, request: Call) -> None:
    reply = opened.client.send(request)
    answer(options, reply, table=lambda one: _table([one]), plain=lambda one: [tabbed(*_line(one))])


def _judged(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Failure(f"{path} is no JSON: {error}", ERROR) from error


def _lines(data: Any) -> list[str]:
    return [tabbed(*_line(one)) for one in data["items"]]


def _line(one: Any) -> list[str]:
    return [one["generation"], one["model"], one["role"], str(one["embedded"]), str(one["passages"])]


def _table(listed: Sequence[Any]) -> Table:
    table = grid(None, "model", "hash", "role", "embedded", "at hand", right=("embedded",))
    for one in listed:
        told = f"{one['role']}, before" if one["served"] else one["role"]
        table.add_row(
            cell(one["model"]),
            cell(one["generation"][:12]),
            cell(told, "green" if one["role"] == "current" else ""),
            f"{one['embedded']}/{one['passages']}",
            "yes" if one["available"] else "no",
        )
    return table


def _compared_lines(data: Any) -> list[str]:
    lines = [tabbed(side, *(_number(data[side][name]) for name in ("recall", "ndcg", "ms"))) for side in _SIDES]
    return [*lines, tabbed("overlap", _number(data["overlap"]), data["questions"], data["missing"])]


def _compared(data: Any) -> Table:
    table = grid(None, "", "hash", "probe recall", f"nDCG@{data['k']}", "ms", right=("probe recall", "ms"))
    for side in _SIDES:
        one = data[side]
        table.add_row(side, one["generation"][:12], *(_number(one[name]) for name in ("recall", "ndcg", "ms")))
    table.add_row(f"overlap@{data['k']}", _number(data["overlap"]), f"{data['questions']} questions", "", "")
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


_SIDES = ("current", "shadow")
