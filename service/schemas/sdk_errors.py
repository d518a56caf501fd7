"""Errors as Anthropic's SDK reads them, which the paths of memory stores answer with."""

from collections.abc import Mapping

from muisti.service.schemas.copying import Reply

PREFIX = "/v1/memory_stores"
NO_RETRY = {"x-should-retry": "false"}  # the SDK would repeat a conflict

_OF_CODE = {
    "address_taken": (409, "memory_path_conflict_error"),
    "stale_version": (409, "memory_precondition_failed_error"),
    "quota_exceeded": (403, "billing_error"),
}
_OF_STATUS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class ErrorReply(Reply, frozen=True, kw_only=True):
    """The type of an error as the SDK knows it, Muisti's code of it, and a message."""

    type: str
    code: str
    message: str


class SdkError(Reply, frozen=True, kw_only=True):
    """An error in the form of the SDK."""

    type: str = "error"
    error: ErrorReply


def sdk_error(status: int, code: str, detail: str) -> tuple[int, SdkError, Mapping[str, str]]:
    """Return the status, the body and further headers of an error.

    >>> status, body, _ = sdk_error(422, "invalid_input", "$.path: is empty")
    >>> status, body.error.type
    (400, 'invalid_request_error')
    """
    if code in _OF_CODE:
        status, kind = _OF_CODE[code]
    else:
        status = 400 if status == 422 else status
        kind = _OF_STATUS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return status, SdkError(error=ErrorReply(type=kind, code=code, message=detail)), NO_RETRY if status == 409 else {}
