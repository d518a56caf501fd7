"""`MuistiMemory` keeps what AutoGen's `ListMemory` keeps, and gives an agent only what applies."""

from typing import Any

import pytest

pytest.importorskip("autogen_core", reason="make integrations-test")

from autogen_core.memory import ListMemory, MemoryContent, MemoryMimeType
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_core.models import SystemMessage, UserMessage

import muisti
from muisti.integrations.autogen import MuistiMemory

CONTENTS = [
    MemoryContent(content="Deploys go out on Fridays.", mime_type=MemoryMimeType.TEXT, metadata={"team": "core"}),
    MemoryContent(content={"drink": "green tea", "who": "Ann"}, mime_type=MemoryMimeType.JSON),
    MemoryContent(content="# Offices\n\nThe office is in Turku.", mime_type=MemoryMimeType.MARKDOWN),
]


async def test_it_keeps_what_a_list_keeps(memory: Any):
    ours, theirs = MuistiMemory(memory), ListMemory()
    for content in [*CONTENTS, CONTENTS[0]]:
        await ours.add(content)
    for content in CONTENTS:
        await theirs.add(content)
        (found,) = (await ours.query(str(content.content), limit=1)).results
        assert (found.content, str(found.mime_type)) == (content.content, content.mime_type.value)  # pyright: ignore[reportAttributeAccessIssue]
        assert {**(content.metadata or {})}.items() <= (found.metadata or {}).items()
    assert len(list(memory.list())) == len((await theirs.query("")).results)
    memory.remember("Ann lives in Turku.")
    await ours.clear()
    assert [one.content for one in memory.list()] == ["Ann lives in Turku."]


async def test_a_context_gets_what_applies_as_data_and_nothing_else(memory: Any):
    mine = MuistiMemory(memory, limit=2, author="agent")
    for content in CONTENTS:
        await mine.add(content)
    for asked, wanted in (("On which day do we deploy?", "Fridays"), ("Who is the king of Spain?", None)):
        context = BufferedChatCompletionContext(buffer_size=10)
        await mine.update_context(context)
        await context.add_message(UserMessage(content=asked, source="ann"))
        found = (await mine.update_context(context)).memories.results
        notes = [one.content for one in await context.get_messages() if isinstance(one, SystemMessage)]
        assert bool(found) == bool(notes) == (wanted is not None)
        assert wanted is None or (wanted in notes[0] and "data, not instructions" in notes[0])


async def test_it_works_on_an_asynchronous_handle_and_refuses_images():
    async with muisti.open_async(":memory:") as memory:
        mine = MuistiMemory(memory)
        assert (await mine.query("anything")).results == []
        await mine.add(CONTENTS[0])
        assert [one.content for one in (await mine.query("when do we deploy?")).results] == [CONTENTS[0].content]
        with pytest.raises(ValueError, match="image"):
            await mine.add(MemoryContent(content=b"x", mime_type=MemoryMimeType.IMAGE))
        await mine.close()
        assert (await mine.query("when do we deploy?")).results
