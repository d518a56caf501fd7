"""The files for registries are current, fit the registries' schemas, and name what there is."""

import json
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from deploy import manifests
from deploy.manifests import PLUGIN, REGISTRIES, ROOT
from muisti.service.mcp.tools import TOOLS

SCHEMAS = ROOT / "deploy" / "schemas"
FIELDS: Mapping[str, Any] = yaml.safe_load((SCHEMAS / "fields.yaml").read_text("utf-8"))
MADE = manifests.manifests()
SCHEMA_OF = {
    "server.json": "registry-server", "glama.json": "glama", "smithery.yaml": "smithery",
    "gemini-extension.json": "gemini-extension", ".claude-plugin/marketplace.json": "marketplace",
    ".cursor-plugin/marketplace.json": "marketplace", ".agents/plugins/marketplace.json": "codex-marketplace",
    f"{PLUGIN}/plugin.json": "agent-plugin", f"{PLUGIN}/mcp.json": "agent-servers",
    f"{PLUGIN}/.claude-plugin/plugin.json": "claude-plugin", f"{PLUGIN}/.codex-plugin/plugin.json": "codex-plugin",
    f"{PLUGIN}/.cursor-plugin/plugin.json": "cursor-plugin", f"{REGISTRIES}/docker/server.yaml": "docker-server",
    f"{REGISTRIES}/docker/tools.json": "docker-tools", f"{REGISTRIES}/mcpb/manifest.json": "mcpb-0.4.schema.json",
    "deploy/helm/muisti/Chart.yaml": "helm-chart",
}  # fmt: skip


def schema(name: str) -> Mapping[str, Any]:
    if name.endswith(".json"):
        return json.loads((SCHEMAS / name).read_text("utf-8"))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": f"#/$defs/{name}", **FIELDS}


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


@pytest.mark.parametrize("name", MADE)
def test_a_file_is_current(name: str):
    """After a change: `make openapi`."""
    assert (ROOT / name).read_text("utf-8") == MADE[name]


def test_there_is_no_file_that_is_not_made():
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / REGISTRIES).rglob("*") if path.is_file()}
    assert there == {name for name in MADE if name.startswith(REGISTRIES)}


@pytest.mark.parametrize("name", SCHEMA_OF)
def test_a_file_fits_its_schema_and_no_longer_with_a_field_that_is_strange(name: str):
    valid = jsonschema_rs.validator_for(schema(SCHEMA_OF[name]))
    assert [str(error) for error in valid.iter_errors(read(name))] == []
    first = read(name)[0] if isinstance(read(name), list) else read(name)
    assert not valid.is_valid({**first, "strange": 1}) and not valid.is_valid({})


def test_every_file_in_json_or_yaml_has_a_schema():
    assert {name for name in MADE if name.endswith((".json", ".yaml"))} == SCHEMA_OF.keys()


def test_paths_that_plugins_and_marketplaces_name_are_there():
    for name in (".claude-plugin", ".cursor-plugin", ".agents/plugins"):
        (plugin,) = read(f"{name}/marketplace.json")["plugins"]
        source = plugin["source"] if isinstance(plugin["source"], str) else plugin["source"]["path"]
        assert (ROOT / source).resolve() == ROOT / PLUGIN
    for kind in ("claude", "codex", "cursor"):
        plugin = read(f"{PLUGIN}/.{kind}-plugin/plugin.json")
        named = [plugin[part] for part in ("skills", "mcpServers", "hooks") if part in plugin]
        assert all((ROOT / PLUGIN / path).exists() for path in named)
    assert (ROOT / read("gemini-extension.json")["contextFileName"]).is_file()
    assert (ROOT / read(f"{REGISTRIES}/docker/server.yaml")["source"]["dockerfile"]).is_file()


def test_tools_are_those_that_a_client_is_offered_without_asking():
    usual = [tool.name for tool in TOOLS if tool.group == "memory"]
    for listed in (read(f"{REGISTRIES}/mcpb/manifest.json")["tools"], read(f"{REGISTRIES}/docker/tools.json")):
        assert [one["name"] for one in listed] == usual


def test_the_readme_has_the_mark_of_the_package_in_the_registry():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"<!-- mcp-name: {read('server.json')['name']} -->" in readme and manifests.marked(readme) == readme


def test_a_bundle_opens_and_its_server_starts(tmp_path: Path):
    """The bundle has what its manifest names, and uv would install this version of Muisti for it."""
    path = tmp_path / "muisti.mcpb"
    manifests.pack(path)
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None
        opened.extractall(tmp_path / "opened")
    manifest = json.loads((tmp_path / "opened" / "manifest.json").read_text("utf-8"))
    project = tomllib.loads((tmp_path / "opened" / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["dependencies"] == [f"muisti=={manifest['version']}"]
    *_, server, option, value = manifest["server"]["mcp_config"]["args"]
    assert server == manifest["server"]["entry_point"] and value == "${user_config.space}"
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}}  # fmt: skip
    done = subprocess.run(
        [sys.executable, server, option, "default", "--database", str(tmp_path / "a.db")],
        cwd=tmp_path / "opened", input=json.dumps(hello) + "\n", capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "muisti", done.stderr
