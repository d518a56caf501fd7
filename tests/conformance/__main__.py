"""`make conformance`: start a server, let the official suite, the Inspector and the TypeScript client at it.

Then cytoscape.js reads an exported graph.

The suite runs twice in each revision: at Muisti, and at Muisti with the suite's own tools (`fixtures.py`).
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
REVISIONS = ("2025-11-25", "2026-07-28")


@contextmanager
def serving(module: str = "muisti.service", **settings: str) -> Iterator[str]:
    """Run a server on a new database, without embeddings unless the settings say otherwise, and yield its URL."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"MUISTI_PORT": "0", "MUISTI_EMBEDDINGS": "off", "MUISTI_DATABASE_URL": f"file:{folder}/m.db"}
        plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
        log = Path(folder) / "log"
        with (
            log.open("w") as stderr,
            subprocess.Popen([sys.executable, "-m", module], env={**plain, **given, **settings}, stderr=stderr) as process,
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


def main(folder: Path, node: Path) -> int:
    """`folder` has the packages of package.json, `node` is the folder of Node's programs. 0 when all is well."""
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
    with serving() as url:
        failed += failures([["node", str(folder / "graph.mjs"), url]])
    with serving("tests.conformance.fixtures") as url:
        failed += failures(
            suite(binaries, url, revision, folder / f"fixtures-{revision}.yaml") for revision in REVISIONS
        )
    for run in failed:
        sys.stderr.write(f"FAILED: {' '.join(run)}\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()))
