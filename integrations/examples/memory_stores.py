"""Anthropic's SDK with its memory stores in Muisti: a server must be running, at MUISTI_URL.

python -m muisti.integrations.examples.memory_stores
"""

import os

from anthropic import Anthropic, ConflictError

import muisti

URL = "http://127.0.0.1:8321"


def main() -> None:
    url, key = os.environ.get("MUISTI_URL", URL), os.environ.get("MUISTI_KEY")
    stores = Anthropic(base_url=url, api_key=key or "none").beta.memory_stores
    store = stores.create(name="Team", description="What the team has decided")
    first = stores.memories.create(store.id, path="/decisions/deploy.md", content="We deploy on Fridays.")
    known = {"type": "content_sha256", "content_sha256": first.content_sha256}
    change = {"memory_store_id": store.id, "content": "We deploy on Mondays.", "precondition": known}
    stores.memories.update(first.id, **change)  # pyright: ignore[reportArgumentType]
    try:
        stores.memories.update(first.id, **change)  # pyright: ignore[reportArgumentType]
    except ConflictError as error:
        print(error.type)  # noqa: T201
    for item in stores.memories.list(store.id, depth=1):
        print(item.type, item.path)  # noqa: T201
    with muisti.connect(url, key) as connection:
        space = connection.space(store.id.removeprefix("memstore_"))
        print(f"Found by a search: {space.search('When do we deploy?').hits[0].memory.content}")  # noqa: T201
    stores.memory_versions.redact(first.memory_version_id, memory_store_id=store.id)
    for version in stores.memory_versions.list(store.id, view="full"):
        print(version.operation, version.content)  # noqa: T201
    stores.delete(store.id)


if __name__ == "__main__":
    main()
