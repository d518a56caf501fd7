"""tantivy: English stems, one segment on disk, the number of each hit read from a fast field."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tantivy

from loadtests.peers.lexical import LexicalEngine
from loadtests.shelf import Shelf

WORDS = re.compile(r"\w+")
HEAP = 512 << 20  # bytes for the writer


def engines(texts: Sequence[str], shelf: Shelf) -> list[LexicalEngine]:
    path, seconds = shelf.kept("tantivy", lambda path: _build(texts, path))
    index = tantivy.Index(_schema(), path=str(path))
    searcher = index.searcher()

    def search(question: str, k: int) -> np.ndarray:
        query = index.parse_query(" ".join(WORDS.findall(question)).lower(), ["text"])
        hits = searcher.search(query, k, count=False).hits
        return np.array([searcher.doc(address)["number"][0] for _, address in hits], np.int64)

    size = sum(file.stat().st_size for file in path.iterdir())
    return [LexicalEngine("tantivy", search, seconds, size)]


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="en_stem")
    builder.add_integer_field("number", stored=True)
    return builder.build()


def _build(texts: Sequence[str], path: Path) -> None:
    path.mkdir()
    writer = tantivy.Index(_schema(), path=str(path)).writer(HEAP, 1)
    for number, text in enumerate(texts):
        writer.add_document(tantivy.Document(text=[text], number=[number]))
    writer.commit()
    writer.wait_merging_threads()
