"""The evaluation of facts that change, on a conversation of a few lines."""

import json
from pathlib import Path

import httpx
import pytest

from loadtests.quality.updates import SUPERSEDED, Found, Update, measure, table, updates
from muisti.service.evaluation.dataset import DatasetError, load
from muisti.service.terminal.client import Client

TURNS = [
    "The quota of the API key is 1,000 calls a day",
    "What shall we have for lunch?",
    "By now the quota of the API key is 1,100 calls a day, they say",
    "Soup again, I am afraid.",
    "They have raised the quota of the API key to 1,200 calls a day, it seems, which is more than before",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    meta = {"session": "s", "timestamp": "2024-03-15"}
    corpus = [{"id": f"c/{n}", "text": text, "group": "c", "meta": {**meta, "turn": n}} for n, text in enumerate(TURNS)]
    query = {"id": "q", "text": "the quota of the API key", "group": "c", "category": "knowledge_update"}
    facts = {"updated": ["c/4"], "superseded": ["c/2", "c/0"]}
    lines = {"corpus.jsonl": corpus, "queries.jsonl": [{**query, **facts}, {**query, "id": "other"}]}
    for name, found in lines.items():
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in found))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tc/4\t1\nother\tc/1\t1\n")
    return tmp_path


def test_superseding_puts_the_new_fact_first_and_the_old_ones_out(folder: Path, client: httpx.Client):
    dataset = load(folder)
    wanted = updates(folder, dataset)
    assert wanted == [Update("q", "the quota of the API key", "c", old=("c/0", "c/2"), new=("c/4",))]
    found = measure(Client(client), dataset, wanted)
    assert found[SUPERSEDED] == [Found(new=1, old=0)]
    assert all(0 < one.old < one.new for one in found["nothing"])
    (*_, superseded) = table(found)
    assert superseded == f"| {SUPERSEDED} | 1 of 1 | 0 | 1 | 1 | 1.000 |"
    assert client.get("/v1/spaces").json()["items"][0]["name"] == "default"  # the others are gone


def test_a_folder_without_changed_facts_is_refused(folder: Path):
    queries = folder / "queries.jsonl"
    queries.write_text(queries.read_text().replace('"updated"', '"other"'))
    with pytest.raises(DatasetError):
        updates(folder, load(folder))
