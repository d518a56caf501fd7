"""`make conformance`: start a server, let the official suite, the Inspector and the TypeScript client at it.

Five clients convert all tools for their models and call some, over HTTP and standard input (`converters.py`, `.mjs`).
Then cytoscape.js reads an exported graph.

The suite runs twice in each revision: at Muisti, and at Muisti with the suite's own tools (`fixtures.py`).
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.service.mcp_client import PATH, schemas

HERE = Path(__file__).parent
SHOWN = 150  # characters of what a call answers
REVISIONS = ("2025-11-25", "2026-07-28")
# Scenarios of the extension of tasks. Left out are the two whose tasks ask for input: ours ask before a task is made.
TASKS = (
    *("tasks-capability-negotiation", "tasks-lifecycle", "tasks-mrtr-composition", "tasks-request-headers"),
    *("tasks-request-state-removal", "tasks-required-task-error", "tasks-wire-fields"),
)


@contextmanager
def serving(module: str = "muisti.service", **settings: str) -> Iterator[str]:
    """Run a server on a new database, without embeddings unless the settings say otherwise, and yield its URL."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"MUISTI_PORT": "0", "MUISTI_EMBEDDINGS": "off", "MUISTI_DATABASE_URL": f"file:{folder}/m.db"}
        plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
        environment = {**plain, **given, **settings}
        log = Path(folder) / "log"
        with (
            log.open("w") as stderr,
            subprocess.Popen([sys.executable, "-m", module], env=environment, stderr=stderr) as process,
        ):
            try:
                yield _url(log, process)
            finally:
                process.terminate()


def _url(log: Path, process: subprocess.Popen[bytes]) -> str:
    while process.poll() is None:
        lines = log.read_text().splitlines()
        if lines and "http://" in lines[0]:
            return next(word for word in json.loads(lines[0])["event"].split() if word.startswith("http://"))
    raise SystemExit(f"the server did not start: {log.read_text()}")


def suite(binaries: Path, url: str, revision: str, expected: Path) -> Sequence[str]:
    run = [str(binaries / "conformance"), "server", "--url", f"{url}/mcp", "--suite", "all"]
    return [*run, "--spec-version", revision, "--expected-failures", str(expected)]


def scenario(binaries: Path, url: str, name: str) -> Sequence[str]:
    return [str(binaries / "conformance"), "server", "--url", f"{url}/mcp", "--scenario", name]


def converted(programs: Sequence[tuple[int, Sequence[str]]], environment: Mapping[str, str]) -> bool:
    """Print how each client converts the tools; True when nothing was lost and every call succeeded.

    Each of the `programs` goes with the number of its clients, and takes the URL and the command of a server.
    """
    good = True
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        muisti = [
            str(Path(sys.executable).with_name("muisti")), "--database", f"{folder}/m.db", "mcp", "--tools", "all",
        ]  # fmt: skip
        plain = {name: value for name, value in environment.items() if not name.startswith("MUISTI_")}
        settings = {**plain, "MUISTI_EMBEDDINGS": "off"}
        with httpx.Client(base_url=url) as client:
            listed = {"HTTP": schemas(client), "stdio": schemas_of(muisti, settings)}
        for clients, program in programs:
            run = [*program, f"{url}{PATH}", *muisti]
            done = subprocess.run(run, env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            rows: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
            good &= not done.returncode and len(rows) == clients * len(listed)
            for row in rows:
                problems = [*row.get("problems", ()), *lost(row, listed[row["transport"]])]
                good &= not problems
                sys.stdout.write(transcript(row, len(listed[row["transport"]]), problems))
    return good


def schemas_of(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the input schema of each tool of a server on standard input."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = ({"method": "initialize", "params": about}, {"method": "tools/list"})
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, **one}) for number, one in enumerate(asked)]
    done = subprocess.run(
        command, env=environment, input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True
    )
    tools = json.loads(done.stdout.splitlines()[1])["result"]["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in tools}


def transcript(row: dict[str, Any], tools: int, problems: Sequence[str]) -> str:
    """Return how a client converts this many tools, and its calls."""
    strict = sum(tool.get("strict", False) for tool in row["tools"])
    kept = f"{len(row['tools'])} of {tools} tools" + (f", {strict} of them strict" if strict else "")
    lines = [f"{row['client']} over {row['transport']}: {kept}; {'; '.join(problems) or 'nothing lost'}"]
    for one in row["calls"]:
        lines.append(f"    {one['tool']} {'ok' if one['good'] else 'FAILED'}: {' '.join(one['text'].split())[:SHOWN]}")
    return "\n".join([*lines, ""])


def lost(row: dict[str, Any], listed: dict[str, Any]) -> Iterator[str]:
    """Yield what a client lost of the tools, and the calls that failed."""
    found = {tool["name"]: tool for tool in row["tools"]}
    if found.keys() != listed.keys():
        yield f"other tools: {', '.join(found.keys() ^ listed.keys())}"
    for name, tool in found.items():
        schema = listed[name]
        required = schema["properties"] if tool.get("strict") else schema.get("required", ())
        if {*tool["properties"]} != {*schema["properties"]} or {*tool["required"]} != {*required}:
            yield f"other arguments of {name}"
    if not {"remember", "recall"} <= {one["tool"] for one in row["calls"] if one["good"]}:
        yield "a call failed"
    yield from (f"{one['tool']} failed" for one in row["calls"] if not one["good"])


def main(folder: Path, node: Path, python: Path) -> int:
    """Run everything; 0 when all is well.

    `folder` has the packages of package.json, `node` is the folder of Node's programs, and `python` one that has the
    clients in Python.
    """
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    binaries = folder / "node_modules" / ".bin"

    def failures(runs: Iterable[Sequence[str]]) -> list[Sequence[str]]:
        return [
            run for run in runs if subprocess.run(run, env=environment, cwd=folder, stdin=subprocess.DEVNULL).returncode
        ]

    with serving() as url:
        inspector = [str(binaries / "mcp-inspector"), "--cli", f"{url}/mcp", "--transport", "http", "--method"]
        failed = failures(
            [
                *(suite(binaries, url, revision, folder / f"expected-{revision}.yaml") for revision in REVISIONS),
                [*inspector, "tools/list"],
                [*inspector, "tools/call", "--tool-name", "remember", "--tool-arg", "content=Inspected"],
                [*inspector, "resources/read", "--uri", "memory://default/categories"],
                ["node", str(folder / "client.mjs"), f"{url}/mcp"],
            ]
        )
    programs = [(3, [str(python), str(HERE / "converters.py")]), (2, ["node", str(folder / "converters.mjs")])]
    if not converted(programs, environment):
        failed.append(["converters"])
    with serving() as url:
        failed += failures([["node", str(folder / "graph.mjs"), url]])
    with serving("tests.conformance.fixtures") as url:
        failed += failures(
            [
                *(suite(binaries, url, revision, folder / f"fixtures-{revision}.yaml") for revision in REVISIONS),
                *(scenario(binaries, url, name) for name in TASKS),
            ]
        )
    for run in failed:
        sys.stderr.write(f"FAILED: {' '.join(run)}\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*(Path(given).absolute() for given in sys.argv[1:4])))
