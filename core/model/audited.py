"""Entries and pages of the audit log, as frozen values without I/O."""

from datetime import datetime
from typing import Literal

import msgspec

Action = Literal[
    "space_created",
    "space_deleted",
    "space_cleared",
    "key_created",
    "key_revoked",
    "key_rotated",
    "keys_cleared",
    "memory_deleted",
    "memory_erased",
    "session_deleted",
    "conversation_deleted",
    "topic_deleted",
    "document_deleted",
    "pruned",
    "conflict_kept",
    "quota_set",
    "policy_set",
    "space_rolled_back",
    "memories_cleared",
    "memories_imported",
    "import_undone",
    "space_forked",
    "space_merged",
    "checkpoint_deleted",
    "probe_deleted",
    "webhook_created",
    "webhook_deleted",
    "generation_built",
    "generation_switched",
    "generation_dropped",
]


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the audit log: who did what. `actor` is the id of a key, or the name of who acts without one."""

    number: int
    at: datetime
    actor: str
    action: Action
    space: str | None
    target: str | None


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the audit log, newest first. `next_cursor` is None on the last."""

    items: tuple[Audited, ...]
    next_cursor: str | None
