"""Types of the parameters in paths, by their names."""

from typing import Annotated

from msgspec import Meta

from muisti.service.schemas import fields
from muisti.service.schemas.checkpoints import CheckpointName
from muisti.service.schemas.conflicts import ConflictId
from muisti.service.schemas.errors import KINDS
from muisti.service.schemas.generations import ModelName
from muisti.service.schemas.graph import EntityName
from muisti.service.schemas.keys import KeyId
from muisti.service.schemas.probes import ProbeId
from muisti.service.schemas.receipts import ReceiptId
from muisti.service.schemas.tasks import TaskId
from muisti.service.schemas.webhooks import WebhookId

PATH_TYPES = {
    "receipt_id": ReceiptId,
    "probe_id": ProbeId,
    "conflict_id": ConflictId,
    "key_id": KeyId,
    "import_id": Annotated[int, Meta(description="The number of an import.", ge=1)],
    "space": fields.SpaceName,
    "memory_id": fields.MemoryId,
    "checkpoint": CheckpointName,
    "category": fields.Category,
    "session": fields.SessionName,
    "conversation": fields.ConversationName,
    "topic": fields.TopicName,
    "turn": fields.TurnNumber,
    "document": Annotated[str, Meta(description="The id of a document, or its path.", examples=["docs/deploy.md"])],
    "entity": EntityName,
    "key": fields.Key,
    "webhook_id": WebhookId,
    "task_id": TaskId,
    "generation": ModelName,
    "code": Annotated[str, Meta(description="The `code` of a problem.", extra_json_schema={"enum": list(KINDS)})],
}
