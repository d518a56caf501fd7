"""Servers with a space that has something for every page, for the tests in a browser."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from muisti.client import Muisti

SPACE = "harbour"
ADMIN = "mk_admin_of_the_tests_in_a_browser_0123456789"


@dataclass
class Served:
    """A running server: its URL, and ids of what is in its space, by the name that paths of pages use."""

    url: str
    key: str | None = None
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def client(self) -> Muisti:
        return Muisti(self.url, self.key)


@contextmanager
def serving(folder: Path, settings: Mapping[str, str]) -> Iterator[str]:
    """Run a server on a new file, and yield its URL."""
    given = {"MUISTI_PORT": "0", "MUISTI_DATABASE_URL": f"file:{folder}/console.db", **settings}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    log = folder / "log"
    command = [sys.executable, "-m", "muisti.service"]
    with (
        log.open("w") as stderr,
        subprocess.Popen(command, env={**plain, **given}, stderr=stderr, stdout=stderr) as process,
    ):
        try:
            yield _url(log, process)
        finally:
            process.terminate()


def _url(log: Path, process: subprocess.Popen[bytes]) -> str:
    while process.poll() is None:
        for line in log.read_text().splitlines():
            if "is ready at http://" in line:
                return next(word for word in json.loads(line)["event"].split() if word.startswith("http://"))
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start: {log.read_text()}")


def filled(served: Served) -> Served:
    """Put into the space what pages show, through the API alone."""
    with served.client() as api:
        api.create_space({"name": SPACE, "description": "What the team of the ferries has learnt"})
        lines = resources.files("muisti.service").joinpath("static", "harbour.ndjson").read_text("utf-8").splitlines()
        api.add_memories(SPACE, {"memories": [json.loads(line) for line in lines], "on_conflict": "keep"})
        said = {"content": "We deploy on **Tuesdays** after lunch.", "author": "Ann"}
        first = api.add_memory(SPACE, {**said, "category": "process", "key": "deploys"})
        served.ids["memory"] = first["id"]
        api.create_checkpoint(SPACE, {"name": "before-the-storm"})
        api.update_memory(SPACE, first["id"], {"content": "We deploy on **Wednesdays** after lunch."})
        api.add_memory(SPACE, {"content": "The kiosk in Nagu takes cash.", "author": "Ann"})
        api.add_memory(SPACE, {"content": "The kiosk in Nagu takes no cash.", "author": "Ben"}, on_conflict="review")
        turns = [
            {"user": "Which storm cancelled the sailings?", "system": "The one of 14 November, from noon to six."},
            {"user": "Who decides when we cancel?", "system": "Aino, with the skipper on duty."},
        ]
        api.add_exchanges(SPACE, "storm", {"items": turns})
        served.ids["conversation"] = "storm"
        probe = api.add_probe(SPACE, {"query": "When do we deploy?", "memory_id": first["id"]})
        served.ids["probe"] = probe["id"]
        api.run_probes(SPACE)
        asked = api.search(SPACE, {"query": "When do we deploy?", "receipt": True})
        served.ids["receipt"] = asked["receipt"]
        document = api.put_document(SPACE, "handbook/storms.md", {"content": HANDBOOK, "media_type": "text/markdown"})
        served.ids["document"] = document["id"]
        _administered(served, api)
    return served


def _administered(served: Served, api: Muisti) -> None:
    """Put in what the pages of imports, tasks and the graph show; keys where the server has some."""
    lines = b"".join(api.export_space(SPACE, vectors=False))
    task: Any = api.import_memories(SPACE, lines, task=True)
    served.ids["task"] = task["id"]
    api.create_space({"name": "copy"})
    api.import_memories("copy", lines)
    deadline = time.monotonic() + 30
    while not (found := api.list_entities(SPACE, limit=1)["items"]) and time.monotonic() < deadline:
        time.sleep(0.2)
    served.ids["entity"] = found[0]["id"]
    if served.key is not None:
        api.create_key({"name": "Robot", "mode": "append-only", "spaces": [SPACE]})


HANDBOOK = """# Storms

## Who decides

Aino decides with the skipper on duty. Nobody cancels a sailing alone.

## How passengers hear of it

The booking service sends a message to each passenger, in Finnish, Swedish and English.
"""
