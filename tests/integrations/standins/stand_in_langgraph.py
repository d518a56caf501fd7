"""Puts `MuistiStore` in the place of the stores that LangGraph's own suites test."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio
from spaces import empty_space

from muisti.integrations.langgraph import MuistiStore


class StandIn(MuistiStore):
    """A store made as LangGraph's are. Their embedding functions are not used: Muisti has a model."""

    def __init__(self, *, index: Any = None, ttl: Any = None, **_: Any) -> None:
        fields = False if index is None else index.get("fields")
        super().__init__(empty_space(), fields=fields, ttl=ttl)
        self.index_config = index
        self.embeddings = None if index is None else index["embed"]

    @classmethod
    @contextmanager
    def from_conn_string(cls, _: str, **options: Any) -> Iterator["StandIn"]:
        yield cls(**options)

    def setup(self) -> None:
        """Do nothing: a space is ready."""

    def sweep_ttl(self) -> int:
        """Delete nothing: what has expired is gone already."""
        return 0

    def start_ttl_sweeper(self, *_: Any) -> None:
        """Start nothing."""

    def stop_ttl_sweeper(self, *_: Any) -> bool:
        return True


class AsyncStandIn(StandIn):
    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, _: str, **options: Any) -> AsyncIterator["AsyncStandIn"]:
        yield cls(**options)

    async def setup(self) -> None:
        """Do nothing: a space is ready."""

    async def sweep_ttl(self) -> int:
        return 0

    async def start_ttl_sweeper(self, *_: Any) -> None:
        """Start nothing."""

    async def stop_ttl_sweeper(self, *_: Any) -> bool:
        return True


langgraph.store.memory.InMemoryStore = StandIn
langgraph.store.sqlite.SqliteStore = StandIn
langgraph.store.sqlite.AsyncSqliteStore = AsyncStandIn
langgraph.store.sqlite.aio.AsyncSqliteStore = AsyncStandIn
