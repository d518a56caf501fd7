"""The dashboard and the alerts ask for metrics that there are, with labels that bound no server."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPERATIONS = (ROOT / "docs" / "how-to" / "operations.md").read_text("utf-8")
DASHBOARD = ROOT / "deploy" / "grafana" / "muisti.json"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
DOCUMENTED = {
    name: kind for name, kind in re.findall(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \|", OPERATIONS, re.M)
}


def asked(text: str) -> set[str]:
    """The families that a text names."""
    names = set(re.findall(r"\b(?:muisti|process)_[a-z_]+\b", text)) - {"muisti_"}
    return {re.sub(r"_(bucket|sum|count)$", "", name) if name not in DOCUMENTED else name for name in names}


@pytest.mark.parametrize("file", [DASHBOARD, ALERTS], ids=lambda file: file.name)
def test_only_metrics_that_there_are_are_asked_for(file: Path):
    assert asked(file.read_text("utf-8")) - {"muisti_metrics"} <= set(DOCUMENTED)


def test_the_dashboard_shows_every_metric_of_ours_of_the_servers_that_are_chosen():
    unshown = set(DOCUMENTED) - asked(DASHBOARD.read_text("utf-8"))
    assert unshown == {"muisti_build_info", "process_virtual_memory_bytes", "process_max_fds"}
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    assert all('instance=~"$instance"' in one["expr"] for panel in panels for one in panel.get("targets", []))


def test_every_alert_is_explained():
    for name in re.findall(r"alert: (\w+)", ALERTS.read_text("utf-8")):
        assert f"`{name}`" in OPERATIONS
