"""The model's card, core/model/MODEL.md: what it is, from which texts under which licences, what to know before use."""

from dataclasses import dataclass
from pathlib import Path

from deploy.model.corpus import Reading
from deploy.model.export import digests
from deploy.model.values import Kind

TEMPLATE = Path(__file__).parent / "card.md"
REGISTRIES = {"pypi": "PyPI", "npm": "npm", "debian": "Debian 12", "python": "CPython"}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the build knows of itself."""

    readings: list[Reading]
    pairs: dict[Kind, int]  # with the generated questions
    lessons: int
    decontaminated: bool


def write_card(folder: Path, facts: Facts) -> None:
    clean = (
        f"Every pair that shares nine words in a row with a document or query of the judged sets was dropped "
        f"({sum(reading.dropped for reading in facts.readings):,} pairs)."
        if facts.decontaminated
        else "**This build was not decontaminated**: its scores on judged sets are worth nothing."
    )
    text = TEMPLATE.read_text().format(
        lessons=f"{facts.lessons:,}",
        total=f"{sum(facts.pairs.values()):,}",
        kinds="\n".join(f"| {kind} | {count:,} |" for kind, count in facts.pairs.items()),
        clean=clean,
        sources="\n".join(map(_row, facts.readings)),
        files="\n".join(f"| `{name}` | `{digest}` |" for name, digest in digests(folder).items()),
    )
    (folder / "MODEL.md").write_text(text)


def _row(reading: Reading) -> str:
    source = reading.source
    return (
        f"| {source.name} | {source.version} | {REGISTRIES[source.registry]} | {reading.licence} | {reading.pairs:,} |"
    )
