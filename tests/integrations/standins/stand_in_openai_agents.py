"""Puts `MuistiSession` in the place of the `SQLiteSession` that the suite of the Agents SDK tests."""

from typing import Any

import agents
import agents.memory
from agents.memory.session_settings import coerce_session_settings
from spaces import empty_space, space_of

from muisti.integrations.openai_agents import MuistiSession


class StandIn(MuistiSession):
    """A session made as `SQLiteSession` is: one path is one space."""

    def __init__(self, session_id: str, db_path: Any = ":memory:", session_settings: Any = None) -> None:
        space = empty_space() if str(db_path) == ":memory:" else space_of(str(db_path))
        if isinstance(session_settings, dict):
            session_settings = coerce_session_settings(session_settings)
        super().__init__(session_id, space, session_settings=session_settings)

    def close(self) -> None:
        """Close nothing: the handle is not the session's own."""


agents.SQLiteSession = StandIn
agents.memory.SQLiteSession = StandIn
