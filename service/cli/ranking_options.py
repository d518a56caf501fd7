"""Options of the search command beyond filter, mode and fusion: neighbours, groups, signals, several spaces."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar, get_args

import click

from muisti.core.model.terms import Preset, TagRule
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
    click.option("--similar-to", metavar="ID", help="Search by this memory in place of a query."),
    click.option("--group-by", metavar="FIELD", help="Show the best hit of each category, author, metadata.x, …"),
    click.option(
        "--diversity", type=click.FloatRange(0, 1), metavar="X", help="Weight of novelty in choosing hits, 0 to 1."
    ),
    click.option(
        "--context-window", type=click.IntRange(0, 10), metavar="N", help="Show N turns before and after each hit."
    ),
    click.option("--min-score", type=click.FloatRange(0, 1), metavar="X", help="Show no hits of a lower score."),
    click.option(
        "--fallback-to-keyword/--no-fallback-to-keyword",
        default=True,
        help="Rank by words where the model of the space is missing, or fail.  [default: rank]",
    ),
    click.option(
        "--signal",
        "signals",
        type=Weighted(),
        multiple=True,
        metavar="NAME=X",
        help="Weight of a signal, which lowers scores: tag, position, recency.",
    ),
    click.option(
        "--preset", type=click.Choice(get_args(Preset)), help="Add up similarity, tags, age and position instead."
    ),
    click.option(
        "--boost-tag",
        "boost_tags",
        type=Weighted(),
        multiple=True,
        metavar="TAG[=X]",
        help="Score of a tag, for the tag signal.",
    ),
    click.option("--tag-rule", type=click.Choice(get_args(TagRule)), help="Way to sum up tags.  [default: max]"),
    click.option(
        "--ranking",
        "rankings",
        type=Weighted(),
        multiple=True,
        metavar="NAME=X",
        help="Weight of a ranking beside those of the mode: graph, by ties to what the query names.",
    ),
    click.option("--intent", is_flag=True, help="Say which mode and filter the query asks for, without applying them."),
    click.option(
        "--in",
        "spaces",
        type=Weighted(),
        multiple=True,
        metavar="SPACE[=X]",
        help="Search this space, with this weight; repeat it to search several together.",
    ),
    click.option("--inherit", metavar="A,B,C", help="Search a chain of spaces, the nearest first."),
    click.option("--inherited", is_flag=True, help="Search the space, and those that its policy inherits."),
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
