"""The files that registries, marketplaces and agents look for: `python -m deploy.manifests`, part of `make openapi`.

All follow from `pyproject.toml`, the MCP tools and the skill. A registry's requirement alone puts a file at the root of
the repository; the others are in `deploy/registries`. The folder `plugin` there is one plugin for all clients.
"""

import json
import re
import sys
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from deploy.docs import llms
from deploy.docs.__main__ import CONFIG, sections
from muisti.core.identity.grants import Grant
from muisti.service.auth.access import Access
from muisti.service.mcp.tools import offered, schema_of
from muisti.service.schemas.access_modes import MODES
from muisti.service.settings import options
from muisti.service.settings.tool_groups import GROUPS, USUAL, Group
from muisti.service.version import NAME, SUMMARY, TITLE, UNKNOWN, server_name

ROOT = Path(__file__).parents[1]
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SKILL = ROOT / "service" / "static" / "skill.md"
REGISTRIES = "deploy/registries"
PLUGIN = f"{REGISTRIES}/plugin"

LICENCE: str = PROJECT["license"].partition(" AND ")[0]  # of Muisti itself; NOTICE has the others
VERSION: str = PROJECT["version"]
REPOSITORY: str = PROJECT.get("urls", {}).get("Repository", UNKNOWN)
OWNER = REPOSITORY.rstrip("/").split("/")[-2]  # OWNER until pyproject.toml names the repository
SERVER_NAME = server_name(REPOSITORY)
COMMAND, ARGUMENTS = "uvx", (NAME, "mcp")
VARIABLES = ("MUISTI_DATABASE_URL", "MUISTI_DATABASE_TOKEN")
COMMIT = "0" * 40  # of the revision that Docker audits; whoever submits the entry fills it in
HOOKS: Mapping[str, Any] | None = None  # the content of the plugin's hooks/hooks.json, once there is a table of hooks

Json = dict[str, Any]


def author() -> Json:
    return {"name": OWNER, "url": REPOSITORY.rpartition("/")[0]}


def about() -> Json:
    """Return the fields that the manifests of plugins have alike."""
    return {
        "name": NAME,
        "version": VERSION,
        "description": SUMMARY,
        "author": author(),
        "homepage": REPOSITORY,
        "repository": REPOSITORY,
        "license": LICENCE,
        "keywords": PROJECT["keywords"],
    }


def tools(group: Group | None = None) -> list[Json]:
    """Return name, description and schema of the tools of a group, or of all, as their owner sees them."""
    own = Access("x", Grant(frozenset((*MODES["full"], "admin")), ("*",)))
    return [
        {"name": tool.name, "description": tool.description, "schema": schema_of(tool, own)}
        for tool in offered(own, GROUPS if group is None else (group,))
    ]


def variable(name: str) -> Json:
    """Return a setting as an environment variable of the MCP registry."""
    (option,) = (one for one in options() if one.variable == name)
    return {"name": name, "description": option.description} | ({"isSecret": True} if name.endswith("_TOKEN") else {})


def server() -> Json:
    """Return `server.json` of the MCP registry."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": SERVER_NAME,
        "title": TITLE,
        "description": SUMMARY,
        "version": VERSION,
        "websiteUrl": REPOSITORY,
        "repository": {"url": REPOSITORY, "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": NAME,
                "version": VERSION,
                "runtimeHint": COMMAND,
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "environmentVariables": [variable(name) for name in VARIABLES],
            }
        ],
    }


def bundle() -> Json:
    """Return `manifest.json` of a bundle for Claude Desktop, which has uv install the package."""
    return {
        "manifest_version": "0.4",
        "name": NAME,
        "display_name": TITLE,
        "version": VERSION,
        "description": SUMMARY,
        "author": author(),
        "repository": {"type": "git", "url": REPOSITORY},
        "homepage": REPOSITORY,
        "license": LICENCE,
        "keywords": PROJECT["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py", "--space", "${user_config.space}"],
            },
        },
        "tools": [{"name": one["name"], "description": one["description"]} for one in tools(USUAL)],
        "tools_generated": True,
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": PROJECT["requires-python"]}},
        "user_config": {
            "space": {
                "type": "string",
                "title": "Space",
                "description": "The set of memories that the tools work on.",
                "default": "default",
                "required": False,
            }
        },
    }


def bundled_project() -> str:
    """Return the `pyproject.toml` of the bundle: uv installs this version of Muisti from the package index."""
    return f"""[project]
name = "{NAME}-bundle"
version = "{VERSION}"
requires-python = "{PROJECT["requires-python"]}"
dependencies = ["{NAME}=={VERSION}"]
"""


BUNDLED_SERVER = '''"""Start Muisti's MCP server, which uv has installed beside this file."""

import sys

from muisti.service.cli import main

main([*sys.argv[1:], "mcp"])
'''
BUNDLE_IGNORED = ".venv/\n__pycache__/\n*.pyc\nuv.lock\n"


def portable() -> Json:
    """Return `plugin.json` of Agent Plugins."""
    return {"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", **about()}


def servers(schema: str | None = None) -> Json:
    """Return the MCP server as plugins name it."""
    entry = {"type": "stdio", "command": COMMAND, "args": [*ARGUMENTS]}
    return ({"$schema": schema} if schema else {}) | {"mcpServers": {NAME: entry}}


def hooked() -> Json:
    """Return the field that names the plugin's hooks, where there are any."""
    return {"hooks": "./hooks/hooks.json"} if HOOKS is not None else {}


def components() -> Json:
    """Return the fields that name the parts of the plugin, which all clients share."""
    return {"skills": "./skills/", "mcpServers": "./mcp.json", **hooked()}


def cursor() -> Json:
    """Return `.cursor-plugin/plugin.json`, whose author has no URL."""
    return {**about(), "displayName": TITLE, "author": {"name": OWNER}, **components()}


def codex() -> Json:
    """Return `.codex-plugin/plugin.json`, with its entry in the directory of plugins."""
    return {
        **about(),
        **components(),
        "interface": {
            "displayName": TITLE,
            "shortDescription": SUMMARY,
            "longDescription": PROJECT["description"] + ".",
            "developerName": OWNER,
            "category": "Productivity",
            "capabilities": ["Read", "Write"],
            "websiteURL": REPOSITORY,
            "defaultPrompt": ["What do you remember about this project?"],
        },
    }


def marketplace() -> Json:
    """Return the list of plugins that Claude Code and Cursor read: the one plugin."""
    plugin = {"name": NAME, "source": f"./{PLUGIN}", "description": SUMMARY, "version": VERSION}
    return {"name": NAME, "owner": {"name": OWNER}, "metadata": {"description": SUMMARY}, "plugins": [plugin]}


def codex_marketplace() -> Json:
    """Return the list of plugins that Codex reads."""
    plugin = {
        "name": NAME,
        "source": {"source": "local", "path": f"./{PLUGIN}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {"name": NAME, "interface": {"displayName": TITLE}, "plugins": [plugin]}


def gemini() -> Json:
    """Return `gemini-extension.json`; Gemini CLI installs a repository that has it at its root."""
    entry = {"command": COMMAND, "args": [*ARGUMENTS]}
    return {
        "name": NAME,
        "version": VERSION,
        "description": SUMMARY,
        "mcpServers": {NAME: entry},
        "contextFileName": f"{PLUGIN}/skills/{NAME}/SKILL.md",
    }


def docker() -> Json:
    """Return `server.yaml` of Docker's MCP catalogue, which builds the image from the repository."""
    return {
        "name": NAME,
        "image": f"mcp/{NAME}",
        "type": "server",
        "meta": {"category": "ai", "tags": [*PROJECT["keywords"]]},
        "about": {"title": TITLE, "description": SUMMARY},
        "source": {"project": REPOSITORY, "commit": COMMIT, "dockerfile": "Containerfile"},
        "run": {"command": ["mcp"], "volumes": [f"{NAME}-data:/data"], "disableNetwork": True},
    }


def docker_tools() -> list[Json]:
    """Return `tools.json` of Docker's MCP catalogue, so that it need not start the server to list its tools."""
    return [
        {
            "name": one["name"],
            "description": one["description"],
            "arguments": [
                {"name": name, "type": schema["type"], "desc": schema["description"]}
                | ({} if name in one["schema"].get("required", ()) else {"optional": True})
                for name, schema in one["schema"]["properties"].items()
            ],
        }
        for one in tools(USUAL)
    ]


def smithery() -> Json:
    """Return `smithery.yaml`: how Smithery starts the server."""
    space = {"type": "string", "default": "default", "description": "The set of memories that the tools work on."}
    return {
        "startCommand": {
            "type": "stdio",
            "configSchema": {"type": "object", "properties": {"space": space}},
            "commandFunction": f"(config) => ({{command: '{COMMAND}', "
            f"args: ['{NAME}', '--space', config.space || 'default', 'mcp']}})",
            "exampleConfig": {"space": "default"},
        }
    }


def map_of_pages() -> str:
    """Return `llms.txt` of the repository: the pages of the documents, by their paths in it."""
    nav = sections(yaml.safe_load(CONFIG.read_text("utf-8"))["nav"])
    named = {part: [f"docs/{page}" for page in pages] for part, pages in nav.items()}
    kept = {part: [page for page in pages if (ROOT / page).is_file()] for part, pages in named.items()}
    kept = {part: pages for part, pages in kept.items() if pages}
    texts = {page: (ROOT / page).read_text("utf-8") for pages in kept.values() for page in pages}
    return llms.index(kept, texts)


def chart() -> Json:
    """Return `Chart.yaml` of the Helm chart."""
    return {
        "apiVersion": "v2",
        "name": NAME,
        "description": SUMMARY,
        "type": "application",
        "version": VERSION,
        "appVersion": VERSION,
        "keywords": PROJECT["keywords"],
        "home": REPOSITORY,
        "kubeVersion": ">=1.25.0-0",
    }


def skill() -> str:
    return SKILL.read_text("utf-8")


def data(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def lines(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)


def manifests() -> dict[str, str]:
    """Return the text of each file by its path in the repository."""
    schema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
    files = {
        "server.json": data(server()),
        "glama.json": data({"$schema": "https://glama.ai/mcp/schemas/server.json", "maintainers": [OWNER]}),
        "smithery.yaml": lines(smithery()),
        "gemini-extension.json": data(gemini()),
        "llms.txt": map_of_pages(),
        ".claude-plugin/marketplace.json": data(marketplace()),
        ".cursor-plugin/marketplace.json": data(marketplace()),
        ".agents/plugins/marketplace.json": data(codex_marketplace()),
        f"{PLUGIN}/plugin.json": data(portable()),
        f"{PLUGIN}/mcp.json": data(servers(schema)),
        f"{PLUGIN}/skills/{NAME}/SKILL.md": skill(),
        f"{PLUGIN}/.claude-plugin/plugin.json": data({**about(), **components()}),
        f"{PLUGIN}/.codex-plugin/plugin.json": data(codex()),
        f"{PLUGIN}/.cursor-plugin/plugin.json": data(cursor()),
        f"{REGISTRIES}/mcpb/manifest.json": data(bundle()),
        f"{REGISTRIES}/mcpb/pyproject.toml": bundled_project(),
        f"{REGISTRIES}/mcpb/server.py": BUNDLED_SERVER,
        f"{REGISTRIES}/mcpb/.mcpbignore": BUNDLE_IGNORED,
        f"{REGISTRIES}/docker/server.yaml": lines(docker()),
        f"{REGISTRIES}/docker/tools.json": data(docker_tools()),
        "deploy/helm/muisti/Chart.yaml": lines(chart()),
    }
    return files if HOOKS is None else files | {f"{PLUGIN}/hooks/hooks.json": data(HOOKS)}


def marked(readme: str) -> str:
    """Return the README with the mark by which the MCP registry knows the owner of the package."""
    mark = f"<!-- mcp-name: {SERVER_NAME} -->"
    return re.sub(r"<!-- mcp-name: \S+ -->", mark, readme)


def pack(path: Path) -> None:
    """Write a bundle for Claude Desktop, an archive with the ending `.mcpb`."""
    folder = f"{REGISTRIES}/mcpb/"
    ignored = {".mcpbignore"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in manifests().items():
            if name.startswith(folder) and name.removeprefix(folder) not in ignored:
                opened.writestr(name.removeprefix(folder), text)


def main(bundles: Sequence[str]) -> None:
    """Write the files, and a bundle to each path that is named."""
    for name, text in manifests().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    readme = ROOT / "README.md"
    readme.write_text(marked(readme.read_text("utf-8")), "utf-8")
    for path in map(Path, bundles):
        path.parent.mkdir(parents=True, exist_ok=True)
        pack(path)


if __name__ == "__main__":
    main(sys.argv[1:])
