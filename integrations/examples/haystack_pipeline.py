"""A pipeline of Haystack that retrieves documents from memory.

python -m muisti.integrations.examples.haystack_pipeline
"""

from haystack import Document, Pipeline

import muisti
from muisti.integrations.haystack import MuistiDocumentStore, MuistiRetriever


def main() -> None:
    with muisti.open(":memory:") as memory:
        store = MuistiDocumentStore(memory)
        texts = {"Deploys go out on Fridays.": "core", "Deploys go out on Mondays.": "web"}
        store.write_documents([Document(content=text, meta={"team": team}) for text, team in texts.items()])
        pipeline = Pipeline()
        pipeline.add_component("memory", MuistiRetriever(store))
        web = {"field": "meta.team", "operator": "==", "value": "web"}
        for filters in (None, web):
            found = pipeline.run({"memory": {"query": "On which day do we deploy?", "filters": filters}})
            print([one.content for one in found["memory"]["documents"]])  # noqa: T201


if __name__ == "__main__":
    main()
