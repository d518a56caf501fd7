"""spaCy as a recogniser of names, in a process of another Python: `PYTHON entity_peers.py MODEL < texts > names`.

The file needs only spaCy, so that the environment that has it needs nothing of Muisti. It reads a list of texts in
JSON, each with `text` and perhaps `words`. It writes the names of each, and the processor time in seconds.
"""

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KINDS = {
    **{"PERSON": "PER", "ORG": "ORG"},
    **dict.fromkeys(("GPE", "LOC", "FAC"), "LOC"),
    **dict.fromkeys(("NORP", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE"), "MISC"),
}
"""spaCy's kinds of names; its kinds of numbers and dates are left out."""

Named = tuple[int, int, str]


def ask(python: Path, model: str, texts: Sequence[dict]) -> tuple[list[list[Named]], float]:
    """Return the names in each text, and the seconds of processor time that spaCy took for all.

    Raises subprocess.CalledProcessError when spaCy or its model is missing there.
    """
    done = subprocess.run(
        [str(python), __file__, model], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    return [[(start, stop, kind) for start, stop, kind in one] for one in answer["names"]], answer["seconds"]


def main(model: str) -> None:
    """Answer the texts of the standard input."""
    spacy: Any = importlib.import_module("spacy")
    language = spacy.load(model, exclude=["tagger", "parser", "attribute_ruler", "lemmatizer"])
    texts = json.load(sys.stdin)
    made: Any = importlib.import_module("spacy.tokens").Doc

    def given(one: dict) -> Any:
        words = one.get("words")
        return made(language.vocab, words=words, spaces=[True] * len(words)) if words else one["text"]

    list(language.pipe([given(one) for one in texts[:20]]))
    docs = [given(one) for one in texts]
    began = time.process_time()
    found = [
        [(name.start_char, name.end_char, KINDS[name.label_]) for name in doc.ents if name.label_ in KINDS]
        for doc in map(language, docs)
    ]
    json.dump({"names": found, "seconds": time.process_time() - began}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
