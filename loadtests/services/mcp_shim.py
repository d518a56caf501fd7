"""Run mcp-memory-service unchanged, in its own environment, with a static model in place of its own.

`mcp_shim.py load MODEL TEXTS` fills the database, `mcp_shim.py serve MODEL PORT` serves it.
"""

import asyncio
import sys
from pathlib import Path

import uvicorn
from mcp_memory_service.config import SQLITE_VEC_PATH
from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.mixins.embeddings import EmbeddingsMixin
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.utils.hashing import generate_content_hash
from model2vec import StaticModel

BATCH = 1_000


class Static:
    """The part of a sentence-transformers model that the service uses."""

    def __init__(self, folder: str) -> None:
        self._model = StaticModel.from_pretrained(folder)
        self.embedding_dimension = int(self._model.dim)

    def encode(self, texts, **_):
        return self._model.encode(texts)

    def get_sentence_embedding_dimension(self) -> int:
        return self.embedding_dimension


def use(model: Static) -> None:
    """Make every storage take this model."""

    async def initialise(storage) -> None:
        storage.embedding_model = model
        storage.embedding_model_name = storage._embedding_cache_namespace = "static"
        storage.embedding_dimension = model.embedding_dimension

    EmbeddingsMixin._initialize_embedding_model = initialise


async def load(texts: list[str]) -> None:
    storage = SqliteVecMemoryStorage(SQLITE_VEC_PATH)
    await storage.initialize()
    for start in range(0, len(texts), BATCH):
        batch = [
            Memory(content=text, content_hash=generate_content_hash(text)) for text in texts[start : start + BATCH]
        ]
        await storage.store_batch(batch)


def main() -> None:
    action, folder, argument = sys.argv[1:]
    use(Static(folder))
    if action == "load":
        asyncio.run(load(Path(argument).read_text("utf-8").split("\n")))
    else:
        from mcp_memory_service.web.app import app  # noqa: PLC0415  # reads its settings when it is imported

        uvicorn.run(app, host="127.0.0.1", port=int(argument), log_level="warning")


if __name__ == "__main__":
    main()
