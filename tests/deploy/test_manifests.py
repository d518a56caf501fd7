"""deploy/ and fly.toml agree with Muisti on its settings, port, routes, user and folders."""

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from muisti.service.routes import server
from muisti.service.settings import Settings, load

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
FLY = tomllib.loads((ROOT / "fly.toml").read_text("utf-8"))
MANIFESTS = {
    path.name: list(yaml.safe_load_all(path.read_text("utf-8")))
    for path in sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
}
SECRET = "x" * 32  # for what an operator fills in
HEALTH = ("getHealth", "getReadiness")
PATHS = {path for one in server.routes.handlers if one.operation_id in HEALTH for path in one.paths}
USER = re.findall(r"^USER (\d+):(\d+)$", CONTAINERFILE, re.MULTILINE)[-1]


def image_settings() -> dict[str, str]:
    """Return Muisti's environment variables in the Containerfile, which may set others too."""
    given = re.findall(r"^(?:ENV | {4})(MUISTI_\w+=\S+)", CONTAINERFILE, re.MULTILINE)
    return dict(setting.split("=", 1) for setting in given)


def muistis() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each container of Kubernetes that runs Muisti, and the pod that it is in."""
    for name, objects in MANIFESTS.items():
        for each in objects:
            if each["kind"] == "Deployment" and each["metadata"]["name"] == "muisti":
                yield name, each["spec"]["template"]["spec"]


def environments() -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "Containerfile", image_settings()
    yield "fly.toml", FLY["env"]
    for name in ("one", "two", "three"):
        given = COMPOSE["services"][name]["environment"]
        yield f"compose.yaml: {name}", {**given, "MUISTI_ADMIN_KEY": SECRET}
    for name, pod in muistis():
        (container,) = pod["containers"]
        yield name, {one["name"]: one.get("value", SECRET) for one in container["env"]}


@pytest.mark.parametrize(
    ("place", "environment"), list(environments()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_all_settings_exist_and_fit(place: str, environment: Mapping[str, str]):
    assert environment, place
    load(environment, None, {})


def test_everything_calls_the_port_that_muisti_listens_on_and_the_image_starts_it():
    assert 'ENTRYPOINT ["muisti"]\nCMD ["serve"]\n' in CONTAINERFILE
    port = Settings().port
    assert re.findall(r"^EXPOSE (\d+)$", CONTAINERFILE, re.MULTILINE) == [str(port)]
    assert FLY["http_service"]["internal_port"] == port
    assert f"reverse_proxy one:{port} two:{port} three:{port}" in (ROOT / "deploy" / "Caddyfile").read_text("utf-8")
    for _, pod in muistis():
        (container,) = pod["containers"]
        assert [one["containerPort"] for one in container["ports"]] == [port]


def test_probes_ask_for_routes_that_exist():
    asked = [check["path"] for check in FLY["http_service"]["checks"]]
    asked += re.findall(r"'(/[a-z]+)'", re.findall(r"^ +CMD (\[.*\])$", CONTAINERFILE, re.MULTILINE)[0])
    asked += re.findall(r"health_uri (\S+)", (ROOT / "deploy" / "Caddyfile").read_text("utf-8"))
    for _, pod in muistis():
        (container,) = pod["containers"]
        asked += [container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")]
    assert len(asked) == 9 and set(asked) == PATHS


@pytest.mark.parametrize(("name", "pod"), list(muistis()), ids=lambda value: value if isinstance(value, str) else "")
def test_pods_are_confined_to_the_user_and_the_folders_of_the_image(name: str, pod: dict[str, Any]):
    (container,) = pod["containers"]
    given = pod["securityContext"]
    assert given["runAsNonRoot"] and (str(given["runAsUser"]), str(given["runAsGroup"])) == USER
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not pod["enableServiceLinks"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
    assert mounts.keys() == ({"/data", "/tmp"} if name == "file.yaml" else {"/tmp"})
    if name == "file.yaml":
        assert given["fsGroup"] == given["runAsGroup"]
        assert {"kind": "PersistentVolumeClaim", "name": "muisti"} in [
            {"kind": one["kind"], "name": one["metadata"]["name"]} for one in MANIFESTS[name]
        ]
        assert mounts["/data"]["persistentVolumeClaim"]["claimName"] == "muisti"


def test_a_file_has_one_owner():
    (deployment,) = [one for one in MANIFESTS["file.yaml"] if one["kind"] == "Deployment"]
    assert deployment["spec"]["replicas"] == 1 and deployment["spec"]["strategy"] == {"type": "Recreate"}
    assert FLY["mounts"]["destination"] == "/data" == re.findall(r"^VOLUME (\S+)$", CONTAINERFILE, re.MULTILINE)[0]


@pytest.mark.parametrize("name", MANIFESTS)
def test_services_lead_to_pods(name: str):
    pods = [one["spec"]["template"] for one in MANIFESTS[name] if one["kind"] in ("Deployment", "StatefulSet")]
    for service in (one for one in MANIFESTS[name] if one["kind"] == "Service"):
        (pod,) = [pod for pod in pods if pod["metadata"]["labels"] == service["spec"]["selector"]]
        named = {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= named


def test_hosts_that_settings_name_are_services_beside():
    hosts = {
        (name, re.split("[/:]+", one["value"])[1], int(one["value"].rsplit(":", 1)[1]))
        for name, objects in MANIFESTS.items()
        for one in _variables(objects)
        if one.get("value", "").startswith("http://")
    }
    services = {
        (name, one["metadata"]["name"], port["port"])
        for name, objects in MANIFESTS.items()
        for one in objects
        if one["kind"] == "Service"
        for port in one["spec"]["ports"]
    }
    assert len(hosts) == 3 and hosts <= services
    named = {
        re.split("[/:]+", value)[1]
        for service in COMPOSE["services"].values()
        for value in service.get("environment", {}).values()
        if value.startswith("http://")
    }
    assert named == {"primary", "replica", "primary-two"} <= COMPOSE["services"].keys()
    told = re.findall(r"http://([a-z-]+):8080", (ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    assert set(told) == {"primary", "replica", "primary-two", "replica-two"} <= COMPOSE["services"].keys()


@pytest.mark.parametrize("recipe", ["haproxy.cfg", "envoy.yaml"])
def test_balancers_call_the_three_muistis_of_compose(recipe: str):
    text, port = (ROOT / "deploy" / "balancers" / recipe).read_text("utf-8"), Settings().port
    told = re.findall(r"(?:server \w+ |address: \{socket_address: \{address: )(\w+)(?::|, port_value: )(\d+)", text)
    assert told == [(name, str(port)) for name in ("one", "two", "three")]
    assert "/readyz" in PATHS and "/readyz" in text
    assert all(name in COMPOSE["services"] for name, _ in told)


def test_what_the_containerfile_copies_goes_to_the_builder():
    kept = set(re.findall(r"^!(\S+)$", (ROOT / ".containerignore").read_text("utf-8"), re.MULTILINE))
    copied = [shlex.split(line)[1:-1] for line in CONTAINERFILE.splitlines() if re.match("COPY [^-]", line)]
    assert {path for paths in copied for path in paths} == kept
    assert (ROOT / ".dockerignore").resolve() == ROOT / ".containerignore"
    assert all((ROOT / path).exists() for path in kept)


def _variables(objects: list[Any]) -> Iterator[dict[str, str]]:
    for one in objects:
        for container in one.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ()):
            yield from container.get("env", ())
