"""Several threads may use a type for the first time at the same moment."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ONE_THREAD = (
    "service/cli", "service/evaluation", "service/formats", "service/runtime/running.py", "core/query/evidence.py",
)  # fmt: skip
RACE = """
import sys, threading
import msgspec
{imports}
sys.setswitchinterval(1e-6)

def round():
    class Inner({base}):
        words: list[str] = []
        counts: dict[str, int] = {{}}
    class Outer({base}):
        inner: list[Inner]
        other: Inner | None = None
    Outer.__annotations__ = {{"inner": list[Inner], "other": Inner | None}}
    barrier = threading.Barrier(6)
    def work():
        barrier.wait()
        made = {made}
        assert made.inner[0].counts == {{"a": 1}}
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

for _ in range(400):
    round()
print("fine")
"""
GIVEN = {"inner": [{"words": ["a"], "counts": {"a": 1}}]}


@pytest.mark.parametrize(("imports", "base", "made"), [
    ("from muisti.core.model.decoding import convert", "msgspec.Struct", f"convert({GIVEN}, Outer)"),
    (
        "from muisti.core.model.decoding import decoder",
        "msgspec.Struct",
        f"decoder(Outer).decode(msgspec.json.encode({GIVEN}))",
    ),
    (
        "from muisti_client._result import Result, read",
        "Result, frozen=True, kw_only=True",
        f"read(msgspec.json.encode({GIVEN}), Outer)",
    ),
], ids=["convert", "decoder", "client"])  # fmt: skip
def test_threads_may_use_a_type_for_the_first_time_at_once(imports: str, base: str, made: str):
    code = RACE.format(imports=imports, base=base, made=made)
    client = str(ROOT / "clients" / "python")
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {client!r})\n{code}"], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (0, "fine\n"), ran.stderr


def describes(call: ast.Call) -> bool:
    """Return whether a call of msgspec is given a type of our own."""
    named = any(one.arg == "type" and ast.unparse(one.value)[0].isupper() for one in call.keywords)
    return named or ast.unparse(call.func).endswith((".convert", "Decoder"))


def calls_at_run_time(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls within functions that give msgspec a type to fill."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("msgspec.") and describes(call):
                    yield call


def test_types_are_described_to_msgspec_through_one_door():
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for folder in ("core", "service")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "decoding.py" and not str(path.relative_to(ROOT)).startswith(ONE_THREAD)
        for call in calls_at_run_time(ast.parse(path.read_text()))
    ]
    assert not found, "take decoder or convert of core.model.decoding"
