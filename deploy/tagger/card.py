"""The tagger's card, MODEL.md: from which texts and lists under which licences, and what to know before use."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.tagger.lists import SOURCES
from muisti.core.graph.entities.tagger import SHIPPED

TEMPLATE = Path(__file__).parent / "card.txt"
LICENCES = {
    "ner_wnut17": ("WNUT 2017, emerging entities (Derczynski et al., 2017)", "CC BY 4.0"),
    "ner_btc": ("Broad Twitter Corpus (Derczynski et al., 2016)", "CC BY 4.0"),
    "ner_wikigold": ("wikigold (Balasuriya et al., 2009)", "CC BY 4.0"),
    "relations_conll04": ("CoNLL 2004 (Roth and Yih, 2004)", "MIT, as published with its relations"),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a training, for the card."""

    sentences: Mapping[str, int]
    words: int
    size: int
    f1: Mapping[str, float]


def write_card(folder: Path, facts: Facts) -> None:
    """Write the card beside the tagger."""
    sets = [f"| {LICENCES[name][0]} | {count:,} | {LICENCES[name][1]} |" for name, count in facts.sentences.items()]
    lists = [f"| {source.name} | {source.version} | {source.licence} |" for source in SOURCES]
    text = TEMPLATE.read_text("utf-8").format(
        size=facts.size,
        words=facts.words,
        digest=hashlib.sha256((folder / SHIPPED.name).read_bytes()).hexdigest(),
        sets="\n".join(sets),
        lists="\n".join(lists),
        f1=", ".join(f"{name} {value:.3f}" for name, value in facts.f1.items()),
    )
    (folder / "MODEL.md").write_text(text, "utf-8")
