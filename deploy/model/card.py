"""The model's card, MODEL.md: what it is, from which texts under which licences, what to know before use."""

from dataclasses import dataclass
from pathlib import Path

from deploy.model.corpus import Reading
from deploy.model.export import digests
from deploy.model.source_list import source_list
from deploy.model.values import Kind

TEMPLATE = Path(__file__).parent / "card.txt"


FROM_SCRATCH = "Start: the teacher's vector of each token alone, frequent tokens weighing less."
CONTINUED = (
    "Start: the model that shipped before (`deploy/model/ancestor`, with its card), turned onto the axes of the "
    "teacher; words that it knew in pieces begin as the sum of those."
)
INHERITED = """\
- **What it inherits.** The start table was distilled from the same teacher and trained on 798,000 pairs, about 2,900 of
  them from Debian manuals under the GPL and some under a mixture of free licences. They take no part in this build.
  `make model ARGS=--from-scratch` builds without that table.
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a build, for the model's card."""

    readings: list[Reading]
    pairs: dict[Kind, int]  # with the generated questions
    trained: int  # of them
    lessons: int
    tokens: int
    decontaminated: bool
    from_scratch: bool


def write_card(folder: Path, facts: Facts) -> None:
    clean = (
        f"Every pair that shares nine words in a row with a document or query of the judged sets was dropped "
        f"({sum(reading.dropped for reading in facts.readings):,} pairs)."
        if facts.decontaminated
        else "**This build was not decontaminated**: its scores on judged sets are worth nothing."
    )
    text = TEMPLATE.read_text().format(
        start=FROM_SCRATCH if facts.from_scratch else CONTINUED,
        inherited="" if facts.from_scratch else INHERITED,
        trained=f"{facts.trained:,}",
        lessons=f"{facts.lessons:,}",
        tokens=f"{facts.tokens:,}",
        total=f"{sum(facts.pairs.values()):,}",
        kinds="\n".join(f"| {kind} | {count:,} |" for kind, count in facts.pairs.items()),
        clean=clean,
        sources=source_list(facts.readings),
        files="\n".join(f"| `{name}` | `{digest}` |" for name, digest in digests(folder).items()),
    )
    (folder / "MODEL.md").write_text(text)
