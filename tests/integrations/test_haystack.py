"""Haystack's own suite of document stores on `MuistiDocumentStore`, and a pipeline with the retriever."""

from typing import Any

import pytest

pytest.importorskip("haystack.testing", reason="make integrations-test")

from haystack import Document, Pipeline
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing.document_store import DocumentStoreBaseTests

from muisti.integrations.haystack import MuistiDocumentStore, MuistiRetriever


class TestStore(DocumentStoreBaseTests):
    @pytest.fixture
    def document_store(self, memory: Any) -> MuistiDocumentStore:
        return MuistiDocumentStore(memory)

    def assert_documents_are_equal(self, received: list[Document], expected: list[Document]) -> None:
        """Compare documents in any order, without embeddings, of which Muisti has its own."""
        found = ([one.to_dict() | {"embedding": None} for one in documents] for documents in (received, expected))
        ours, theirs = (sorted(one, key=lambda document: document["id"]) for one in found)
        assert ours == theirs

    def test_write_documents(self, document_store: MuistiDocumentStore):  # pyright: ignore[reportIncompatibleMethodOverride]
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])


def test_a_pipeline_retrieves_by_meaning_within_filters(memory: Any):
    store = MuistiDocumentStore(memory)
    store.write_documents(
        [
            Document(id="a", content="Deploys go out on Fridays.", meta={"team": "core"}),
            Document(id="b", content="Deploys go out on Mondays.", meta={"team": "web"}),
            Document(id="c", content="Ann drinks green tea.", meta={"team": "core"}),
        ]
    )
    store.write_documents([Document(id="c", content="Ann drinks coffee.")], policy=DuplicatePolicy.OVERWRITE)
    pipeline = Pipeline()
    pipeline.add_component("memory", MuistiRetriever(store, top_k=2))
    core = {"field": "meta.team", "operator": "==", "value": "core"}
    found = pipeline.run({"memory": {"query": "on which day do we deploy?", "filters": core}})["memory"]["documents"]
    assert [one.id for one in found] == ["a"] and found[0].score is not None
    assert [one.id for one in MuistiRetriever(store, top_k=1).run("what does Ann drink?")["documents"]] == ["c"]
    memory.undo()
    assert store.filter_documents({"field": "content", "operator": "==", "value": "Ann drinks green tea."})


def test_a_saved_pipeline_connects_to_the_server(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_URL", url)
    retriever = MuistiRetriever(MuistiDocumentStore(space="saved"), options={"min_evidence": "weak"})
    retriever.document_store.write_documents([Document(content="Deploys go out on Fridays.")])
    again = MuistiRetriever.from_dict(retriever.to_dict())
    assert [one.content for one in again.run("when do we deploy?")["documents"]] == ["Deploys go out on Fridays."]
