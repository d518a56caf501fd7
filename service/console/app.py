"""The application of the console: all pages, as a client of the API."""

from typing import Any

from litestar import Litestar, Request
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException, PermissionDeniedException
from litestar.types import ASGIApp

from muisti.client import MuistiError
from muisti.service.auth.browser import SAFE, is_own_form
from muisti.service.console.answers import SECURE, crashed, failed, not_signed_in, refused
from muisti.service.console.pages.table import handlers
from muisti.service.console.render import warm
from muisti.service.console.visit import NotSignedIn, visiting
from muisti.service.http.request import Request as ApiRequest
from muisti.service.http.routing import Application, by_path


def pages_of(api: ASGIApp, *, body_limit: int, secure: bool) -> Litestar:
    """Make the application with all pages. `secure`: cookies are sent over HTTPS alone."""
    warm()
    made = Application(
        dependencies={"visit": Provide(visiting(api))},
        before_request=own_forms_only,
        request_class=ApiRequest,
        request_max_body_size=body_limit,
        state=State({SECURE: secure, "api": api}),
        exception_handlers={
            MuistiError: refused,
            NotSignedIn: not_signed_in,
            HTTPException: failed,
            Exception: crashed,
        },
        openapi_config=None,
        logging_config=None,
    )
    made.mount(by_path(handlers()))
    return made


async def own_forms_only(request: Request[Any, Any, Any]) -> None:
    """Refuse a form that no page of this console has drawn for this browser.

    Raises:
        PermissionDeniedException: the token is missing or wrong, or the form comes from another site.
    """
    if request.method in SAFE:
        return
    token = (await request.form()).get("form_token")
    if not isinstance(token, str) or not is_own_form(list(request.scope["headers"]), token):
        raise PermissionDeniedException("Open the page again and send the form from there.")
