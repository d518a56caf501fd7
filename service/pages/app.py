"""The application of the console: all pages, those that the modules declare and buttons that send one request."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import ClientException, PermissionDeniedException
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from muisti.client import Call, calls
from muisti.service.auth.browser import SAFE, is_own_form
from muisti.service.console import ROOT
from muisti.service.console.answers import PAGES, REFUSED, SECURE, does, done
from muisti.service.console.render import warm
from muisti.service.console.visit import Visit, visited, visiting
from muisti.service.conversations import pages as conversations
from muisti.service.documents import pages as documents
from muisti.service.graph import pages as graph
from muisti.service.http.request import Request as ApiRequest
from muisti.service.http.routing import Application, by_path
from muisti.service.pages import (
    ask,
    home,
    imports,
    keys,
    live,
    memories,
    memory,
    playground,
    quality,
    review,
    selected,
    settings,
    space,
    tasks,
    timeline,
)
from muisti.service.webhooks import pages as webhooks

DECLARING = (
    *(ask, conversations, documents, graph, home, imports, keys, live),
    *(memories, memory, playground, quality, review, selected, settings, space, tasks, timeline, webhooks),
)


PARTS = 10_000  # of a form: files of a folder
UPLOADS = re.compile(rf"{ROOT}/spaces/[^/]+/imports")


class Button(NamedTuple):
    """A form without fields: the path of its page, the request, where to go next, and the code of a sentence.

    `undo`: the next page offers to undo the request.
    """

    path: str
    call: Callable[..., Call]
    to: str
    said: str
    undo: bool = False


BUTTONS = (
    Button("documents/{document}/delete", calls.delete_document, "documents", "deleted_document", undo=True),
    Button("documents/tasks/{task}/cancel", calls.cancel_task, "documents", "cancelled"),
    Button("imports/{number}/undo", calls.undo_import, "imports", "import_undone", undo=True),
    Button("/keys/{key}/revoke", calls.revoke_key, "keys", "key_revoked"),
    Button("live/forget", calls.forget_reads, "live", "reads_forgotten"),
    Button("quality/run", calls.run_probes, "quality", "probes_run"),
    Button("quality/{probe}/delete", calls.delete_probe, "quality", "probe_deleted"),
    Button("tasks/{task}/cancel", calls.cancel_task, "tasks/{task}", "task_cancelled"),
    Button("time/checkpoints/{checkpoint}/delete", calls.delete_checkpoint, "time", "unmarked"),
    Button("webhooks/{webhook}/delete", calls.delete_webhook, "webhooks", "webhook_deleted"),
    Button(
        "webhooks/{webhook}/redeliver",
        lambda space, webhook: calls.redeliver_webhook(space, webhook, {}),
        "webhooks",
        "webhook_again",
    ),
)


def _press(button: Button) -> None:
    @does(button.path)
    async def act(visit: Visit, **params: str) -> Response[Any]:
        made = await visit.send(button.call(*params.values()))
        return done(visit, button.to.format(**params), button.said, undo=made.request if button.undo else None)


for _button in BUTTONS:
    _press(_button)


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all pages."""
    return [*PAGES, home.get_file, home.show_sign_in, home.sign_in, home.sign_out]


def pages_of(api: ASGIApp, *, body_limit: int, upload_limit: int, secure: bool) -> Litestar:
    """Make the application with all pages. `secure`: cookies are sent over HTTPS alone.

    A body may have `body_limit` bytes, and `upload_limit` where files are imported.
    """
    warm()
    made = Application(
        dependencies={"visit": Provide(visiting(api))},
        before_request=own_forms_only,
        request_class=ApiRequest,
        request_max_body_size=upload_limit,
        multipart_form_part_limit=PARTS,
        state=State({SECURE: secure, "api": api, "body_limit": body_limit}),
        exception_handlers=dict(REFUSED),
        openapi_config=None,
        logging_config=None,
    )
    made.mount(by_path(handlers()))
    return made


async def own_forms_only(request: Request[Any, Any, Any]) -> None:
    """Refuse a form that no page of this console has drawn for this browser.

    Raises:
        PermissionDeniedException: the token is missing or wrong, or the form comes from another site.
        NotSignedIn: a large form comes without a session that works.
    """
    if request.method in SAFE:
        return
    await _check_size(request)
    token = (await request.form()).get("form_token")
    if not isinstance(token, str) or not is_own_form(list(request.scope["headers"]), token):
        raise PermissionDeniedException("Open the page again and send the form from there.")


async def _check_size(request: Request[Any, Any, Any]) -> None:
    """Refuse a large form before it is read, unless it brings files of somebody who is signed in.

    Raises:
        ClientException: it is too large for its page, or does not say how large it is.
        NotSignedIn: nobody is signed in.
    """
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) <= request.app.state["body_limit"]:
        return
    if not (length.isdigit() and UPLOADS.fullmatch(request.scope["path"])):
        raise ClientException("The form is too large, or does not say how large it is.", status_code=413)
    async with visited(request, request.app.state["api"]):
        return
