"""Observability of a cluster whose processes are all killed in turn: Prometheus, the dashboard's queries, the alerts.

Locust's users load a cluster of four processes; beside it runs a server of two workers on a file. Every query of the
dashboard must have data, and the data must show what happened.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

from deploy.cluster.four import Four, four
from deploy.cluster.muisti import Muisti
from loadtests.kills import Seen, attack, judged
from loadtests.prometheus import Prometheus, PrometheusMissing, get, promtool

DEPLOY = Path(__file__).parents[1] / "deploy"
KEY = "a-key-for-prometheus-and-for-nothing-else"
SCRAPE_SECONDS = 1
RATE = "15s"  # a kill and a start lie within
FAILING = 0.2  # of requests, at most, while all is killed all the time
MCP = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

Series = list[dict[str, Any]]


class NotObserved(Exception):
    """The metrics do not tell what happened."""


@dataclass(frozen=True)
class Shown:
    """A panel of the dashboard, or its annotations, with the series of each of its queries by legend."""

    panel: dict[str, Any]
    series: list[tuple[str, Series]]

    @property
    def name(self) -> str:
        return self.panel.get("title") or self.panel["name"]


def main() -> int:
    """0 when users saw no more than retries and the metrics tell what happened."""
    parser = argparse.ArgumentParser(prog="make watch-test", description=__doc__)
    parser.add_argument("locust", type=Path, help="the program, in an environment of its own")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--docs", type=Path, help="folder whose img/dashboard.png is drawn again (needs matplotlib)")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return watch(Path(folder), options.locust, options.seconds, options.docs)
    except PrometheusMissing as missing:
        sys.exit(f"NOTHING WATCHED: {missing}")
    except NotObserved as missing:
        sys.exit(str(missing))


def watch(folder: Path, locust: Path, seconds: float, docs: Path | None) -> int:
    dashboard = None if docs is None else import_module("loadtests.dashboard")
    with ExitStack() as stack:
        running = stack.enter_context(four(folder, metrics_key=KEY))
        plain = Muisti(
            folder / "plain", workers="2", embeddings="off", database_url=f"file:{folder}/plain.db", metrics_key=KEY
        )
        stack.enter_context(plain)
        servers = (running.one, running.two, plain)
        for server in servers:
            promtool("metrics", given=get(f"{server.url}/metrics", Authorization=f"Bearer {KEY}"))
        prometheus = stack.enter_context(Prometheus(folder, configured(folder, servers)))
        began = time.time()
        with used(plain):
            seen = attack(locust, running, seconds, folder / "report.json")
        time.sleep(3 * SCRAPE_SECONDS)
        ended = time.time()
        shown = list(panels(prometheus, began, ended))
        checks = story(prometheus, running, seen, ended, f"{int(ended - began)}s")
    if docs is not None and dashboard is not None:
        names = {f"127.0.0.1:{server.port}": name for server, name in zip(servers, ("one", "two", "file"), strict=True)}
        dashboard.draw(shown, began, names, docs / "img" / "dashboard.png")
    code = judged(seen, seconds)
    for one in shown:
        checks[f"there is data for every query of {one.name!r}"] = all(found for _, found in one.series)
    for what, holds in checks.items():
        print("yes" if holds else "NO ", what)  # noqa: T201  # a program for people
    if not all(checks.values()):
        raise NotObserved("the metrics do not tell what happened")
    return code


def configured(folder: Path, servers: tuple[Muisti, ...]) -> Path:
    """The example configuration with our servers, scraped often; checked."""
    (folder / "muisti-metrics-key").write_text(KEY)
    (folder / "alerts.yml").write_text((DEPLOY / "prometheus" / "alerts.yml").read_text())
    text = (DEPLOY / "prometheus" / "prometheus.yml").read_text()
    targets = json.dumps([f"127.0.0.1:{server.port}" for server in servers])
    for old, new in (
        ('["muisti-1:8321", "muisti-2:8321"]', targets),
        ("_interval: 15s", f"_interval: {SCRAPE_SECONDS}s"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    config = folder / "prometheus.yml"
    config.write_text(text)
    promtool("config", str(config))
    return config


@contextmanager
def used(server: Muisti) -> Iterator[None]:
    """Send a few requests to a server over HTTP and MCP while the context is open."""
    stop = threading.Event()

    def use() -> None:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        recall = call | {"params": {"name": "recall", "arguments": {"query": "what was noted?"}}}
        number = 0
        while not stop.wait(0.2):
            number += 1
            with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:  # any of the workers
                note = {"content": f"note {number}", "on_conflict": "keep"}
                client.post("/v1/spaces/default/memories", json=note).raise_for_status()
                client.post("/v1/spaces/default/search", json={"query": f"note {number}"}).raise_for_status()
                client.post("/mcp", json=recall, headers=MCP).raise_for_status()

    user = threading.Thread(target=use)
    user.start()
    try:
        yield
    finally:
        stop.set()
        user.join()


def panels(prometheus: Prometheus, began: float, ended: float) -> Iterator[Shown]:
    """The dashboard with its data."""
    dashboard = json.loads((DEPLOY / "grafana" / "muisti.json").read_text())
    span = f"{int(ended - began)}s"
    for panel in [*dashboard["panels"], *dashboard["annotations"]["list"]]:
        series: list[tuple[str, Series]] = []
        for target in panel.get("targets", [panel] if "expr" in panel else []):
            expression = filled(target["expr"], span)
            if target.get("instant"):
                found = prometheus.at(expression, ended)
            else:
                found = prometheus.between(expression, began, ended, SCRAPE_SECONDS)
            series.append((target.get("legendFormat", ""), found))
        yield Shown(panel, series)


def filled(expression: str, span: str) -> str:
    """A query of the dashboard with all servers, over the whole time."""
    for name, value in (("$instance", ".*"), ("$__rate_interval", RATE), ("$__range", span)):
        expression = expression.replace(name, value)
    return expression


def story(prometheus: Prometheus, running: Four, seen: Seen, at: float, span: str) -> dict[str, bool]:
    """Compare what was done to the cluster with what the metrics show, as a check of each event by name."""

    def number(expression: str, **labels: str) -> float:
        given = prometheus.at(expression % {"labels": selector(labels), "span": span}, at)
        return sum(float(one["value"][1]) for one in given)

    checks: dict[str, bool] = {}
    for name in ("one", "two"):
        instance = f"127.0.0.1:{getattr(running, name).port}"
        restarts = number("changes(process_start_time_seconds{%(labels)s}[%(span)s])", instance=instance)
        checks[f"{name} has restarted {seen.killed[name]} times, of which {restarts:g} were seen"] = (
            0 < restarts <= seen.killed[name]
        )
        checks[f"{name} did not answer for a while"] = (
            number("min_over_time(up{%(labels)s}[%(span)s])", instance=instance) == 0
        )
        checks[f"{name} asked its database again"] = (
            number("sum(increase(muisti_database_retries_total{%(labels)s}[%(span)s]))", instance=instance) > 0
        )
    lag = number("max(max_over_time(muisti_replica_lag_writes[%(span)s]))")
    checks[f"the replica was behind by up to {lag:g} writes"] = lag > 0
    failed = number('sum(increase(muisti_http_requests_total{status=~"5.."}[%(span)s]))')
    whole = number("sum(increase(muisti_http_requests_total[%(span)s]))")
    checks[f"of {whole:.0f} requests {failed:.0f} failed, fewer than {FAILING:.0%}"] = failed < FAILING * whole
    checks["nothing failed by a fault of Muisti"] = (
        number('sum(increase(muisti_http_problems_total{code="internal"}[%(span)s]))') == 0
    )
    bad = [rule["name"] for rule in prometheus.rules() if rule["health"] != "ok"]
    checks[f"every alert could be evaluated {bad or ''}"] = not bad
    return checks


def selector(labels: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


if __name__ == "__main__":
    sys.exit(main())
