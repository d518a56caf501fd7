"""A session of OpenAI's Agents SDK whose items are memories: `MuistiSession`."""

from typing import Any

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from muisti.integrations.calls import Handle, run_anywhere
from muisti.integrations.entries import category, pack
from muisti.integrations.items import BATCH_MAX, Items


class MuistiSession(SessionABC):
    """The history of one conversation, for `Runner.run(agent, text, session=...)`.

    Each item is a memory with a number for its key, in a category of the session. Several processes may write one
    session: the items of one `add_items` stay together. The texts of items are found by searches of the space.
    """

    def __init__(
        self,
        session_id: str,
        memory: Handle,
        *,
        root: str = "sessions",
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id, self.session_settings = session_id, session_settings or SessionSettings()
        self._memory, self._items = memory, Items(memory, category((root, session_id)))

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, or the last `limit` of them, oldest first."""
        most = resolve_session_limit(limit, self.session_settings)
        newest = self._items.newest
        return await run_anywhere(self._memory, lambda: newest(None if most is None or most < 0 else most))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items: all of them, or none and an error. Above 1,000, each thousand is its own request."""
        fields = [_fields(item) for item in items]
        for start in range(0, len(items), BATCH_MAX):
            batch = fields[start : start + BATCH_MAX]
            await run_anywhere(self._memory, lambda batch=batch: self._items.append(batch))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it, or None when there is none."""
        return await run_anywhere(self._memory, self._items.pop)

    async def clear_session(self) -> None:
        """Remove all items. Their history stays, as that of every memory that is deleted."""
        await run_anywhere(self._memory, self._items.clear)


def _fields(item: Any) -> dict[str, Any]:
    role = item.get("role")
    return pack(item, _text(item)) | ({"author": role} if isinstance(role, str) and role else {})


def _text(item: Any) -> str:
    """Return what an item says: the text of a message, a call of a tool with its arguments, or an output."""
    content = item.get("content") or item.get("output") or item.get("arguments") or ""
    parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = [part if isinstance(part, str) else part.get("text", "") for part in parts if isinstance(part, str | dict)]
    said = "\n".join(text for text in texts if isinstance(text, str) and text)
    name = item.get("name")
    return f"{name}({said})" if name and item.get("type") == "function_call" else said
