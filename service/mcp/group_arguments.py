"""The arguments of the tools on documents, source code, the graph and spaces; see `service.mcp.arguments`."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from muisti.core.model.decoding import decoder
from muisti.core.model.terms import PruneStrategy, RelationKind
from muisti.service.mcp.arguments import InSpace
from muisti.service.schemas import fields

DocumentAction = Literal["list", "get", "chunks", "delete"]
Asked = Literal["find", "callers", "callees", "outline", "map"]  # about source code
GraphAsked = Literal["entities", "entity", "neighbours", "path", "relations", "proposals", "communities", "status"]
GraphSaid = Literal["merge", "keep_apart", "relate", "retract"]
Step = Literal["list", "build", "switch", "rollback", "drop"]


class CodeQuestion(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question about source code. `max_tokens` is for maps."""

    action: Asked
    name: str | None = None
    max_tokens: int | None = None


class GraphQuestion(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to the knowledge graph. `other` is the end of a path, or the object of relations."""

    action: GraphAsked
    name: str | None = None
    other: str | None = None
    depth: int = 1
    as_of: str | None = None


class GraphStatement(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement on the knowledge graph. `retract` takes an id, `relate` a kind with `object` or `text`."""

    action: GraphSaid
    name: str | None = None
    others: list[str] = []
    kind: RelationKind | None = None
    object: str | None = None
    text: str | None = None
    negative: bool = False
    statement: str | None = None
    dry_run: bool = False


class SetModel(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A step in the exchange of the embedding model of a space. `model` is for `build` and `drop`."""

    step: Step = "list"
    model: str | None = None
    force: bool = False


class PruneMemory(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A strategy of pruning. Without `dry_run: false` nothing ends."""

    strategy: PruneStrategy
    dry_run: bool = True


class ClearAll(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The phrase that confirms that a space is cleared."""

    confirm: str
    dry_run: bool = False


class CreateSpace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A space to create."""

    name: str
    description: fields.SpaceDescription | None = None


class Purge(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Memories to erase, which meet all conditions. Without `dry_run: false` none is; then `confirm` is the space."""

    author: str | None = None
    source: str | None = None
    filter: dict[str, Any] | None = None
    older_than_days: Annotated[float, Meta(gt=0, le=100_000)] | None = None
    confirm: str | None = None
    dry_run: bool = True


class AddDocument(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document: its text, or a file of the server's machine."""

    path: str | None = None
    content: str | None = None
    server_path: str | None = None
    tags: list[str] = []
    idempotency_key: str | None = None
    dry_run: bool = False


class Documents(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question about documents, or a deletion. `document` is a path or an id, `folder` the beginning of paths."""

    action: DocumentAction
    document: str | None = None
    folder: str | None = None
    cursor: str | None = None
    dry_run: bool = False


for _kind in (AddDocument, Documents):
    decoder(_kind)
