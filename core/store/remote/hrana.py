"""Messages of Hrana 3 in JSON: batches of steps, and the result of each step.

`replication_index` is an extension of sqld: how far the database had come when it answered. A replica that gets an
index in a request waits until it has come that far.

sqld reads the floats of a request with an error in the last place. Every parser is exact for a decimal of at most 15
digits and a small exponent, since it takes one correctly rounded step. Any other float goes as the integers m and e
of m * 2**e, which SQL multiplies without rounding.
"""

import binascii
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, NoReturn

import msgspec
from pybase64 import b64decode, b64encode_as_string

from muisti.core.model.errors import StoreCorrupt, StoreFull, StoreUnavailable
from muisti.core.store.database import BadStatement, Row, Rows, Scalar, Statement, refusal

INTEGERS = range(-(2**63), 2**63)
DIGITS = 15
EXPONENT = 22  # 10**22 is the largest power of ten that a float holds exactly
PRODUCT = "(? * pow(2.0, ?))"

_PARTS = re.compile(r"('(?:[^']|'')*'|\"[^\"]*\"|\?)")  # a quoted stretch may contain a question mark

Json = dict[str, Any]


class Step(NamedTuple):
    """A statement that runs when its condition is true. `rows` is False when its rows are not wanted."""

    statement: Statement
    condition: Json | None = None
    rows: bool = False


class Cell(msgspec.Struct, frozen=True):
    """One value of a row."""

    type: Literal["null", "integer", "float", "text", "blob"]
    value: str | float | None = None
    base64: str = ""


class Fault(msgspec.Struct, frozen=True):
    """An error of the server. `code` is stable across versions."""

    message: str
    code: str = ""


class StepResult(msgspec.Struct, frozen=True):
    """Result of a step that ran."""

    rows: list[list[Cell]] = []


class BatchResult(msgspec.Struct, frozen=True):
    """Result of each step: its rows, an error, or neither when its condition was false."""

    step_results: list[StepResult | None]
    step_errors: list[Fault | None]
    replication_index: str | None = None

    @property
    def index(self) -> int | None:
        """Replication index of the database when it answered."""
        return None if self.replication_index is None else int(self.replication_index)


class _Response(msgspec.Struct, frozen=True):
    type: str
    result: BatchResult | None = None


class _Result(msgspec.Struct, frozen=True):
    type: Literal["ok", "error"]
    response: _Response | None = None
    error: Fault | None = None


class _PipelineReply(msgspec.Struct, frozen=True):
    results: list[_Result]
    baton: str | None = None
    base_url: str | None = None


class CursorHead(msgspec.Struct, frozen=True):
    """First line of a cursor's reply: the id of its stream, and the URL for further requests of the stream."""

    baton: str | None = None
    base_url: str | None = None


class CursorEntry(msgspec.Struct, frozen=True):
    """A further line of a cursor's reply."""

    type: str
    step: int = 0
    row: list[Cell] = []
    error: Fault | None = None
    replication_index: int | str | None = None  # sqld sends a number here, and a text elsewhere


# Made here, by one thread: msgspec inspects a type on first use, and threads that do so at the same time can crash it.
_PIPELINE = msgspec.json.Decoder(_PipelineReply)
_HEAD = msgspec.json.Decoder(CursorHead)
_ENTRY = msgspec.json.Decoder(CursorEntry)
_ENCODER = msgspec.json.Encoder()
BadReply = msgspec.MsgspecError  # the reply is not Hrana


def ok(step: int) -> Json:
    """Return the condition that a step has run without error."""
    return {"type": "ok", "step": step}


def transaction(begin: str, steps: Sequence[Step], end: str = "COMMIT") -> list[Step]:
    """Return steps that take effect together or not at all: each runs only after the one before it."""
    last = len(steps) + 1
    return [
        Step(Statement(begin)),
        *(step._replace(condition=ok(place)) for place, step in enumerate(steps)),
        Step(Statement(end), ok(last - 1)),
        Step(Statement("ROLLBACK"), {"type": "not", "cond": ok(last)}),
    ]


def pipeline_body(steps: Sequence[Step], index: int | None) -> bytes:
    """Encode a request for one batch, on a stream that ends with it.

    Raises:
        TypeError, ValueError, OverflowError: SQLite cannot hold a value.
    """
    return _ENCODER.encode({"requests": [{"type": "batch", "batch": _batch(steps, index)}, {"type": "close"}]})


def cursor_body(steps: Sequence[Step], index: int | None) -> bytes:
    """Encode a request for the rows of one batch, sent as the server reads them."""
    return _ENCODER.encode({"batch": _batch(steps, index)})


def close_body(baton: str) -> bytes:
    """Encode a request that ends a stream."""
    return _ENCODER.encode({"baton": baton, "requests": [{"type": "close"}]})


def pipeline_reply(body: bytes) -> BatchResult | Fault:
    """Decode the result of a batch, or the reason why it did not run.

    Raises:
        BadReply: the reply is not Hrana.
    """
    reply = _PIPELINE.decode(body)
    first = reply.results[0] if reply.results else None
    if first is None or (first.error is None) == (first.response is None or first.response.result is None):
        raise msgspec.ValidationError("the reply has neither result nor error")
    if first.error is not None:
        return first.error
    assert first.response is not None and first.response.result is not None
    return first.response.result


def cursor_head(line: bytes) -> CursorHead:
    return _HEAD.decode(line)


def cursor_entry(line: bytes) -> CursorEntry:
    return _ENTRY.decode(line)


def rows_of(result: StepResult | None) -> Rows:
    return [] if result is None else [row_of(cells) for cells in result.rows]


def row_of(cells: Sequence[Cell]) -> Row:
    return tuple([_scalar(cell) for cell in cells])  # a list is faster here than a generator


def _batch(steps: Sequence[Step], index: int | None) -> Json:
    batch: Json = {"steps": [_step(step) for step in steps]}
    return batch if index is None else batch | {"replication_index": str(index)}


def _step(step: Step) -> Json:
    sql, args = exact(*step.statement)
    stmt: Json = {"sql": sql, "args": [_value(arg) for arg in args], "want_rows": step.rows}
    return {"stmt": stmt} if step.condition is None else {"stmt": stmt, "condition": step.condition}


def _value(value: object) -> Json:
    """Return a value as the protocol sends it. A value of another type than `Scalar` raises `TypeError`."""
    if value is None:
        return {"type": "null"}
    if isinstance(value, str):
        return {"type": "text", "value": value}
    if isinstance(value, bytes):
        return {"type": "blob", "base64": b64encode_as_string(value).rstrip("=")}
    if isinstance(value, float):
        return {"type": "null"} if is_nan(value) else {"type": "float", "value": value}
    if isinstance(value, int):
        if value not in INTEGERS:
            raise OverflowError("an integer takes more than 64 bits")
        return {"type": "integer", "value": str(int(value))}
    raise TypeError(f"{type(value).__name__} is no value of a database")


def _scalar(cell: Cell) -> Scalar:
    kind, value = cell.type, cell.value
    if kind == "text" and isinstance(value, str):
        return value
    if kind == "integer" and isinstance(value, str):
        return int(value)
    if kind == "blob":
        return _bytes(cell.base64)
    if kind == "null":
        return None
    if kind == "float" and isinstance(value, float | int):
        return float(value)
    raise msgspec.ValidationError(f"a cell of type {kind} holds {type(value).__name__}")


def _bytes(base64: str) -> bytes:
    """Decode by a library: segments are megabytes of base64, and Python's decoder took 40 times as long.

    >>> _bytes("AQI")
    b'\\x01\\x02'
    """
    try:
        return b64decode(base64 + "=" * (-len(base64) % 4), validate=True)
    except binascii.Error as error:
        raise msgspec.ValidationError("a blob is no base64") from error


def is_plain(value: float) -> bool:
    """Return whether every parser reads the decimal form of a finite float exactly.

    >>> [is_plain(v) for v in (0.1, -2.5e-9, 1e22, 0.1 + 0.2, 1e23)]
    [True, True, True, False, False]
    """
    mantissa, _, exponent = f"{value:.{DIGITS - 1}e}".partition("e")
    digits = mantissa.lstrip("-").replace(".", "").rstrip("0")
    return float(f"{mantissa}e{exponent}") == value and abs(int(exponent) - max(len(digits) - 1, 0)) <= EXPONENT


def halves(value: float) -> tuple[int, int]:
    """Return integers m and e with m * 2**e equal to a finite float.

    >>> halves(0.75), halves(-1e300)[0] * 2 ** halves(-1e300)[1] == int(-1e300)
    ((3, -2), True)
    """
    above, below = value.as_integer_ratio()
    if below > 1:
        return above, 1 - below.bit_length()
    shift = max(above.bit_length() - 53, 0)
    return above >> shift, shift


def exact(sql: str, args: Sequence[Scalar]) -> tuple[str, Sequence[Scalar]]:
    """Replace each float that is not plain with a product of integers, in the statement and its values.

    >>> exact("SELECT ?, '?', ?", (1, 0.1 + 0.2))
    ("SELECT ?, '?', (? * pow(2.0, ?))", (1, 1351079888211149, -52))

    Raises:
        ValueError: a float is infinite.
    """
    if all(not isinstance(arg, float) or is_nan(arg) or is_plain(_finite(arg)) for arg in args):
        return sql, args
    given = iter(args)
    pieces, sent = list[str](), list[Scalar]()
    for piece in _PARTS.split(sql):
        pieces.append(_placed(given, sent) if piece == "?" else piece)
    return "".join(pieces), tuple(sent)


def is_nan(value: float) -> bool:
    """Return whether a float is NaN, which SQLite stores as NULL."""
    return value != value


def _placed(given: Iterator[Scalar], sent: list[Scalar]) -> str:
    """Return the SQL in place of the next placeholder, and append its values to `sent`."""
    arg = next(given)
    if isinstance(arg, float) and not is_nan(arg) and not is_plain(arg):
        sent.extend(halves(arg))
        return PRODUCT
    sent.append(arg)
    return "?"


def _finite(value: float) -> float:
    if value in (float("inf"), float("-inf")):
        raise ValueError("an infinite float cannot be stored")
    return value


# Errors of a batch as errors of the core, which are the same as those of a file

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
        raise refusal(fault.message, places.index(step))
    if any(result.step_results[step] is None for step in (*places, commit)):
        raise Unsure("the server skipped a step and did not say why")


def whole(result: BatchResult | Fault) -> BatchResult:
    """Return the result of a batch that ran; raise the error of one that did not."""
    if isinstance(result, Fault):
        raise_fault(result)
    return result


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
