"""Measure which names the graph takes for one entity, on pairs that were judged by reading.

    python -m loadtests.quality.merging DATA… [--judged FILE] [--draw 40]

Each DATA is a folder of judged data; of chats with an assistant only the turns of users are read. FILE has a verdict on
each pair: the space, a hash of each spelling (`code_of`), and whether they are one entity. The rules were chosen on the
part `tuning`; the part `report` was judged after that, and before they ran on it. The row `in any case` adds the pairs
that differ in case or "the" alone, which were one key in earlier versions. `--draw` prints pairs to judge that
are not judged yet: of each set so many merges, and others. They come in random order, with the texts around them and
without what the rules say.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Literal, NamedTuple

import click
import msgspec

from loadtests.quality.merging_pairs import AUTOMATIC, RULES, Read, Rule, counted, drawn, lines, spaces

JUDGED = Path(__file__).with_name("merging_judged.json")
SURE = 1.959964  # standard deviations of 95 %

Part = Literal["tuning", "report"]
PARTS: tuple[Part, ...] = ("tuning", "report")


class Judged(msgspec.Struct, frozen=True):
    """A verdict on two spellings of a space, given by their hashes."""

    space: str
    first: str
    second: str
    same: bool
    part: Part


class Score(NamedTuple):
    """Counts pairs that some rules take for one entity, those of them that are, and all pairs that are."""

    found: int
    right: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else float("nan")


def score(judged: Iterable[Judged], ruled: Mapping[Judged, Rule], rules: Sequence[Rule]) -> Score:
    """Return how well some rules find the pairs that are one entity."""
    every = list(judged)
    found = [one for one in every if ruled[one] in rules]
    return Score(len(found), sum(one.same for one in found), sum(one.same for one in every))


def interval(right: int, number: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson.

    >>> [round(end, 3) for end in interval(98, 100)]
    [0.93, 0.994]
    """
    if not number:
        return 0.0, 1.0
    share, square = right / number, SURE**2 / number
    middle, half = share + square / 2, SURE * sqrt(share * (1 - share) / number + square / (4 * number))
    return max((middle - half) / (1 + square), 0.0), min((middle + half) / (1 + square), 1.0)


def _share(right: int, number: int) -> str:
    if not number:
        return "–"
    low, high = interval(right, number)
    return f"{right / number:.3f} ({low:.3f} {high:.3f})"


def table(
    judged: Sequence[Judged], ruled: Mapping[Judged, Rule], folding: Container[Judged] = frozenset()
) -> Iterator[str]:
    """Yield the lines of a table: each rule in each part, and all automatic rules in each set.

    `folding` are the pairs that differ in case or "the" alone.
    """
    loose: dict[Judged, Rule] = {one: "key" if one in folding else rule for one, rule in ruled.items()}
    yield "| part | pairs | found | right | precision (95 %) | recall (95 %) |\n| --- | --- | --- | --- | --- | --- |"
    rows: dict[str, Sequence[Rule]] = {"all automatic": AUTOMATIC, **{rule: (rule,) for rule in RULES[:-1]}}
    rows["automatic or proposal"] = RULES[:-1]
    for part in PARTS:
        mine = [one for one in judged if one.part == part]
        asked = [(title, mine, rules) for title, rules in rows.items()]
        for name in sorted({one.space.split("/")[0] for one in mine}):
            own = [one for one in mine if one.space.split("/")[0] == name]
            asked.append((f"all automatic, {name}", own, AUTOMATIC))
        for title, some, rules in (*asked, ("all automatic, in any case", mine, AUTOMATIC)):
            one = score(some, loose if title.endswith("in any case") else ruled, rules)
            shares = f"{_share(one.right, one.found)} | {_share(one.right, one.wanted)}"
            yield f"| {part} | {title} | {one.found} | {one.right} | {shares} |"


def _errors(judged: Iterable[Judged], read: Mapping[str, Read], ruled: Mapping[Judged, Rule]) -> Iterator[str]:
    for one in judged:
        if one.same != (ruled[one] in AUTOMATIC) and (one.same or ruled[one] != "none"):
            known = read[one.space].spellings
            names = " / ".join(known[code].text if code in known else code for code in (one.first, one.second))
            yield f"{'missed' if one.same else 'wrong'} ({ruled[one]}), {one.part}, {one.space}: {names}"


@click.command()
@click.argument("data", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judged", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=JUDGED)
@click.option("--draw", type=click.IntRange(1), help="Print so many merges of each set to judge instead, and others.")
def main(data: Sequence[Path], *, judged: Path, draw: int | None) -> None:
    """Print how many judged pairs the rules and the proposals find, and which they get wrong."""
    read = {space: one for folder in data for space, one in spaces(folder)}
    verdicts = msgspec.json.decode(judged.read_bytes(), type=list[Judged])
    if draw is not None:
        judged_already = {(one.space, one.first, one.second) for one in verdicts}
        click.echo("\n".join(lines(drawn(read, draw, draw // 4, judged_already), read)))
        return
    known = [one for one in verdicts if one.space in read]
    ruled: dict[Judged, Rule] = {one: read[one.space].rule(one.first, one.second) for one in known}
    folding = {one for one in known if read[one.space].folds(one.first, one.second)}
    click.echo("\n".join(table(known, ruled, folding)))
    merges = sum((counted(one) for one in read.values()), Counter[Rule]())
    click.echo(f"merges of all names: {', '.join(f'{rule} {merges[rule]}' for rule in AUTOMATIC)}")
    click.echo("\n".join(_errors(known, read, ruled)))


if __name__ == "__main__":
    main()
