"""The two tools that ChatGPT's connectors and deep research call: `search` and `fetch`.

OpenAI fixes their names, arguments and answers. Both answers are structured, and as text the JSON of that.
"""

import msgspec

from muisti.core.model.errors import Forbidden
from muisti.core.model.values import Memory
from muisti.service.mcp.arguments import Fetch, Recall, Search
from muisti.service.mcp.calls import Call, Json, Outcome
from muisti.service.mcp.citations import url_of
from muisti.service.mcp.fence import one_line
from muisti.service.mcp.rendering import NOTICE, shown
from muisti.service.observability.reads import asked_now

LIMIT = 10  # results
TITLE = 80  # characters


async def search(call: Call, given: Search) -> Outcome:
    """Find memories that answer a question in the usual space of the key. Without evidence there are no results."""
    space, query = _space(call), Recall(query=given.query, limit=LIMIT).search()
    with call.session.reading("recall") as noted:
        answer = await call.backend.search(call.memories, space, query)
        noted.found(space, answer.seq, len(answer.hits), answer.evidence, asked_now(query))
    results = [{"id": one.memory.id, **_cited(call, one.memory)} for one in answer.hits]
    return _answered({"results": results})


async def fetch(call: Call, given: Fetch) -> Outcome:
    """Read a memory that `search` has found, whole."""
    space = _space(call)
    with call.session.reading("get") as noted:
        found = await call.backend.store(call.memories.read.get, space, given.id)
        noted.found(space, found.seq, 1)
    memory, about = found.memory, shown(found.memory, full=True)
    metadata = {name: value for name, value in about.items() if name not in ("id", "content")}
    cited = _cited(call, memory)
    answer = {"id": memory.id, "title": cited["title"], "text": memory.content, "url": cited["url"]}
    return _answered({**answer, "metadata": {**metadata, "notice": NOTICE}})


def _space(call: Call) -> str:
    """Return the space of a connector, whose tools cannot name one.

    Raises:
        Forbidden: the key has several spaces, and `default` is none of them.
    """
    if call.session.usual_space() is None:
        raise Forbidden("this key has several spaces, and search and fetch can name none; give them a key of one space")
    return call.session.space(None, "read")


def _cited(call: Call, memory: Memory) -> dict[str, str]:
    """Return the title and the URL by which an answer cites a memory."""
    return {"title": title_of(memory), "url": url_of(call.session.citation, memory.space, memory.id)}


def title_of(memory: Memory) -> str:
    """Return the address of a memory, or the beginning of its content, on one line."""
    if memory.category is not None and memory.key is not None:
        text = f"{memory.category}/{memory.key}"
    else:
        text = memory.document or memory.content
    line = one_line(" ".join(text.split()))
    return line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"


def _answered(found: Json) -> Outcome:
    return Outcome(found, msgspec.json.encode(found).decode())
