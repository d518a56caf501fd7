"""Suggestions of preferences, which users state in conversations."""

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.core.model.conversations import ObjectName
from muisti.core.views.conversations import Suggestions
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.batch import add_each
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ
from muisti.service.http.objects import CategoryParameter
from muisti.service.http.parameters import DryRunParameter
from muisti.service.http.respond import planned, tried
from muisti.service.routes.exchanges import FromTurnParameter
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.conversations import SuggestionsReply


@post(
    "/conversations/{conversation:str}/suggestions",
    status_code=200,
    operation_id="suggestPreferences",
    tags=["conversations"],
    needs="append",
    screens=True,
)
async def suggest_preferences(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    backend: NamedDependency[Backend],
    from_turn: FromTurnParameter = 0,
    category: CategoryParameter = None,
    dry_run: DryRunParameter = False,
) -> Response[SuggestionsReply]:
    """Store preferences that users state in a conversation as candidates, about 50 at most, of 1,000 turns.

    Rules find them, in English. Each is derived from its turn, and is no part of a profile until it becomes active.
    What a current memory says already is a `duplicate`, and is not stored. `dry_run` shows them. The key must read,
    too.
    """
    check(access_of(request.scope), "read")
    seen = memories(request, backend, dry_run=dry_run)
    name = ObjectName(level="conversation", name=conversation, category=category)
    found: Suggestions = await backend.store(seen.conversations.preferences, space, name, from_turn)
    drafts = [one.draft for one in found.items]
    stored, plan = await backend.store(add_each, seen.write, space, drafts, "reject")
    headers = {SEQ: stored.seq} if stored.seq else {}
    answer = Response(SuggestionsReply.of(found, stored), status_code=200, headers=headers)
    return tried(dry_run, answer) if plan is None else planned(plan, answer)


ROUTES = (suggest_preferences,)
