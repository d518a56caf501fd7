"""Errors of a batch as errors of the core, which are the same as those of a file."""

from collections.abc import Sequence
from typing import NoReturn

from muisti.core.model.errors import StoreCorrupt, StoreFull, StoreUnavailable
from muisti.core.store.database import BadStatement, Refused, refusal_of
from muisti.core.store.remote.hrana import BatchResult, Fault

PASSING_CODES = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_SCHEMA", "SQLITE_INTERRUPT", "TRANSACTION_TIMEOUT",
    "TRANSACTION_BUSY"})  # fmt: skip
DAMAGED_CODES = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB"})
UNUSABLE_CODES = frozenset({"SQLITE_NOMEM", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM",
    "SQLITE_AUTH", "SQLITE_PROTOCOL", "BLOCKED", "PROXY_ERROR"})  # fmt: skip
FULL_CODE = "SQLITE_FULL"
TOO_LARGE_CODE = "RESPONSE_TOO_LARGE"


class Passing(Exception):
    """The server could not run the batch now, and kept nothing of it; a retry may succeed."""


class Unsure(Exception):
    """The batch failed, but this request or another copy of it may have been committed."""


def is_too_large(result: BatchResult | Fault) -> bool:
    """Return whether the rows take more room than one answer has."""
    faults = [result] if isinstance(result, Fault) else result.step_errors
    return any(fault is not None and fault.code == TOO_LARGE_CODE for fault in faults)


def is_bad_statement(result: BatchResult) -> bool:
    """Return whether a statement failed because of what it says, such as the name of a table that is not there."""
    other = PASSING_CODES | DAMAGED_CODES | UNUSABLE_CODES | {FULL_CODE, TOO_LARGE_CODE}
    codes = [fault.code.upper() for fault in result.step_errors if fault is not None]
    return any(code not in other and not code.startswith("SQLITE_CONSTRAINT") for code in codes)


def check(result: BatchResult, places: Sequence[int]) -> None:
    """Raise the first error of a batch, in which statement n is step `places[n]`.

    Raises:
        Refused, Passing, Unsure, BadStatement, StoreFull, StoreCorrupt, StoreUnavailable.
    """
    commit = len(result.step_errors) - 2
    for step, fault in enumerate(result.step_errors):
        if fault is None:
            continue
        if step == commit and fault.code != FULL_CODE:
            raise Unsure(fault.message)
        if not fault.code.startswith("SQLITE_CONSTRAINT"):
            raise_fault(fault)
        if step not in places:
            raise Unsure(fault.message)
        raise refusal(fault, places.index(step))
    if any(result.step_results[step] is None for step in (*places, commit)):
        raise Unsure("the server skipped a step and did not say why")


def whole(result: BatchResult | Fault) -> BatchResult:
    """Return the result of a batch that ran; raise the error of one that did not."""
    if isinstance(result, Fault):
        raise_fault(result)
    return result


def refusal(fault: Fault, statement: int) -> Refused:
    return Refused(refusal_of(fault.message), statement, fault.message)


def raise_fault(fault: Fault) -> NoReturn:
    """Raise the error of the core for a fault that is no refusal."""
    code, said = fault.code.upper(), fault.message
    if code in PASSING_CODES:
        raise Passing(said)
    if code == FULL_CODE:
        raise StoreFull("no room left for the database; nothing was stored")
    if code in DAMAGED_CODES:
        raise StoreCorrupt("the remote database is damaged")
    if code in UNUSABLE_CODES:
        raise StoreUnavailable(f"the remote database cannot be used: {said}")
    raise BadStatement(f"{code}: {said}")
