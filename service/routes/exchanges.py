"""Exchanges: the turns of conversations, streamed in and read in order."""

from typing import Annotated

from litestar import Response
from litestar.params import FromPath, JSONBody, QueryParameter

from muisti.core.model.conversations import TURN_MAX, ObjectName
from muisti.core.query.points import parse
from muisti.core.views.conversations import Suggestions
from muisti.service.auth.access import check
from muisti.service.http.batch import add_each, turns_of
from muisti.service.http.headers import FLAGS, SEQ
from muisti.service.http.parameters import (
    DRY,
    KEYED,
    PAST,
    AsOfParameter,
    CategoryParameter,
    CursorParameter,
    LimitParameter,
)
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, planned, read, tried
from muisti.service.http.routing import Routes
from muisti.service.schemas.conversation_requests import ExchangesBody
from muisti.service.schemas.conversations import (
    AdoptedReply,
    ExchangesReply,
    StreamedReply,
    SuggestionsReply,
)

routes = Routes("conversations")

NewSessionParameter = Annotated[str | None, QueryParameter(description="As the field of the body.")]
FromTurnParameter = Annotated[
    int, QueryParameter(name="from", description="The first turn to show.", schema_extra={"minimum": 0})
]
ToTurnParameter = Annotated[
    int | None, QueryParameter(name="to", description="The last turn to show.", schema_extra={"minimum": 0})
]


@routes.post(
    "/conversations/{conversation:str}/exchanges",
    status_code=200,
    needs="append",
    screens=True,
    problems=["place_taken", "conversation_closed", "echo", "sensitive_content"],
    standard=KEYED,
)
async def add_exchanges(
    request: Request,
    conversation: FromPath[str],
    data: JSONBody[ExchangesBody],
    session: NewSessionParameter = None,
    category: CategoryParameter = None,
) -> Response[StreamedReply]:
    """Stream 1 to 1,000 turns into a conversation, all or none.

    A conversation that is not there is made, and its session. When the answer arrives, the turns are on disk and every
    search finds them. A turn that is there with the same content is `replayed`; with other content it is refused. Turns
    without a number take the next ones; send an `Idempotency-Key` with those. A body of application/x-ndjson has one
    turn a line. The key must read, as well.
    """
    streamed = await request.ask(
        request.memories.conversations.add_exchanges,
        data.stream(conversation, turns_of(data), session, category),
        request=await request.key(),
    )
    headers = {SEQ: str(streamed.seq)}
    if streamed.flags:
        headers[FLAGS] = ", ".join(sorted({flag.code for flag in streamed.flags}))
    if streamed.commit:
        headers["Server-Timing"] = f"commit;dur={streamed.commit:.2f}"
    return planned(streamed.plan, Response(StreamedReply.of(streamed), status_code=200, headers=headers))


@routes.get("/conversations/{conversation:str}/exchanges", needs="read", problems=PAST)
async def list_exchanges(
    request: Request,
    conversation: FromPath[str],
    limit: LimitParameter = 50,
    from_turn: FromTurnParameter = 0,
    to_turn: ToTurnParameter = None,
    cursor: CursorParameter = None,
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[ExchangesReply]:
    """List the exchanges of a conversation in the order of their turns."""
    page = await request.ask(
        request.memories.conversations.exchanges,
        ObjectName(level="conversation", name=conversation, category=category),
        limit=limit,
        first=from_turn,
        last=TURN_MAX if to_turn is None else to_turn,
        cursor=cursor,
        as_of=parse(as_of),
    )
    return followed(request, read(ExchangesReply.of(page), page.seq), page.next_cursor)


@routes.post("/adopt", status_code=200, needs="write", standard=DRY)
async def adopt_conversations(request: Request) -> Response[AdoptedReply]:
    """Make exchanges of the memories whose metadata has a `session` and a `turn`.

    Missing conversations are made. Texts stay as they are, and what was adopted is left alone by a repetition.
    """
    adopted = await request.ask(request.memories.conversations.adopt)
    return planned(adopted.plan, read(AdoptedReply.of(adopted), adopted.seq))


@routes.post(
    "/conversations/{conversation:str}/suggestions", status_code=200, needs="append", screens=True, standard=DRY
)
async def suggest_preferences(
    request: Request, conversation: FromPath[str], from_turn: FromTurnParameter = 0, category: CategoryParameter = None
) -> Response[SuggestionsReply]:
    """Store preferences that users state in a conversation as candidates, about 50 at most, of 1,000 turns.

    Rules find them, in English. Each is derived from its turn, and is no part of a profile until it becomes active.
    What a current memory says already is a `duplicate`, and is not stored. `dry_run` shows them. The key must read,
    too.
    """
    check(request.access, "read")
    seen = request.memories
    name = ObjectName(level="conversation", name=conversation, category=category)
    found: Suggestions = await request.ask(seen.conversations.preferences, name, from_turn)
    drafts = [one.draft for one in found.items]
    stored, plan = await request.backend.store(add_each, seen.write, request.space, drafts, "reject")
    headers = {SEQ: stored.seq} if stored.seq else {}
    answer = Response(SuggestionsReply.of(found, stored), status_code=200, headers=headers)
    return tried(request, answer) if plan is None else planned(plan, answer)
