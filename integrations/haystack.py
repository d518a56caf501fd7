"""A store of documents and a retriever for Haystack: `MuistiDocumentStore`, `MuistiRetriever`."""

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError
from haystack.utils.filters import document_matches_filter

import muisti
from muisti.integrations.calls import Handle, Operation, need_sync, run
from muisti.integrations.entries import category as name_of
from muisti.integrations.entries import drop, find, hits_of, listed, pack, put, unpack

_HITS_MAX = 100  # hits of one search


class MuistiDocumentStore:
    """A store of Haystack in one category of a space; it needs a synchronous handle.

    A document is a memory and every change a version. Muisti has its own embedding model, so embeddings are not
    stored. Without `memory` the store connects to the server of MUISTI_URL and MUISTI_KEY, as a pipeline that was
    saved does.
    """

    def __init__(self, memory: Handle | None = None, *, space: str = "default", category: str = "haystack") -> None:
        self.memory = muisti.connect(space=space) if memory is None else memory
        need_sync(self.memory, "MuistiDocumentStore")
        self.category = category

    def to_dict(self) -> dict[str, Any]:
        """Return what a saved pipeline needs: the space and the category."""
        return default_to_dict(self, space=self.memory.name, category=self.category)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "MuistiDocumentStore":
        """Return the store of a saved pipeline."""
        return default_from_dict(cls, data)

    def count_documents(self) -> int:
        """Return how many documents there are."""
        return len(run(listed(self.memory, category=self.category)))

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """Return the documents that pass a filter of Haystack.

        Raises: FilterError when it is no filter.
        """
        _check(filters)
        found = [_document(one) for one in run(listed(self.memory, category=self.category))]
        return [one for one in found if _passes(one, filters)]

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Store documents, and return how many were written; by default one that exists is an error.

        Raises: DuplicateDocumentError, ValueError when they are no documents.
        """
        if not isinstance(documents, list) or not all(isinstance(one, Document) for one in documents):
            raise ValueError("write_documents takes a list of documents")
        return sum(run(self._write(one, policy)) for one in documents)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents; ids that do not exist are no error. Histories keep them."""
        for one in document_ids:
            run(self._delete(one))

    def search(self, query: str, filters: dict[str, Any] | None, top_k: int, options: dict[str, Any]) -> list[Document]:
        """Return the documents that answer a query, best first, with their scores."""
        _check(filters)
        limit = _HITS_MAX if filters else max(1, min(top_k, _HITS_MAX))
        hits = run(hits_of(self.memory, query, **{"category": self.category, "limit": limit, **options}))
        found = [_document(hit.memory, hit.score) for hit in hits]
        return [one for one in found if _passes(one, filters)][:top_k]

    def _write(self, document: Document, policy: DuplicatePolicy) -> Operation[int]:
        key = name_of([document.id])
        if policy is not DuplicatePolicy.OVERWRITE and (yield from find(self.memory, self.category, key)) is not None:
            if policy is DuplicatePolicy.SKIP:
                return 0
            raise DuplicateDocumentError(f"there is a document {document.id!r}")
        value = document.to_dict(flatten=False)
        value |= {"embedding": None, "score": None}
        yield from put(self.memory, self.category, key, pack(value, document.content or ""))
        return 1

    def _delete(self, identity: str) -> Operation[None]:
        found = yield from find(self.memory, self.category, name_of([identity]))
        if found is not None:
            yield from drop(self.memory, found.id)


@component
class MuistiRetriever:
    """Retrieves documents of a `MuistiDocumentStore` by meaning and words; `options` are those of `memory.search`."""

    def __init__(
        self,
        document_store: MuistiDocumentStore,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.document_store, self.top_k, self.filters, self.options = document_store, top_k, filters, options or {}

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        """Return the documents that answer a query, best first."""
        chosen = self.filters if filters is None else filters
        return {"documents": self.document_store.search(query, chosen, top_k or self.top_k, self.options)}

    def to_dict(self) -> dict[str, Any]:
        """Return what a saved pipeline needs."""
        given = {"top_k": self.top_k, "filters": self.filters, "options": self.options}
        return default_to_dict(self, document_store=self.document_store.to_dict(), **given)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "MuistiRetriever":
        """Return the retriever of a saved pipeline."""
        given = data["init_parameters"]
        given["document_store"] = MuistiDocumentStore.from_dict(given["document_store"])
        return default_from_dict(cls, data)


def _check(filters: dict[str, Any] | None) -> None:
    if filters and "operator" not in filters and "conditions" not in filters:
        raise FilterError("a filter has an operator and conditions, or an operator, a field and a value")


def _passes(document: Document, filters: dict[str, Any] | None) -> bool:
    return not filters or document_matches_filter(filters=filters, document=document)


def _document(memory: Any, score: float | None = None) -> Document:
    return Document.from_dict(unpack(memory) | {"score": score})
