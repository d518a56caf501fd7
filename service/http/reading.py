"""Reads of requests for the read log."""

from typing import Any, cast

from litestar.types import Scope

from muisti.service.auth.middleware import access_of
from muisti.service.observability.reads import Operation, Reading
from muisti.service.runtime.workers import Backend


def reading(scope: Scope, backend: Backend, operation: Operation) -> Reading:
    """Begin a read of a request; see `ReadLog.reading`."""
    request_id = cast(dict[str, Any], scope).get("request_id")
    return backend.reads.reading(operation, access_of(scope).actor, request_id)
