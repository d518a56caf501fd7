"""Lint the chart with Helm's own library, render each mode, and compare with `deploy/kubernetes`: `make image-checks`.

It needs the packages of `deploy/clients/manifests.txt`, which carry Helm and the schemas of Kubernetes.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python as helm  # pyright: ignore[reportMissingImports]
import kubernetes_validate  # pyright: ignore[reportMissingImports]
import yaml

CHART = Path(__file__).parent / "muisti"
PLAIN = Path(__file__).parents[1] / "kubernetes"
WARNING = 2  # severity of a finding that counts
MODES = {"file": {}, "sqld": {"mode": "sqld"}, "external": {"mode": "external", "external": {"url": "libsql://a.b"}}}
ALL = {
    "ingress": {"host": "memory.example", "class": "nginx", "tlsSecret": "tls"},
    "adminKey": {"secret": "keys", "key": "admin", "create": "x" * 32},
    "storage": {"size": "1Gi", "class": "fast"},
    "sqld": {"primaries": 3},
    "settings": {"MUISTI_INDEX_MEMORY": "1GiB", "MUISTI_WORKERS": 2},
}
REFUSED = (
    {"mode": "x"},
    {"mode": "external"},
    {"settings": {"A": 1}},
    {"replicas": 0},
    {"strange": 1},
    {"sqld": {"primaries": 0}},
)
ONLY_OF_CHARTS = (("app.kubernetes.io/instance", "muisti"), ("imagePullPolicy", "IfNotPresent"), ("type", "ClusterIP"))
Objects = dict[tuple[str, str], Any]


def main() -> int:
    """Print what is wrong, and return the exit status."""
    faults = [*linted(), *accepted()]
    with helm.Chart.load(CHART) as chart:
        for mode, values in MODES.items():
            for more in ({}, ALL):
                faults += invalid(mode, rendered(chart, values | more))
        for mode in ("file", "sqld"):
            faults += differing(mode, rendered(chart, MODES[mode]))
    good = f"the chart is valid by Helm {helm.helm_sdk_version()}, and agrees with deploy/kubernetes"
    print("\n".join(faults) or good)  # noqa: T201
    return int(bool(faults))


def linted() -> Iterator[str]:
    found = helm.lint(CHART)
    yield from (f"lint: {one}" for one in found["messages"] if one["severity"] >= WARNING)


def accepted() -> Iterator[str]:
    """Yield what the schema of values accepts and should not."""
    with helm.Chart.load(CHART) as chart:
        for values in REFUSED:
            try:
                chart.validate_schema(values)
            except helm.HelmError:
                continue
            yield f"values.schema.json accepts {values}"


def rendered(chart: Any, values: dict[str, Any]) -> Objects:
    """Return the objects by kind and name."""
    texts = chart.render(values, name="muisti", namespace="default")
    made = [one for name, text in texts.items() if name.endswith(".yaml") for one in yaml.safe_load_all(text) if one]
    return {(one["kind"], one["metadata"]["name"]): one for one in made}


def invalid(mode: str, objects: Objects) -> Iterator[str]:
    """Yield what does not fit the schemas of Kubernetes."""
    for (kind, name), one in objects.items():
        try:
            kubernetes_validate.validate(one, "1.37", strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{mode}: {kind} {name}: {error.message}"


def differing(mode: str, objects: Objects) -> Iterator[str]:
    """Yield what differs from the plain manifests of this mode, apart from what only charts have."""
    plain = [one for one in yaml.safe_load_all((PLAIN / f"{mode}.yaml").read_text("utf-8")) if one]
    wanted = {_place(one): _spec(one) for one in plain}
    found = {_place(one): _spec(one) for one in objects.values()}
    for place in sorted(wanted.keys() | found.keys()):
        if wanted.get(place) != found.get(place):
            yield f"{mode}: {' '.join(place)} differs:\n  {wanted.get(place)}\n  {found.get(place)}"


def _place(one: dict[str, Any]) -> tuple[str, str]:
    return one["kind"], one["metadata"]["name"].removeprefix("muisti-")


def _spec(one: dict[str, Any]) -> str:
    return json.dumps(_plain(one["spec"]), sort_keys=True).replace("muisti-sqld", "sqld")


def _plain(value: Any) -> Any:
    """Return a value without fields that only charts have, the labels of pods but their name, and tags of our image."""
    if isinstance(value, list):
        return sorted(map(_plain, value), key=lambda one: json.dumps(one, sort_keys=True))
    if isinstance(value, str):
        return value.partition(":")[0] if value.startswith("muisti:") else value
    if not isinstance(value, dict):
        return value
    if "app.kubernetes.io/name" in value:
        return {"app.kubernetes.io/name": value["app.kubernetes.io/name"]}
    kept = {key: _plain(one) for key, one in value.items() if (key, one) not in ONLY_OF_CHARTS}
    return {key: one for key, one in kept.items() if one != {}}


if __name__ == "__main__":
    sys.exit(main())
