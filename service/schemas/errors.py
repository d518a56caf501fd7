"""Mapping of every error to an HTTP problem (RFC 9457): status, title, meaning and advice on retries."""

import logging
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

import msgspec

from muisti.core.model.collisions import AddressTaken, Echo, Similar
from muisti.core.model.errors import InvalidInput, MergeConflict, MuistiError, NotFound, NotUndone, QuotaExceeded
from muisti.core.model.errors import Problem as BadField
from muisti.core.model.operations import ImportRefused
from muisti.core.model.outcomes import Instead
from muisti.service.schemas.asgi import Scope
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import FieldProblem
from muisti.service.schemas.likeness import DivergedReply, LikenessReply, alike, diverged
from muisti.service.schemas.policy import QuotaReply
from muisti.service.schemas.sdk_errors import PREFIX, SdkError, sdk_error
from muisti.service.schemas.transfer import ImportReply

# Remedies: the next step of a caller after each kind of problem, in the terms of HTTP

_RETRY = "Send the request again after `Retry-After` seconds, with the same `Idempotency-Key`."
_OPERATOR = "Ask whoever runs the server; its log has the reason under the `X-Request-Id`."

REMEDIES: Mapping[str, str] = {
    "invalid_input": "Correct the fields that `errors` names, and send the request again.",
    "sensitive_content": "Remove the secret. If it is none, repeat the request with `Muisti-Allow: secrets`.",
    "not_found": "Check the name of the space and the id. The history of a deleted memory is still readable.",
    "conflict": "Read `detail`: it names the stored data in the way, and what to change first.",
    "duplicate": "Use the memory that is there, or change it. `on_conflict: keep` stores the second one too.",
    "contradiction": "Find out which is right. `on_conflict: supersede` replaces the old memory, `keep` stores both.",
    "address_taken": "Replace the entry with `PUT …/entries/{category}/{key}`, or choose another key.",
    "echo": "Store nothing: the memory exists already. Store only what is new in it.",
    "changed_since": "Undo the later changes first. `detail` names them.",
    "not_undone": "Read `detail`: it names the call, and how it or the call before it is taken back.",
    "merge_conflict": "Decide for each memory in `diverged` which side to keep, then merge again.",
    "document.unreadable": "Convert the file to text or PDF, and send that.",
    "document.encrypted": "Remove the password from the file, and send it again.",
    "document.no_text": "Run text recognition (OCR) over the file, and send the result.",
    "document.broken": "Open the file where it was made, save it again, and send the new file.",
    "document.empty": "Send a file that has text.",
    "document.unknown_format": "Convert the file to a format that the page on documents lists.",
    "document.too_large": "Divide the file. `detail` names the limit.",
    "document.timeout": "Divide the file, or save it in a simpler format.",
    "document.crashed": "Save the file in another format. Report the file to the project if it is an ordinary one.",
    "document.unsafe": "Do not send the file. If it is yours, save it again without scripts and external references.",
    "document.missing": "Check the path on the machine of the server, or upload the file.",
    "document.extra_missing": "Install the package that `detail` names beside the server.",
    "place_taken": "Choose another name, or read the next free turn from the conversation.",
    "conversation_closed": "Reopen the conversation, or begin another one.",
    "already_exists": "Use the one that exists, or choose another name.",
    "model_mismatch": "Start the server with the model of the space, or run `muisti reembed`.",
    "model_unavailable": "Check the endpoint of the model. Search with `mode: keyword` meanwhile.",
    "recall_dropped": "Look at the probes that fail with the new model. `force` switches all the same.",
    "shadow_incomplete": "Run `muisti generations build` again, then switch.",
    "idempotency_key_reused": "Use a new key for a new request, and the old key only for an exact repetition.",
    "quota_exceeded": "Delete or purge memories, or raise the quota of the space.",
    "stale_version": "Read the memory again, apply the change to its newest version, and send that `ETag`.",
    "epoch_gone": "Start again from the current state. Points of the old epoch are no longer readable.",
    "past_retention": "Choose a later point. To follow changes, read the space again from its current state.",
    "point_ahead": "Leave the point of history out to read what is there now.",
    "not_yet_replicated": _RETRY,
    "busy": _RETRY,
    "store_unavailable": _RETRY,
    "database_unavailable": f"{_RETRY} Spaces in other databases are there meanwhile.",
    "space_moving": _RETRY,
    "issuer_unavailable": "Send the request again after `Retry-After` seconds, or use a key of the server.",
    "store_full": "Make room on the disk of the database. Searches go on meanwhile.",
    "store_replaced": "Restart the server, so that it opens the file that is there now.",
    "store_read_only": "Give the server the right to write the file and its folder, or read only.",
    "store_corrupt": "Stop the server and run `muisti doctor`, which says what can be saved.",
    "schema_too_new": "Start a Muisti that is as new as the database, or restore a backup of before.",
    "internal": _OPERATOR,
    "malformed_request": "Check the URL and its encoding.",
    "malformed_header": "Check the value of the header that `detail` names.",
    "malformed_json": "Send JSON in UTF-8. A validator shows where it breaks.",
    "unauthorized": "Send `Authorization: Bearer KEY`. `muisti keys create` makes a key.",
    "forbidden": "Use a key with the scope that `detail` names, or ask for one.",
    "forbidden_origin": "Add the origin of the page to `MUISTI_ORIGINS`.",
    "rate_limited": "Wait for `Retry-After` seconds, and send fewer requests.",
    "too_many_at_once": "Wait for answers before you send more, or use batches.",
    "too_many_tasks": "Wait until a task of the space ends, then send the request again.",
    "no_route": "Check the path against the list of routes.",
    "method_not_allowed": "Use one of the methods that the header `Allow` lists.",
    "too_large": "Send less at a time: fewer items of a batch, or a file in parts.",
    "unsupported_media_type": "Send `Content-Type: application/json`, or the type that the route documents.",
    "unknown_host": "Call the server as `127.0.0.1` or `localhost`, or make a key.",
}


OF_FILES: Mapping[str, tuple[int, str, str]] = {
    "document.unreadable": (422, "Unreadable file", "The file gives no text."),
    "document.encrypted": (422, "Encrypted file", "The file needs a password or a key."),
    "document.no_text": (422, "File without text", "The file holds images or drawings alone, as a scan does."),
    "document.broken": (422, "Broken file", "The file is damaged, or it is not what it seems to be."),
    "document.empty": (422, "Empty file", "The file holds nothing, or blanks alone."),
    "document.unknown_format": (415, "Unknown format", "The format of the file is none of those that are read."),
    "document.too_large": (413, "File too large", "The file exceeds a limit of bytes, pages, cells or characters."),
    "document.timeout": (422, "File takes too long", "Reading the file made no progress for too long."),
    "document.crashed": (422, "File crashes its reader", "The process that read the file ended."),
    "document.unsafe": (422, "Unsafe file", "The file holds what only an attack needs."),
    "document.missing": (422, "Missing file", "The file is not there any more, or on another machine."),
    "document.extra_missing": (422, "Extra missing", "A package is needed that is not installed."),
}


MEDIA_TYPE = "application/problem+json"
PROBLEM = "muisti.problem"  # key of the code of a refusal in the scope of its request
WORKS_IN = "muisti.works_in"  # key of the space that a request works in, where its path names none
NO_SPACE = "muisti.no_space"  # key that says there that it is the space that was not found


@dataclass(frozen=True, slots=True)
class Kind:
    """HTTP status and texts of an error code. `retry_after` is in seconds; None when a retry is of no use."""

    status: int
    title: str
    meaning: str
    retry_after: int | None = None


# The codes of muisti.core.model.errors, then those that only HTTP has. Codes are contract.
KINDS: Mapping[str, Kind] = {
    "invalid_input": Kind(422, "Invalid input", "A field or parameter has a value that cannot be accepted."),
    "sensitive_content": Kind(
        422,
        "Sensitive content",
        "The space refuses secrets, or personal data; `errors` says where they are.",
    ),
    "not_found": Kind(404, "Not found", "There is no such space, memory or entry; or it was deleted or has expired."),
    "conflict": Kind(409, "Conflict", "The request conflicts with stored data."),
    "duplicate": Kind(409, "Duplicate", "A current memory says the same; `conflicts` shows it."),
    "contradiction": Kind(409, "Contradiction", "A current memory says the contrary; `conflicts` shows what differs."),
    "address_taken": Kind(409, "Address taken", "Category and key belong to another memory; `conflicts` shows it."),
    "echo": Kind(409, "Echo", "The caller has just found what the memory says, and the space refuses echoes."),
    "changed_since": Kind(409, "Changed since", "Later changes depend on what is to be undone; `detail` names them."),
    "not_undone": Kind(409, "Not undone", "Undo does not take back such a call; `instead` is the way on."),
    "merge_conflict": Kind(409, "Merge conflict", "Both spaces have changed the same memories; `diverged` shows them."),
    **{code: Kind(*told) for code, told in OF_FILES.items()},
    "place_taken": Kind(
        409, "Place taken", "A session, conversation or topic has the name, or the turn is there with other content."
    ),
    "conversation_closed": Kind(409, "Conversation closed", "The conversation takes no turns until it is reopened."),
    "already_exists": Kind(409, "Already exists", "A space or a checkpoint of this name exists."),
    "model_mismatch": Kind(
        409, "Model mismatch", "The vectors of the space are from another model than the current one."
    ),
    "model_unavailable": Kind(503, "Model unavailable", "The embedding model does not answer.", 5),
    "recall_dropped": Kind(409, "Recall dropped", "The probes of the space have less recall with another model."),
    "shadow_incomplete": Kind(
        409, "Shadow incomplete", "The second model of the space lacks some vectors; build it again."
    ),
    "idempotency_key_reused": Kind(409, "Idempotency key reused", "The key was sent before with another request."),
    "quota_exceeded": Kind(403, "Quota exceeded", "The space would exceed its quota; `quota` shows what it holds."),
    "stale_version": Kind(412, "Stale version", "The memory has changed since the version that If-Match names."),
    "epoch_gone": Kind(410, "Epoch gone", "The space was erased and created again since the point of history."),
    "past_retention": Kind(410, "Past retention", "The point of history is older than what the space keeps."),
    "point_ahead": Kind(422, "Point ahead", "The point of history is in the future."),
    "not_yet_replicated": Kind(503, "Not yet replicated", "The required change has not arrived here after 1 s.", 1),
    "busy": Kind(503, "Busy", "The request would have to wait for too long; nothing was done.", 1),
    "store_unavailable": Kind(503, "Store unavailable", "The database did not answer.", 1),
    "database_unavailable": Kind(503, "Database unavailable", "The database that has the space did not answer.", 1),
    "space_moving": Kind(503, "Space moving", "The space is on its way to another database.", 1),
    "issuer_unavailable": Kind(503, "Issuer unavailable", "The keys of the token issuer cannot be read.", 10),
    "store_full": Kind(507, "Store full", "There is no space left for the database; nothing was stored."),
    "store_replaced": Kind(
        503,
        "Store replaced",
        "The database file was deleted, moved or replaced while it was open.",
        10,
    ),
    "store_read_only": Kind(503, "Store read-only", "The database file can be read but not written."),
    "store_corrupt": Kind(500, "Store corrupt", "The database is damaged, or is no Muisti database."),
    "schema_too_new": Kind(500, "Schema too new", "A newer Muisti wrote the database."),
    "internal": Kind(500, "Internal error", "An internal error; the log has it under the X-Request-Id."),
    "malformed_request": Kind(400, "Malformed request", "The URL or the request itself cannot be read."),
    "malformed_header": Kind(400, "Malformed header", "A header has a value that cannot be read."),
    "malformed_json": Kind(400, "Malformed JSON", "The body is no JSON in UTF-8, or is nested too deeply."),
    "unauthorized": Kind(401, "Unauthorized", "A key is needed; none was sent, or it is not valid."),
    "forbidden": Kind(403, "Forbidden", "The key lacks the scope that `detail` names."),
    "forbidden_origin": Kind(403, "Forbidden origin", "Web pages of this origin may not call the server."),
    "rate_limited": Kind(
        429, "Rate limited", "The key has sent too many requests; `Retry-After` says when to continue.", 1
    ),
    "too_many_at_once": Kind(429, "Too many concurrent requests", "Too many requests of the key are running.", 1),
    "too_many_tasks": Kind(
        429, "Too many tasks", "As many tasks of the space wait as may wait; nothing was stored. Try again later.", 10
    ),
    "no_route": Kind(404, "No such route", "There is no such path."),
    "method_not_allowed": Kind(
        405, "Method not allowed", "The path does not allow this method; `Allow` lists the methods."
    ),
    "too_large": Kind(
        413,
        "Too large",
        "The body is larger than the server accepts, also when decompressed, or than one transaction may be.",
    ),
    "unsupported_media_type": Kind(415, "Unsupported media type", "The body has a Content-Type that is not accepted."),
    "unknown_host": Kind(421, "Unknown host", "A server without keys accepts only names of this machine."),
}


class InsteadReply(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """The way on from an undo that is refused: the request, import or task to undo or to end, where there is one."""

    request: str | None = None
    last: int | None = None
    import_id: int | None = None
    task: str | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An error (RFC 9457). `code` is stable, `detail` is prose; `errors` names the bad fields."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem] = []
    conflicts: list[LikenessReply] | msgspec.UnsetType = msgspec.UNSET
    checked_at: str | None | msgspec.UnsetType = msgspec.UNSET
    quota: QuotaReply | msgspec.UnsetType = msgspec.UNSET
    diverged: list[DivergedReply] | msgspec.UnsetType = msgspec.UNSET
    report: ImportReply | msgspec.UnsetType = msgspec.UNSET
    instead: InsteadReply | msgspec.UnsetType = msgspec.UNSET


@dataclass(eq=False)
class HttpError(Exception):
    """Refusal that only HTTP has: a code of `KINDS`, and a message for the caller."""

    code: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def problem_type(code: str) -> str:
    """Return the URI of a kind of problem; a request to it answers with the code's meaning."""
    return f"/problems/{code}"


def problem(code: str, detail: str, errors: Sequence[BadField] = ()) -> Problem:
    kind = KINDS[code]
    return Problem(
        type=problem_type(code),
        title=kind.title,
        status=kind.status,
        detail=detail,
        code=code,
        errors=[FieldProblem(bad.path, bad.message) for bad in errors],
    )


def problem_of(error: MuistiError | HttpError) -> Problem:
    """Return the problem that a client gets for a refusal."""
    match error:
        case ImportRefused():
            found = problem(error.code, str(error), error.problems)
            return msgspec.structs.replace(found, report=ImportReply.of(error.report))
        case InvalidInput():
            return problem(error.code, str(error), error.problems)
        case Similar():
            at = None if error.checked_at is None else str(error.checked_at)
            found = msgspec.structs.replace(problem(error.code, str(error)), conflicts=alike(error.found))
            return msgspec.structs.replace(found, checked_at=at)
        case Echo():
            return problem(error.code, str(error), [BadField(f"{error.path}.content", "only repeats what was found")])
        case AddressTaken():
            return msgspec.structs.replace(problem(error.code, str(error)), conflicts=alike(error.found))
        case QuotaExceeded() if error.usage is not None:
            quota = QuotaReply.of(error.usage)
            return msgspec.structs.replace(problem(error.code, str(error)), quota=quota)
        case MergeConflict():
            return msgspec.structs.replace(problem(error.code, str(error)), diverged=diverged(error.found))
        case NotUndone():
            found = problem(error.code, "; ".join([str(error), *_way_on(error.instead)]))
            return msgspec.structs.replace(found, instead=InsteadReply.of(error.instead))
        case HttpError():
            return problem(error.code, error.detail)
        case _:
            return problem(error.code, str(error))


def _way_on(instead: Instead) -> Iterator[str]:
    """Yield the request that goes on where an undo was refused."""
    if instead.task is not None:
        yield f"wait until the task ends, or cancel it: POST …/tasks/{instead.task}/cancel"
    elif instead.import_id is not None:
        yield f"POST …/imports/{instead.import_id}/undo takes back import {instead.import_id}"
    elif instead.request is not None:
        yield f'{{"request": "{instead.request}"}} takes back the call before it'


def headers_of(code: str) -> dict[str, str]:
    """Return the headers that belong to a code."""
    retry = KINDS[code].retry_after
    return {} if retry is None else {"Retry-After": str(retry)}


def shown(scope: Scope, found: Problem) -> tuple[int, Mapping[str, str], Problem | SdkError]:
    """Return the status, the headers and the body of a refusal, in the form that the path of the request has."""
    if scope["path"].startswith(PREFIX):
        status, body, headers = sdk_error(found.status, found.code, found.detail)
        return status, {"Content-Type": "application/json", **headers_of(found.code), **headers}, body
    return found.status, {"Content-Type": MEDIA_TYPE, **headers_of(found.code)}, found


def mark(scope: Scope, error: Exception) -> None:
    """Store in the scope that it is the space that was not found, which may then be in another database."""
    if isinstance(error, NotFound) and error.kind == "space":
        cast(dict[str, Any], scope)[NO_SPACE] = True


def noted(scope: Scope, found: Problem) -> None:
    """Store the code of a refusal in the scope, for the middleware that counts and logs answers."""
    cast(dict[str, Any], scope)[PROBLEM] = found.code


def crash(error: Exception, request_id: str) -> Problem:
    """Log where an error occurred, but not its message, which may quote a memory."""
    details = {
        "error": type(error).__qualname__,
        "trace": traceback.format_tb(error.__traceback__),
        "request_id": request_id,
    }
    logging.getLogger("muisti.http").error("crash", extra=details)
    detail = "the request failed; the log of the server has the reason under this X-Request-Id"
    return problem("internal", detail)


def status_name(status: int) -> str:
    """Return the standard phrase of a status.

    >>> status_name(422)
    'Unprocessable Entity'
    """
    return HTTPStatus(status).phrase
