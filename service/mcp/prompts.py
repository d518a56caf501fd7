"""Prompts: what a person may ask a model to do with the memories."""

import mcp_types as types

from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.terms import Scope
from muisti.service.mcp.arguments import Recall
from muisti.service.mcp.recall import packed
from muisti.service.mcp.session import Session

BRIEF_TOKENS = 2_000
BRIEF_LIMIT = 20

_SPACE = types.PromptArgument(name="space", description="Space of the memories", required=False)
_NEEDS: dict[str, Scope] = {"remember-session": "append", "brief-me": "read"}
_PROMPTS = (
    types.Prompt(
        name="remember-session",
        description="Store what this conversation taught that is worth knowing next time",
        arguments=[
            types.PromptArgument(name="category", description="Category of the new memories", required=False),
            _SPACE,
        ],
    ),
    types.Prompt(
        name="brief-me",
        description="What is known about a topic",
        arguments=[types.PromptArgument(name="topic", description="What to be briefed on", required=True), _SPACE],
    ),
)


def prompts(session: Session) -> list[types.Prompt]:
    """Return the prompts that the caller may use."""
    return [prompt for prompt in _PROMPTS if session.access.may(_NEEDS[prompt.name])]


async def prompt(session: Session, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    """Return the messages of a prompt.

    Raises:
        NotFound: there is no such prompt for this caller.
        InvalidInput: an argument is missing or bad.
    """
    if name not in {one.name for one in prompts(session)}:
        raise NotFound("prompt", name[:80])
    space = session.space(arguments.get("space"), _NEEDS[name])
    if name == "remember-session":
        return _message("What to remember", _remember(space, arguments.get("category")))
    topic = arguments.get("topic", "").strip()
    if not topic:
        raise InvalidInput.at("$.topic", "is required")
    asked = Recall(query=topic, limit=BRIEF_LIMIT, max_tokens=BRIEF_TOKENS)
    with session.reading("recall") as noted:
        answer = await session.backend.search(session.memories(), space, asked.search())
        noted.found(space, answer.seq, len(answer.hits), answer.evidence, topic)
    _, known = await session.backend.compute(packed, answer, asked.max_tokens, wanted=asked.min_evidence)
    brief = (
        "Brief me on the topic below, from the stored memories below it. Cite ids. Say what is not known.\n\n"
        f"Topic: {topic}\n\n{known}"
    )
    return _message(f"A briefing on {topic[:80]}", brief)


def _remember(space: str, category: str | None) -> str:
    where = f"in the category {category!r}, " if category else ""
    return (
        "Go through our conversation and pick what will still matter in another one: decisions with their reasons, "
        "preferences, procedures that worked, facts that were hard to find. Leave out what is obvious, temporary or "
        f"secret. Store each with the tool `remember`, one idea a memory, {where}in the space {space!r}, in words that "
        "make sense alone. When one is refused as duplicate or contradiction, look at the stored one and use "
        "`update_memory` if the new one is right. Then list what you stored."
    )


def _message(description: str, text: str) -> types.GetPromptResult:
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(description=description, messages=[types.PromptMessage(role="user", content=content)])
