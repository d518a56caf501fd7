"""Prompts, and resources that are read by URI: memories, categories, exports, the skill that explains their use.

`memory://{space}/{id}`, `memory://{space}/categories`, `memory://{space}/export`, `skill://muisti`.
"""

import re
from importlib.resources import files
from typing import Any

import mcp_types as types
import msgspec

from muisti.core.model.choices import Scope
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.service.formats.line_stream import encoded
from muisti.service.http.decode import LINES
from muisti.service.mcp import review
from muisti.service.mcp.reads import searched
from muisti.service.mcp.token_budget import packed
from muisti.service.schemas.errors import HttpError
from muisti.service.tools.arguments import Recall
from muisti.service.tools.rendering import shown
from muisti.service.tools.session import PERSONAL, Session
from muisti.service.version import installed_version

EXPORT_MAX = 1 << 20  # bytes


async def exported(session: Session, space: str) -> str:
    """Return a space in the format of docs/how-to/export.md, without vectors.

    Raises:
        NotFound: the key does not see all of the space.
        HttpError: the export is too large for one message.
    """
    backend = session.backend
    export = await backend.store(session.memories().read.export, space, installed_version(), vectors=False)
    parts: list[bytes] = []
    pages = (encoded(page) for page in export.pages())
    while (part := await backend.store(next, pages, b"")) != b"":
        parts.append(part)
        if sum(map(len, parts)) > EXPORT_MAX:
            raise HttpError(
                "too_large",
                f"the space is larger than {EXPORT_MAX:,} bytes; take the HTTP API or `muisti --space {space} export`",
            )
    return b"".join(parts).decode()


JSON = "application/json"
LISTED = 100  # spaces
_SKILL = types.Resource(
    uri="skill://muisti",
    name="skill",
    title="When and how to remember",
    description="When to remember, recall and supersede; conventions for categories and tags",
    mime_type="text/markdown",
)
_REVIEW = types.Resource(
    uri=review.URI, name="review", title="Review of memories", mime_type=review.MEDIA, _meta=review.META
)
_URI = re.compile(r"memory://(?P<space>[a-z0-9._-]{1,63})/(?P<name>[A-Za-z0-9-]{1,64})")


async def resources(session: Session) -> list[types.Resource]:
    """List the skill and the categories of each space. Memories are not listed but found by a template."""
    if not session.access.may("read"):
        return [_SKILL]
    return [
        _SKILL,
        *([_REVIEW] if "review" in session.groups else []),
        *(
            types.Resource(
                uri=f"memory://{space}/categories",
                name=f"categories of {space}",
                description=f"Categories of the space {space} with their numbers of memories",
                mime_type=JSON,
            )
            for space in [*await session.spaces()][:LISTED]
        ),
    ]


def templates(session: Session) -> list[types.ResourceTemplate]:
    if not session.access.may("read"):
        return []
    found = [
        types.ResourceTemplate(
            uri_template="memory://{space}/{id}", name="memory", description="A memory by its id", mime_type=JSON
        ),
        types.ResourceTemplate(
            uri_template="memory://{space}/categories",
            name="categories",
            description="Categories of a space",
            mime_type=JSON,
        ),
    ]
    if session.access.grant.category is None:
        told = "A small space with its history, as lines of JSON that import_memories takes in"
        found.append(
            types.ResourceTemplate(
                uri_template="memory://{space}/export", name="export", description=told, mime_type=LINES
            )
        )
    return found


def space_of(uri: str) -> str | None:
    """Return the space of a resource; None when no resource can have such a URI."""
    match = _URI.fullmatch(uri)
    return None if match is None else match["space"]


async def read(session: Session, uri: str) -> types.TextResourceContents:
    """Read a resource.

    Raises:
        NotFound: there is no such resource, or the caller may not see it.
        HttpError: the export is too large, or the key does not reach the space.
    """
    if uri == _SKILL.uri:
        text = files("muisti.service").joinpath("static", "skill.md").read_text("utf-8")
        return types.TextResourceContents(uri=uri, mime_type=_SKILL.mime_type, text=text)
    if uri == review.URI:
        return types.TextResourceContents(uri=uri, mime_type=review.MEDIA, text=review.page(), _meta=review.META)
    match = _URI.fullmatch(uri)
    if match is None:
        raise NotFound("resource", uri[:200])
    if match["space"] == PERSONAL:
        session = session.beside(None) or session
    space, name = session.space(match["space"], "read"), match["name"]
    if name == "export":
        return types.TextResourceContents(uri=uri, mime_type=LINES, text=await exported(session, space))
    if name == "categories":
        counts = await session.backend.store(session.memories().read.categories, space)
        body: Any = {"categories": [{"name": one.name, "count": one.count} for one in counts.items]}
    else:
        with session.reading("get") as noted:
            found = await session.backend.store(session.memories().read.get, space, name)
            noted.found(space, found.seq, 1)
        body = shown(found.memory, full=True)
    return types.TextResourceContents(uri=uri, mime_type=JSON, text=msgspec.json.encode(body).decode())


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
    answer = await searched(session, space, asked.search(), arguments.get("space"))
    _, known = await session.backend.compute(packed, answer, asked.max_tokens)
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
