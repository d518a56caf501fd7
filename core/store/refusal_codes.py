"""Codes with which the database refuses a batch, read by the SQL that refuses and by the code that handles it.

Callers never see a code. The code that writes a batch turns a refusal into an error of `core.model.errors`, or retries.
"""

from enum import StrEnum

_MARK = "refused: "  # what the view `refuse` puts before a code


class Refusal(StrEnum):
    """Reasons why a batch was refused. The view `refuse` of the schema knows all but the last two."""

    NO_SPACE = "no_space"  # the space is gone, or another one has its name
    SPACE_EXISTS = "space_exists"
    NO_MEMORY = "no_memory"  # the memory or webhook is gone
    NO_PARENT = "no_parent"  # the parent is no memory of the space
    STALE = "stale"  # the database has changed since the batch was prepared
    DUPLICATE = "duplicate"  # a current memory has the same text
    ADDRESS_TAKEN = "address_taken"  # another current memory has the category and key
    PLACE_TAKEN = "place_taken"  # another current memory has the name, or the turn of the conversation
    MODEL_MISMATCH = "model_mismatch"  # another model embeds the space, or its policy has changed
    REQUEST_KNOWN = "request_known"  # the idempotency key has an answer
    INCOMPLETE = "incomplete"  # vectors are missing, or a space has as many probes, webhooks or tasks as it may have
    QUOTA_EXCEEDED = "quota_exceeded"
    TASK_LOST = "task_lost"  # another process has the task, or its progress is not what the batch expects
    TASK_CANCELLED = "task_cancelled"
    UNKNOWN = "unknown"  # a code that the view does not know: an error in Muisti
    CONSTRAINT = "constraint"  # a constraint of a table failed, and no statement refused


_BY_CODE = {str(code): code for code in Refusal}


def refuse(code: Refusal) -> str:
    """Return the head of a statement, which refuses a batch when the clauses after it find a row.

    >>> refuse(Refusal.STALE) + " WHERE 1"
    "INSERT INTO refuse SELECT 'stale' WHERE 1"
    """
    return f"INSERT INTO refuse SELECT '{code}'"


def refuse_one_of(condition: str, code: Refusal, otherwise: Refusal) -> str:
    """Return the head of a statement that refuses a batch: with `code` where the condition is true, else `otherwise`.

    >>> refuse_one_of("1", Refusal.STALE, Refusal.NO_SPACE)
    "INSERT INTO refuse SELECT CASE WHEN 1 THEN 'stale' ELSE 'no_space' END"
    """
    return f"INSERT INTO refuse SELECT CASE WHEN {condition} THEN '{code}' ELSE '{otherwise}' END"


def refusal_of(message: str) -> Refusal:
    """Return the code in the message of a constraint that a batch broke.

    >>> refusal_of("refused: stale"), refusal_of("UNIQUE constraint failed: spaces.name")
    (<Refusal.STALE: 'stale'>, <Refusal.CONSTRAINT: 'constraint'>)
    """
    _, mark, code = message.partition(_MARK)
    return _BY_CODE.get(code, Refusal.UNKNOWN) if mark else Refusal.CONSTRAINT
