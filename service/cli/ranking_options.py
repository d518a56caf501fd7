"""Options of the search command beyond filter, mode and fusion: neighbours, groups, signals, several spaces."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar, get_args

import click

from muisti.core.model.terms import Preset, TagRule
from muisti.service.cli.options import choice, flag, integer, option, real
from muisti.service.cli.values import refuse

F = TypeVar("F", bound=Callable[..., Any])


class Weighted(click.ParamType):
    """Parse a name with a weight, such as `release=0.5`; a name alone has the weight 1.

    >>> Weighted().convert("old lake=0.5", None, None), Weighted().convert("release", None, None)
    (('old lake', 0.5), ('release', 1.0))
    """

    name = "weighted"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        name, is_weighed, weight = value.rpartition("=")
        try:
            return (name, float(weight)) if is_weighed else (value, 1.0)
        except ValueError:
            refuse(value, "a name with a weight such as name=0.5", param, ctx)


_OPTIONS: Sequence[Callable[..., Any]] = (
    option("--similar-to", "Search by this memory in place of a query.", metavar="ID"),
    option("--group-by", "Show the best hit of each category, author, metadata.x, …", metavar="FIELD"),
    real("--diversity", "Weight of novelty in choosing hits, 0 to 1.", 0, 1),
    integer("--context-window", "Show N turns before and after each hit.", 0, 10),
    real("--min-score", "Show no hits of a lower score.", 0, 1),
    click.option(
        "--fallback-to-keyword/--no-fallback-to-keyword",
        default=True,
        help="Rank by words where the model of the space is missing, or fail.  [default: rank]",
    ),
    option(
        "--signal signals",
        "Weight of a signal, which lowers scores: tag, position, recency.",
        Weighted(),
        metavar="NAME=X",
        multiple=True,
    ),
    choice("--preset", "Add up similarity, tags, age and position instead.", get_args(Preset)),
    option(
        "--boost-tag boost_tags", "Score of a tag, for the tag signal.", Weighted(), metavar="TAG[=X]", multiple=True
    ),
    choice("--tag-rule", "Way to sum up tags.  [default: max]", get_args(TagRule)),
    option(
        "--ranking rankings",
        "Weight of a ranking beside those of the mode: graph, by ties to what the query names.",
        Weighted(),
        metavar="NAME=X",
        multiple=True,
    ),
    flag("--intent", "Say which mode and filter the query asks for, without applying them."),
    option(
        "--in spaces",
        "Search this space, with this weight; repeat it to search several together.",
        Weighted(),
        metavar="SPACE[=X]",
        multiple=True,
    ),
    option("--inherit", "Search a chain of spaces, the nearest first.", metavar="A,B,C"),
    flag("--inherited", "Search the space, and those that its policy inherits."),
)


def ranking_options(command: F) -> F:
    """Add the options to a command."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def ranking_body(asked: dict[str, Any]) -> dict[str, Any]:
    """Move the options out of the arguments of the command, into fields of the request; leave out the rest."""
    signals: Sequence[tuple[str, float]] = asked.pop("signals")
    plain = ("similar_to", "group_by", "diversity", "context_window", "min_score", "preset", "tag_rule")
    body: dict[str, Any] = {name: asked.pop(name) for name in (*plain, "intent")}
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
