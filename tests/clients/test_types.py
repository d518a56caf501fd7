"""Types of the library: a type checker refuses wrong uses, and only those."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = {"client": "clients/python/muisti_client", "core": "core", "service": "service"}
# Each line that ends with `# wrong` must have an error, and no other line.
USES = """
from datetime import datetime, timedelta

import muisti


def both(memory: muisti.Memory) -> str:
    stored = memory.remember("Tea", tags=["a"], importance="high", ttl=timedelta(days=1), event_at=datetime.now())
    memory.remember("Tea", tag=["a"])  # wrong
    memory.remember("Tea", importance="huge")  # wrong
    memory.remember("Tea", tags=3)  # wrong
    memory.remember(3)  # wrong
    found = memory.search("tea", limit=3, category=["a", "b"], after="2026-01-01", metadata={"n": 1}, mode="keyword")
    memory.search("tea", mode="magic")  # wrong
    memory.search("tea", colour="red")  # wrong
    memory.list(after=3)  # wrong
    print(stored.versoin)  # wrong
    print(found.hits[0].memory.content.upper(), found.hits[0].memory.created_at.year, found.evidence)
    print(found["hits"])  # wrong
    for item in memory.list(tags="release"):
        print(item.content)
    for change in memory.changes(follow=True):
        print(change.after.content)  # wrong
        print(change.after.content if change.after else change.point)
    print(memory.checkpoints.create("before").name.upper(), memory.graph.list_entities(limit=3).items[0].name)
    memory.conversations.create("support", titel="x")  # wrong
    memory.documents.add("a.md", content=3)  # wrong
    for document in memory.documents.list(folder="notes"):
        print(document.path, document.paht)  # wrong
    return memory.get("rules/deploys").key  # wrong


async def awaited(memory: muisti.AsyncMemory) -> int:
    stored = await memory.remember("Tea")
    memory.remember("Tea").content  # wrong
    async for item in memory.list():
        print(item.content)
    async for one in memory.conversations.list():
        print(one.turns + (await memory.conversations.get(one.name)).turns)
    return stored.version


async def swapped() -> None:
    both(muisti.open("a.db"))
    both(muisti.connect("http://127.0.0.1:8321"))
    async with muisti.open_async("a.db") as here, muisti.connect_async() as there:
        await awaited(here)
        await awaited(there.space("other"))
        both(here)  # wrong


def told(error: muisti.Conflict) -> str:
    if error.status == 412 or isinstance(error, muisti.StaleVersion):
        return error.code
    return error.cod  # wrong
"""


def test_a_type_checker_refuses_wrong_uses_alone(tmp_path: Path):
    package = tmp_path / "view" / "muisti"
    package.mkdir(parents=True)
    for name, folder in FOLDERS.items():
        (package / name).symlink_to(ROOT / folder)
    for path in (ROOT / "clients/python/muisti").glob("*.*"):
        (package / path.name).symlink_to(path)
    (tmp_path / "uses.py").write_text(USES)
    settings = {"include": ["uses.py"], "extraPaths": ["view"], "typeCheckingMode": "standard", "pythonVersion": "3.12"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [
        sys.executable, "-m", "basedpyright", "-p", str(tmp_path), "--outputjson", "--pythonpath", sys.executable,
    ]  # fmt: skip
    told = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=250).stdout)
    refused = {one["range"]["start"]["line"] for one in told["generalDiagnostics"] if one["severity"] == "error"}
    lines = USES.split("\n")
    assert {lines[number] for number in refused} == {line for line in lines if line.endswith("# wrong")}
    assert len(refused) == 17
