"""A session of OpenAI's Agents SDK whose items are memories: `MuistiSession`."""

from typing import Any

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from muisti import Conflict
from muisti.integrations.calls import Handle, Operation, run_anywhere
from muisti.integrations.entries import category, drop, listed, pack, unpack

_ATTEMPTS = 20  # at writing after others
_BATCH_MAX = 1_000


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
        self._memory, self._category = memory, category((root, session_id))

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, or the last `limit` of them, oldest first."""
        most = resolve_session_limit(limit, self.session_settings)
        found = await run_anywhere(self._memory, lambda: self._newest(None if most is None or most < 0 else most))
        return [unpack(memory) for memory in found]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items: all of them, or none and an error. Of more than 1,000 each thousand stands for itself."""
        for start in range(0, len(items), _BATCH_MAX):
            batch = items[start : start + _BATCH_MAX]
            await run_anywhere(self._memory, lambda batch=batch: self._append(batch))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it, or None when there is none."""
        return await run_anywhere(self._memory, self._pop)

    async def clear_session(self) -> None:
        """Remove all items. Their history stays, as that of every memory that is deleted."""
        await run_anywhere(self._memory, self._clear)

    def _newest(self, limit: int | None = None) -> Operation[list[Any]]:
        found = yield from listed(self._memory, category=self._category, sort="-created_at", limit=limit)
        return sorted(found, key=_number)

    def _append(self, items: list[TResponseInputItem]) -> Operation[None]:
        for attempt in range(_ATTEMPTS):
            last = yield from self._newest(1)
            first = _number(last[0]) + 1 if last else 1
            drafts = [
                {"category": self._category, "key": f"{number:012}", **_fields(item)}
                for number, item in enumerate(items, first)
            ]
            try:
                yield self._memory.remember_many(drafts, on_conflict="keep", atomic=True)
            except Conflict as conflict:  # somebody else has written these numbers
                if conflict.code != "address_taken" or attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def _pop(self) -> Operation[TResponseInputItem | None]:
        while last := (yield from self._newest(1)):
            if (yield from drop(self._memory, last[0].id)):
                return unpack(last[0])
        return None

    def _clear(self) -> Operation[None]:
        for memory in (yield from self._newest()):
            yield from drop(self._memory, memory.id)


def _number(memory: Any) -> int:
    return int(memory.key)


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
