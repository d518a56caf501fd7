"""Run the suites of the frameworks on our classes, then our own tests: python -m tests.integrations ENVIRONMENT.

The environment has the frameworks (deploy/integrations.txt). Suites come from the source packages of the installed
versions. A table says what passed, failed, was skipped by the suite itself, and is left out here, with the reasons.
"""

import argparse
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.integrations.suites import SUITES, Suite

ROOT = Path(__file__).parents[2]
STAND_INS = Path(__file__).parent / "standins"
PINS = ROOT / "deploy" / "integrations.txt"


@dataclass(frozen=True)
class Outcome:
    passed: int
    failed: int
    skipped: int
    left_out: dict[str, int]
    ok: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path)
    parser.add_argument("--table", type=Path, help="write the table between the markers of this page")
    options = parser.parse_args()
    python = options.environment.absolute() / "bin" / "python"
    rows, good = [], True
    for suite in SUITES:
        version = pinned(suite.package)
        outcome = run(suite, source(suite.package, version, options.environment, python), python, options.environment)
        rows.append((suite, version, outcome))
        good = good and outcome.ok
    written = table(rows)
    print(f"\n{written}\n")  # noqa: T201
    if options.table:
        page = options.table.read_text("utf-8")
        mark = re.compile("(?<=<!-- suites -->\n).*?(?=<!-- /suites -->)", re.DOTALL)
        options.table.write_text(mark.sub(lambda _: f"{written}\n", page), "utf-8")
    own = pytest(python, ROOT, ["--confcutdir", "tests/integrations", "tests/integrations"], {})
    print("All suites hold." if good else "A SUITE FAILED: see above.")  # noqa: T201
    return int(bool(own) or not good)


def pinned(package: str) -> str:
    (version,) = re.findall(rf"^{package}==(\S+)$", PINS.read_text("utf-8"), re.MULTILINE)
    return version


def source(package: str, version: str, environment: Path, python: Path) -> Path:
    """Return the folder with the source package of a version, which is fetched once."""
    folder = environment / "suites"
    found = folder / f"{package.replace('-', '_')}-{version}"
    if not found.exists():
        folder.mkdir(exist_ok=True)
        pip = [
            python, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps", "--no-binary", ":all:",
        ]  # fmt: skip
        subprocess.run([*pip, "-d", folder, f"{package}=={version}"], check=True)
        with tarfile.open(found.with_name(f"{found.name}.tar.gz")) as archive:
            archive.extractall(folder, filter="data")
    return found


def run(suite: Suite, folder: Path, python: Path, environment: Path) -> Outcome:
    print(f"\n=== {suite.framework}", flush=True)  # noqa: T201
    report = environment.absolute() / "report.xml"
    report.unlink(missing_ok=True)
    reasons = {name: reason for reason, names in suite.left_out.items() for name in names}
    arguments = ["-p", "spaces", "-p", suite.stand_in, f"--junit-xml={report}", *suite.options, *suite.paths]
    status = pytest(python, folder, arguments, {"PYTHONPATH": str(STAND_INS), "MUISTI_LEFT_OUT": ",".join(reasons)})
    if not report.exists():
        return Outcome(0, 0, 0, {}, ok=False)
    totals = ElementTree.parse(report).getroot()[0].attrib
    count, failed, skipped = (int(totals[name]) for name in ("tests", "failures", "skipped"))
    failed += int(totals["errors"])
    left_out = dict.fromkeys(suite.left_out, 0)
    for line in (environment / "left-out.txt").read_text("utf-8").splitlines():
        left_out[reasons[line]] += 1
    stale = [reason for reason, number in left_out.items() if not number]
    if stale:
        print(f"No test is left out because it {stale[0]}: remove that line.")  # noqa: T201
    return Outcome(count - failed - skipped, failed, skipped, left_out, ok=status == 0 and not stale and count > 0)


def pytest(python: Path, folder: Path, arguments: list[str], environment: dict[str, str]) -> int:
    options = ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", "--tb=short", "-q"]
    command = [
        python, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", *options, *arguments,
    ]  # fmt: skip
    return subprocess.run(command, cwd=folder, env=os.environ | environment, check=False).returncode


def table(rows: list[tuple[Suite, str, Outcome]]) -> str:
    lines = [
        "| suite | version | passed | failed | skipped by the suite | left out |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for suite, version, outcome in rows:
        numbers = (outcome.passed, outcome.failed, outcome.skipped, sum(outcome.left_out.values()))
        lines.append(f"| {suite.framework} | `{suite.package}` {version} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
