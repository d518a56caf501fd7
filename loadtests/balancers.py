"""Hit rates of indexes behind real balancers: by a hash of the path, and in turn.

`python -m loadtests.balancers`; HAProxy and Caddy are packages of Debian's, `deploy/clients/balancers.txt` has Envoy.

Three Muistis on one file have room for a part of the spaces each. Clients warm spaces through the balancer, by Zipf's
law; each answer says whether the index had to be loaded. Then one Muisti is stopped: the others take over its spaces
and nobody gets an error. The recipe for Fly is asked which machine it names, since its proxy runs on Fly alone.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from deploy.cluster.muisti import ROOT, Muisti
from deploy.cluster.ports import free_ports
from loadtests import simulation, texts
from loadtests.scale.simulate import who_asks
from loadtests.simulation import BALANCED, Balanced, Measured
from muisti.core.databases import open_file
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.times import system_clock
from muisti.core.model.values import Draft

RECIPES = ROOT / "deploy" / "balancers"
NAMES = ("one", "two", "three")
MEMORIES = 40  # of a space
PATIENCE = 60.0
MACHINES = "/usr/local/etc/haproxy/machines"
FILES = {
    "haproxy": RECIPES / "haproxy.cfg",
    "envoy": RECIPES / "envoy.yaml",
    "caddy": ROOT / "deploy" / "Caddyfile",
}
IN_TURN = {  # what the recipe says, and what it says for turns
    "haproxy": (r"balance hash .*\n.*\n.*hash-balance-factor.*", "balance roundrobin"),
    "envoy": ("lb_policy: MAGLEV", "lb_policy: ROUND_ROBIN"),
    "caddy": ("lb_policy header .*", "lb_policy round_robin"),
}


def main() -> int:
    """0 when hashing finds more indexes loaded than turns, and nobody saw an error."""
    parser = argparse.ArgumentParser(prog="python -m loadtests.balancers", description=__doc__)
    parser.add_argument("--haproxy", default="haproxy", help="the program (%(default)s)")
    parser.add_argument("--envoy", default="build/balancers/bin/envoy", help="the program (%(default)s)")
    parser.add_argument("--caddy", default="caddy", help="the program (%(default)s)")
    parser.add_argument("--only", choices=FILES, action="append", help="one balancer; may be repeated")
    parser.add_argument("--keep", action="store_true", help="keep the figures for loadtests.simulation")
    options = parser.parse_args()
    programs = {name: getattr(options, name) for name in options.only or FILES}
    missing = [name for name, program in programs.items() if shutil.which(program) is None]
    if missing:
        sys.exit(f"NOTHING MEASURED: {' and '.join(missing)} not found; see --help")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        room = filled(folder / "muisti.db")
        found = [Balanced(balancer=balancer, way=way, hits=hits(folder, balancer, programs[balancer], way, room))
                 for balancer in programs for way in ("hash", "turns")]  # fmt: skip
        if "haproxy" in programs:
            fly(folder, programs["haproxy"])
    for one in found:
        print(f"{one.balancer} {one.way}: {one.hits:.1%}, simulated {simulation.hit_rate(one.way):.1%}")  # noqa: T201
    if options.keep:
        known = simulation.load()
        found = [*(one for one in known.balanced if one.balancer not in programs), *found]
        simulation.keep(Measured(machine=known.machine, restores=known.restores, balanced=found))
    by = {(one.balancer, one.way): one.hits for one in found}
    return int(any(by[name, "hash"] <= by[name, "turns"] for name in programs))


def filled(path: Path) -> int:
    """Fill the spaces, and return the bytes that the indexes of as many as have room take."""
    known, _ = texts.invented(MEMORIES)
    with Engine(open_file(path), StaticEncoder(), system_clock) as engine:
        for number in range(int(BALANCED["spaces"])):
            engine.spaces.ensure(f"tenant-{number}")
            drafts = [Draft(content=text) for text in known]
            engine.owner.write.add(f"tenant-{number}", drafts, on_conflict="keep")
    with Engine(open_file(path), StaticEncoder(), system_clock) as engine:
        for number in range(int(BALANCED["room"])):
            engine.owner.read.warm(f"tenant-{number}")
        return engine.index_bytes


def hits(folder: Path, balancer: str, program: str, way: str, room: int) -> float:
    """Return the share of requests that found the index loaded."""
    with ExitStack() as stack:
        made = {"database_url": f"file:{folder}/muisti.db", "index_memory": f"{int(room * 1.01)}", "upkeep": "off"}
        muistis = [stack.enter_context(Muisti(folder / name, **made)) for name in NAMES]
        text = FILES[balancer].read_text("utf-8")
        if way == "turns":
            text, changed = re.subn(*IN_TURN[balancer], text)
            assert changed == 1, f"the recipe of {balancer} hashes in another way"
        url = stack.enter_context(balancing(folder, balancer, program, text, [one.port for one in muistis]))
        client = stack.enter_context(httpx.Client(base_url=url, timeout=30, trust_env=False))
        asked = who_asks(int(BALANCED["spaces"]), BALANCED["skew"], int(BALANCED["searches"]), 1).tolist()
        found = sum(not _warmed(client, space) for space in asked)
        muistis[1].stop()
        for space in range(int(BALANCED["spaces"])):
            _warmed(client, space)
        return found / len(asked)


def _warmed(client: httpx.Client, space: int) -> bool:
    """Return whether the index had to be loaded."""
    answer = client.post(f"/v1/spaces/tenant-{space}/warm")
    assert answer.status_code == 200, answer.text
    return answer.json()["loaded"]


@contextmanager
def balancing(folder: Path, balancer: str, program: str, text: str, ports: Sequence[int]) -> Iterator[str]:
    """Run a balancer by its recipe, with other addresses, and yield its URL."""
    (own,) = free_ports(1)
    if balancer == "haproxy":
        for name, port in zip(NAMES, ports, strict=False):
            text = text.replace(f"server {name} {name}:8321", f"server {name} 127.0.0.1:{port}")
        text = text.replace("bind :8321", f"bind 127.0.0.1:{own}").replace("bind :8080", f"bind 127.0.0.1:{own}")
        file = folder / "haproxy.cfg"
        command = [program, "-db", "-f", str(file)]
    elif balancer == "caddy":
        for name, port in zip(NAMES, ports, strict=True):
            text = text.replace(f"{name}:8321", f"127.0.0.1:{port}")
        text = text.replace("\n:8321 {", f"\n:{own} {{\n\tbind 127.0.0.1")
        file = folder / "Caddyfile"
        command = [program, "run", "--config", str(file), "--adapter", "caddyfile"]
    else:
        for name, port in zip(NAMES, ports, strict=True):
            text = text.replace(f"address: {name}, port_value: 8321", f"address: 127.0.0.1, port_value: {port}")
        text = text.replace("address: 0.0.0.0, port_value: 8321", f"address: 127.0.0.1, port_value: {own}")
        file = folder / "envoy.yaml"
        command = [program, "--config-path", str(file), "--log-level", "error", "--use-dynamic-base-id"]
    file.write_text(text, "utf-8")
    own_folders = {**os.environ, "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}  # Caddy writes there
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=own_folders)
    try:
        _ready(f"http://127.0.0.1:{own}", process)
        yield f"http://127.0.0.1:{own}"
    finally:
        process.terminate()
        process.wait()


def _ready(url: str, process: "subprocess.Popen[bytes]") -> None:
    ends = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None and time.monotonic() < ends, "the balancer does not answer"
        try:
            if httpx.get(f"{url}/readyz", timeout=5, trust_env=False).status_code in (200, 204):
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)


def fly(folder: Path, program: str) -> None:
    """Raise AssertionError unless the recipe for Fly names one machine for each space, and each machine for some."""
    machines: Mapping[str, str] = {f"{number}": f"machine{number}" for number in range(3)}
    file = folder / "machines"
    file.write_text("".join(f"{number} {name}\n" for number, name in machines.items()), "utf-8")
    text = (RECIPES / "fly.cfg").read_text("utf-8").replace(MACHINES, str(file))
    with balancing(folder, "haproxy", program, text, []) as url, httpx.Client(base_url=url, trust_env=False) as client:
        named = dict[str, str]()
        for number in range(30):
            told = {
                client.post(f"/v1/spaces/tenant-{number}/{one}").headers["fly-replay"] for one in ("warm", "search")
            }
            (named[f"tenant-{number}"],) = told
        assert set(named.values()) == {f"app=muisti;prefer_instance={name}" for name in machines.values()}
        long = client.post("/v1/spaces/tenant-1/documents", content=b"x" * 1_000_001)
        assert "fly-replay" not in long.headers and long.status_code == 503, "no machine is behind this front"
    print(f"fly: {len(named)} spaces on {len(machines)} machines, long bodies pass through")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
