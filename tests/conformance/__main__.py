"""`make conformance`: start a server, let the official suite, the Inspector and the TypeScript client at it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
REVISIONS = ("2025-11-25", "2026-07-28")


@contextmanager
def serving() -> Iterator[str]:
    """The URL of a server on a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"MUISTI_PORT": "0", "MUISTI_EMBEDDINGS": "off", "MUISTI_DATABASE_URL": f"file:{folder}/m.db"}
        plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
        log = Path(folder) / "log"
        with (
            log.open("w") as stderr,
            subprocess.Popen([sys.executable, "-m", "service"], env={**plain, **given}, stderr=stderr) as process,
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


def main(folder: Path, node: Path) -> int:
    """`folder` has the packages of package.json, `node` is the folder of Node's programs. 0 when all is well."""
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    binaries = folder / "node_modules" / ".bin"
    with serving() as url:
        runs: list[Sequence[str]] = [
            [
                str(binaries / "conformance"),
                "server",
                "--url",
                f"{url}/mcp",
                "--suite",
                "all",
                "--spec-version",
                revision,
            ]
            + ["--expected-failures", str(folder / f"expected-{revision}.yaml")]
            for revision in REVISIONS
        ]
        inspector = [str(binaries / "mcp-inspector"), "--cli", f"{url}/mcp", "--transport", "http", "--method"]
        runs += [
            [*inspector, "tools/list"],
            [*inspector, "tools/call", "--tool-name", "remember", "--tool-arg", "content=Inspected"],
            [*inspector, "resources/read", "--uri", "memory://default/categories"],
            ["node", str(folder / "client.mjs"), f"{url}/mcp"],
        ]
        failed = [
            run for run in runs if subprocess.run(run, env=environment, cwd=folder, stdin=subprocess.DEVNULL).returncode
        ]
    for run in failed:
        sys.stderr.write(f"FAILED: {' '.join(run)}\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()))
