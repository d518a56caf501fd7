"""Run each block of docs/how-to/frameworks.md in an environment with its framework: python -m tests.frameworks FOLDER.

The Makefile creates the environments from deploy/frameworks. A framework that could not be installed is named and left
out, and the command then ends with 1.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from loadtests.services.muisti import serving

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "frameworks.md"
BLOCKS = re.findall(r"```(python|js) (\w+)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
# A tool of the ADK asks its context for credentials only, of which an open server needs none.
BEFORE = {"googleadk": "from unittest.mock import MagicMock as context\n"}
QUIET = {"CREWAI_TRACING_ENABLED": "false", "CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
SUITES = {"crewai": "tests/integrations/test_crewai.py"}
WANTED = "Deploys go out on Fridays."


def main(folder: Path) -> int:
    failed = 0
    for kind, name, code in BLOCKS:
        home = folder.absolute() / name
        if not (home / ".made").exists():
            print(f"NOT INSTALLED, NOT TESTED: {name}", flush=True)  # noqa: T201
            failed += 1
            continue
        with tempfile.TemporaryDirectory() as place, serving(Path(place) / "muisti.db") as server:
            told = run(kind, name, code, home, f"http://127.0.0.1:{server.port}/mcp")
            if (suite := SUITES.get(name)) and told.returncode == 0:
                tried = suite_of(suite, home, f"http://127.0.0.1:{server.port}")
                told.returncode, told.stderr = tried.returncode, f"{told.stderr}{tried.stdout}"
        good = WANTED in told.stdout and told.returncode == 0
        print(f"{name}: {'passed' if good else f'FAILED: {told.stdout}{told.stderr}'}", flush=True)  # noqa: T201
        failed += not good
    print(f"{len(BLOCKS) - failed} passed, {failed} failed")  # noqa: T201
    return int(failed > 0)


def run(kind: str, name: str, code: str, home: Path, url: str) -> subprocess.CompletedProcess[str]:
    """Run a block, and print the answer that it leaves."""
    if kind == "js":
        script, program = home / "page.mjs", ["node"]
        text = f'const URL_OF_MUISTI = "{url}";\n{code}console.log(JSON.stringify(answer));\n'
    else:
        script, program = home / "page.py", [str(home / "bin" / "python")]
        last = "import asyncio\nprint(asyncio.run(ask()))" if "async def ask" in code else "print(answer)"
        text = f'URL = "{url}"\n{BEFORE.get(name, "")}{code}\n{last}\n'
    script.write_text(text, "utf-8")
    return subprocess.run(
        [*program, str(script)], cwd=home, env=os.environ | QUIET, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


def suite_of(suite: str, home: Path, url: str) -> subprocess.CompletedProcess[str]:
    """Run our tests of an adapter whose framework fights with what the server needs."""
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", "--noconftest", "-q", "--tb=short"]
    environment = os.environ | QUIET | {"MUISTI_URL": url, "OPENAI_API_KEY": "none", "PYTHONPATH": "build/view"}
    return subprocess.run(
        [home / "bin" / "python", "-m", "pytest", *options, suite], cwd=ROOT, env=environment, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
