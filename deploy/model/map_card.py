"""The card of the map of queries, MODEL.md: what it is, from which texts under which licences."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from deploy.model.corpus import Reading
from deploy.model.source_list import source_list

TEMPLATE = Path(__file__).parent / "map_card.txt"


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a map, for its card."""

    readings: list[Reading]
    texts: int
    cosine: float
    ridge: float


def write_card(folder: Path, facts: Facts) -> None:
    """Write the card beside the files of a map."""
    files = sorted(file for file in folder.iterdir() if file.name != "MODEL.md")
    text = TEMPLATE.read_text().format(
        texts=f"{facts.texts:,}",
        cosine=f"{facts.cosine:.3f}",
        ridge=f"{facts.ridge:.2g}",
        dropped=f"{sum(reading.dropped for reading in facts.readings):,}",
        sources=source_list(facts.readings),
        files="\n".join(f"| `{file.name}` | `{sha256(file.read_bytes()).hexdigest()}` |" for file in files),
    )
    (folder / "MODEL.md").write_text(text)
