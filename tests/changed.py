"""Check the types and run the tests of what has changed since this branch left main: `python -m tests.changed`.

It is quick and no proof: it chooses a few files, names what it leaves out, and leaves the whole to `make lint test`.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
VIEW = PurePath("build/view/muisti")  # the folders under their import names, as the type checker reads them
INSTALLED = ("core", "service")
CLIENT = PurePath("clients/python/muisti_client")  # is installed as muisti.client
MAIN = ("main", "origin/main")
SMOKE = ("tests/test_packages.py", "tests/core/test_engine.py", "tests/core/store/test_refusal_codes.py")
SLOW = ("tests/cluster/", "tests/durability/", "tests/loadtests/", "tests/remote/", "tests/deploy/", "tests/clients/")
TESTS_MOST = 5  # files of tests, beside those that have changed themselves
TYPED_MOST = 40  # modules, beside those that have changed
EXAMPLES = "tests/test_doctests.py::test_the_examples_of_a_module_hold[{}]"


class Choice(NamedTuple):
    """A test to run, and the reason; `rank` orders reasons, the strongest first."""

    rank: int
    test: str
    why: str


def module_of(path: str) -> str | None:
    """Return the name by which a Python file is imported, None for other files.

    >>> module_of("core/store/backup.py"), module_of("service/cli/__init__.py"), module_of("tests/stores.py")
    ('muisti.core.store.backup', 'muisti.service.cli', 'tests.stores')
    >>> module_of("clients/python/muisti_client/calls.py")
    'muisti.client.calls'
    """
    pure = PurePath(path)
    if pure.suffix != ".py":
        return None
    if pure.is_relative_to(CLIENT):
        pure = "client" / pure.relative_to(CLIENT)
    parts = [*(["muisti"] if pure.parts[0] in (*INSTALLED, "client") else []), *pure.with_suffix("").parts]
    return ".".join(parts).removesuffix(".__init__")


def imported(text: str) -> set[str]:
    """Return the modules, and the names in modules, that a Python file imports."""
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def chosen(changed: Iterable[str], tests: Mapping[str, str]) -> list[Choice]:
    """Return one choice for each test that a change asks for, the strongest first; `tests` are texts by path."""
    imports = {test: imported(text) for test, text in tests.items()}
    by_focus = sorted(tests, key=lambda test: (len(imports[test]), test))  # who imports little is about little
    best: dict[str, Choice] = {}
    for path in changed:
        for test in by_focus:
            choice = _choice(path, test, tests[test], imports[test])
            if choice is not None and (test not in best or choice < best[test]):
                best[test] = choice
    return sorted(best.values(), key=lambda choice: choice.rank)


def _choice(path: str, test: str, text: str, imports: set[str]) -> Choice | None:
    pure, module = PurePath(path), module_of(path)
    if path == test:
        return Choice(0, test, "has changed")
    if test.startswith(SLOW):
        return None
    if module is None:
        return Choice(4, test, f"names {path}") if pure.name in text else None
    if pure.stem in PurePath(test).stem.removeprefix("test_").split("_"):
        return Choice(1, test, f"bears the name of {path}")
    if module in imports:
        return Choice(2, test, f"imports {path}")
    return Choice(3, test, f"is in the folder of {path}") if PurePath(test).parent in _folders(pure) else None


def _folders(path: PurePath) -> set[PurePath]:
    """Return the folders of tests of a module: of its capability, its mirror, and that around a folder in a folder."""
    mirror = PurePath("tests", path.parent)
    found = {mirror, PurePath("tests", *path.parts[1:-1])} if path.parts[0] in INSTALLED else {mirror}
    return found | {mirror.parent} if len(mirror.parts) > len(("tests", "core", "store")) else found


def examples(changed: Iterable[str], texts: Mapping[str, str]) -> list[str]:
    """Return the tests of the examples in the docstrings of changed modules."""
    modules = (module_of(path) for path in changed if ">>> " in texts.get(path, ""))
    return [EXAMPLES.format(module) for module in modules]


def typed(changed: Iterable[str], texts: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the changed modules and their importers; `texts` has the source of every module by path."""
    ours = [path for path in changed if path in texts]
    names = {module_of(path) for path in ours}
    return ours, sorted(path for path, text in texts.items() if path not in ours and names & imported(text))


def changed_files(since: str | None) -> list[str]:
    """Return the files that differ from the merge base with main, or from another revision, new files too."""
    known = (main for main in MAIN if _git("rev-parse", "-q", "--verify", main))
    base = since or _git("merge-base", "HEAD", next(known, "HEAD")) or "HEAD"
    listings = [_git("diff", "--name-only", base), _git("ls-files", "--others", "--exclude-standard")]
    return sorted(path for path in {*"\n".join(listings).split("\n")} if (ROOT / path).is_file())


def _git(*args: str) -> str:
    return subprocess.run(("git", *args), cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def _texts(paths: Iterable[Path]) -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}


def _say(words: str) -> None:
    print(words, flush=True)  # noqa: T201  # a program for people


def start_types(changed: Sequence[str]) -> subprocess.Popen[str] | None:
    """Start the type checker on the changed modules and their importers; None when no module has changed."""
    ours, others = typed(changed, _texts(path for folder in INSTALLED for path in (ROOT / folder).rglob("*.py")))
    if not ours:
        _say("types: no module has changed")
        return None
    left = f"; {len(others) - TYPED_MOST} more are left to `make lint`" if len(others) > TYPED_MOST else ""
    _say(f"types: {len(ours)} changed modules, {min(len(others), TYPED_MOST)} that import them{left}")
    command = [sys.executable, "-m", "basedpyright", *(str(VIEW / path) for path in [*ours, *others[:TYPED_MOST]])]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run_tests(changed: Sequence[str]) -> bool:
    """Run the tests that the change asks for, or a few of all when it asks for none."""
    tests = _texts((ROOT / "tests").rglob("test_*.py"))
    found = chosen(changed, tests)
    own = [one for one in found if one.rank == 0]
    few = found[: len(own) + TESTS_MOST] or [Choice(9, test, "is of the smoke set") for test in SMOKE]
    for one in few:
        _say(f"tests: {one.test} {one.why}")
    if len(found) > len(few):
        _say(f"tests: {len(found) - len(few)} more files are left to `make test`")
    shown = examples(changed, _texts(ROOT / path for path in changed if path.startswith(INSTALLED) and module_of(path)))
    tests_of_it = [*(one.test for one in few), *shown]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not prove", "--store", "file", *tests_of_it]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    """Check what has changed; 1 when something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--since", help="a revision to compare with, in place of the merge base with main")
    changed = changed_files(parser.parse_args().since)
    _say(f"{len(changed)} files have changed")
    types = start_types(changed)  # which checks beside the tests
    held = run_tests(changed)
    if types is not None:
        _say(types.communicate()[0])
        held = held and types.returncode == 0
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
