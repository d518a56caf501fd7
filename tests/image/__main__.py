"""`make image-test`: check with podman or docker that the image does what docs/how-to/operations.md says of it.

It runs as in a cluster: as an arbitrary user, on a read-only root, without capabilities, with a folder for its data.
It is killed while it writes.
"""

import argparse
import json
import re
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from deploy.cluster.ports import free_ports
from loadtests.document import put
from tests.image.engine import Engine, Layer

NAME = "muisti-image-test"
USER = "10001"
USAGE = 64  # the exit code for what is asked for in the wrong way
MEMORIES = "/v1/spaces/default/memories"
SEARCH = "/v1/spaces/default/search"
GENERATIONS = "/v1/spaces/default/generations"
FACTS = {
    "The staging database runs on port 5433.": "where does the database for staging listen?",
    "Ann prefers tea without sugar.": "what does Ann like to drink?",
    "Deploys go out on Fridays at noon.": "when do we ship a release?",
}
WRITERS, ENOUGH = 8, 200  # concurrent adds; answered adds after which the server is killed
START_SECONDS = 180.0
# Files that the process could write to, outside of /data and of what the kernel makes.
WRITABLE = """
import os
for top in os.listdir("/"):
    if top not in ("data", "dev", "proc", "sys"):
        for folder, _, _ in os.walk(f"/{top}"):
            try:
                os.close(os.open(f"{folder}/probe", os.O_CREAT | os.O_WRONLY))
                print(folder)
            except OSError:
                pass
"""
# Whether the loops were compiled when the image was made.
COMPILED = "from muisti.core.kernels.target import KERNELS; print(KERNELS is not None)"
TEMPORARY = {"/tmp", "/var/tmp", "/run", "/run/lock"}  # in memory, of podman's making
TOOLS = ("cc", "gcc", "ld", "pip", "make")


class Server:
    """A container of the image that serves on loopback, with a key."""

    def __init__(self, engine: Engine, data: Path, key: str, settings: Sequence[str]) -> None:
        self.engine = engine
        (port,) = free_ports(1)
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, trust_env=False, timeout=60
        )
        engine.start(NAME, data, [f"MUISTI_PORT={port}", *settings])

    def wait(self) -> None:
        """Return when it is ready."""
        give_up = time.monotonic() + START_SECONDS
        while not self._ready():
            assert time.monotonic() < give_up, self.engine.logs(NAME)
            time.sleep(0.05)

    def search(self, query: str) -> tuple[str, str]:
        """The content of the best hit, and how it was found."""
        answer = self.client.post(SEARCH, json={"query": query}).raise_for_status().json()
        assert answer["degraded"] == [], answer
        return answer["hits"][0]["memory"]["content"], answer["strategy"]

    def _ready(self) -> bool:
        try:
            return self.client.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False


# As docs/how-to/operations.md has it.
BACKUP = ["muisti", "backup", "/data/backup.db"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make image-test", description=__doc__)
    parser.add_argument("image", help="name of the image")
    parser.add_argument("--runner", required=True, help="podman or docker, with options of its own")
    parser.add_argument("--docs", type=Path, help="write sizes into this folder's operations.md")
    parser.add_argument("--second", action="store_true", help="check the variant with the second model minilm alone")
    options = parser.parse_args()
    engine = Engine(shlex.split(options.runner), options.image)
    with tempfile.TemporaryDirectory(prefix="muisti-image-") as folder:
        data = Path(folder)
        data.chmod(0o777)
        key = check_first_run(engine, data)
        if options.second:
            with serving(engine, data, key, "MUISTI_SECOND_MODEL=minilm") as server:
                check_second(server)
            tell_size(engine, options.docs)
            return
        with serving(engine, data, key) as server:
            check_confinement(engine)
            check_answers(server)
            check_kernels(engine)
            check_health(engine)
            check_bill(engine)
            check_kill(server)
            check_backup(engine)
            assert engine.stop(NAME) == 0, "SIGTERM did not end it in good order"
            say("SIGTERM ends it with exit code 0")
        with serving(engine, data, key, "MUISTI_DATABASE_URL=file:/data/backup.db") as server:
            check_found(server)
            say("a backup that was made meanwhile has everything, too")
    tell_size(engine, options.docs)


@contextmanager
def serving(engine: Engine, data: Path, key: str, *settings: str) -> Iterator[Server]:
    engine.remove(NAME)
    began = time.monotonic()
    server = Server(engine, data, key, settings)
    try:
        server.wait()
        say(f"ready {time.monotonic() - began:.1f} s after it was started")
        yield server
    except BaseException:
        sys.stderr.write(engine.logs(NAME))
        raise
    finally:
        engine.remove(NAME)


def check_first_run(engine: Engine, data: Path) -> str:
    """Without keys the server refuses to listen and says how to make one. Make one, and return it."""
    refused = engine.run(data, [])
    assert refused.code == USAGE and "muisti keys create --admin" in refused.complained, refused
    made = engine.run(data, ["keys", "create", "--admin"])
    assert made.code == 0, made
    say("without keys it refuses to listen, and says how to make one")
    return made.said.strip()


def check_confinement(engine: Engine) -> None:
    """The server runs as an unprivileged user, writes only to its data, and the image has no build tools."""
    assert engine.inside(NAME, ["id", "-u"]).said.strip() == USER
    refused = engine.inside(NAME, ["touch", "/probe", "/opt/muisti/probe"])
    assert refused.code == 1 and refused.complained.count("Read-only file system") == 2, refused
    assert engine.inside(NAME, ["touch", "/data/probe"]).code == 0
    places = set(engine.inside(NAME, ["python3", "-c", WRITABLE]).said.split())
    assert places <= TEMPORARY, places
    tools = engine.inside(NAME, ["sh", "-c", f"command -v {' '.join(TOOLS)}"]).said
    assert tools == "", tools
    say(f"user {USER}, read-only root, no compiler, no pip")


def check_answers(server: Server) -> None:
    for fact in FACTS:
        server.client.post(MEMORIES, json={"content": fact}).raise_for_status()
    check_found(server)
    assert httpx.post(server.client.base_url.join(SEARCH), json={"query": "x"}, trust_env=False).status_code == 401
    say("hybrid searches find what was stored; strangers get 401")


def check_second(server: Server) -> None:
    """Second vectors follow what was stored, and searches compare them with those of the queries."""
    for fact in FACTS:
        server.client.post(MEMORIES, json={"content": fact}).raise_for_status()
    give_up = time.monotonic() + START_SECONDS
    while not _is_embedded(server):
        assert time.monotonic() < give_up, "no second vectors"
        time.sleep(0.2)
    check_found(server)
    for way in ("mapped", "transformer"):
        for fact, question in FACTS.items():
            asked = {"query": question, "second_query": way, "explain": True}
            answer = server.client.post(SEARCH, json=asked).raise_for_status().json()
            best = answer["hits"][0]
            assert answer["degraded"] == [] and best["memory"]["content"] == fact, answer
            second = best["explain"]["second"]
            assert second["share"] > 0 and second["mapped"] == (way == "mapped"), second
    say("the second model minilm embeds what was stored, and searches use it, mapped and by the transformer")


def _is_embedded(server: Server) -> bool:
    items = server.client.get(GENERATIONS).raise_for_status().json()["items"]
    return any(one["role"] == "second" and one["embedded"] and not one["missing"] for one in items)


def check_kernels(engine: Engine) -> None:
    """Each loop was compiled when the image was built."""
    asked = engine.inside(NAME, ["python", "-c", COMPILED])
    assert asked.said == "True\n", asked
    say("no kernel is compiled at run time")


def check_health(engine: Engine) -> None:
    """The image's own check says that it is well."""
    known = engine.inspect(engine.image)
    command = (known.get("Healthcheck") or known["Config"]["Healthcheck"])["Test"]  # podman's place, docker's place
    assert command[0] == "CMD", command
    well = engine.inside(NAME, command[1:])
    assert well.code == 0, well
    say("HEALTHCHECK passes")


def check_bill(engine: Engine) -> None:
    """The list of what is in it is where the label says, and names the versions that are pinned."""
    label = engine.inspect(engine.image)["Config"]["Labels"]["muisti.sbom"]
    bill = json.loads(engine.inside(NAME, ["cat", label]).said)
    assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["component"]["name"] == "muisti"
    listed = {normal(part["name"]): part["version"] for part in bill["components"]}
    pins = Path("deploy/constraints.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in pins if "==" in line)
    pinned = {normal(name): version for name, version in pinned.items()}
    listed.pop("muisti", None)
    assert listed.items() <= pinned.items(), listed.items() - pinned.items()
    assert {"numpy", "litestar", "apsw"} <= listed.keys()
    say(f"the SBOM lists {len(listed)} packages, each as pinned")


def check_kill(server: Server) -> None:
    """A server that is killed during writes keeps all acknowledged memories."""
    answered: dict[str, str] = {}
    enough = threading.Event()

    def add(number: int) -> None:
        content = f"note {number} of the long evening"
        try:
            made = server.client.post(MEMORIES, json={"content": content, "on_conflict": "keep"})
        except httpx.TransportError:
            return
        assert made.status_code == 201, made.text
        answered[made.json()["id"]] = content
        if len(answered) == ENOUGH:
            enough.set()

    with ThreadPoolExecutor(WRITERS) as writers:
        for number in range(100_000):
            writers.submit(add, number)
        assert enough.wait(timeout=120), len(answered)
        server.engine.kill(NAME)
        writers.shutdown(cancel_futures=True)
    server.engine.again(NAME)
    server.wait()
    for id, content in answered.items():
        assert server.client.get(f"{MEMORIES}/{id}").raise_for_status().json()["content"] == content
    check_found(server)
    say(f"killed with -9 after {len(answered)} answered adds: all are there, and found")


def check_backup(engine: Engine) -> None:
    """Check that the documented backup command works while the server runs."""
    assert f"podman exec muisti {' '.join(BACKUP)}" in Path("docs/how-to/operations.md").read_text("utf-8")
    done = engine.inside(NAME, BACKUP)
    assert done.code == 0, done


def check_found(server: Server) -> None:
    for fact, question in FACTS.items():
        assert server.search(question) == (fact, "hybrid")


def tell_size(engine: Engine, docs: Path | None) -> None:
    """The size of the image and of its layers, in megabytes, to the screen and into the documents."""
    layers = engine.layers()
    rows = [("Debian, the base", f"{layers[0].megabytes:.1f}")]
    rows += [(what(layer), f"{layer.megabytes:.1f}") for layer in layers[1:]]
    rows.append(("**all**", f"**{sum(layer.megabytes for layer in layers):.1f}**"))
    table = "| layer | MB |\n| --- | --- |\n" + "".join(f"| {name} | {size} |\n" for name, size in rows)
    say(f"\n{table}")
    if docs is not None:
        put({"image": table}, docs / "how-to" / "operations.md")


def what(layer: Layer) -> str:
    """Describe the contents of a layer above the base."""
    for sign, words in (
        ("/opt/muisti/packages", "Python packages"),
        ("/opt/muisti/app", "Muisti, its model, its kernels"),
        ("install -q", "Python, certificates"),
    ):
        if sign in layer.made_by:
            return words
    return "all in one"  # as buildah builds it without --layers


def normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def say(words: str) -> None:
    print(words, flush=True)  # noqa: T201  # a program for people


if __name__ == "__main__":
    main()
