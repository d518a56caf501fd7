"""A program that ends without closing its memory ends in silence, and loses nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import muisti

THREADS = "import muisti, sys; memory = muisti.open(sys.argv[1]); memory.remember('tea'); {last}"
AWAITED = """
import asyncio, muisti, sys
async def main():
    memory = muisti.open_async(sys.argv[1])
    await memory.remember('tea')
    {last}
asyncio.run(main())
"""


@pytest.mark.parametrize("place", ["notes.db", ":memory:"])
@pytest.mark.parametrize("last", ["pass", "1 / 0"])
@pytest.mark.parametrize("program", [THREADS, AWAITED], ids=["threads", "asyncio"])
def test_a_program_that_ends_without_closing_says_nothing_and_loses_nothing(
    program: str, last: str, place: str, tmp_path: Path
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    command = [sys.executable, "-c", program.format(last=last), place]
    done = subprocess.run(
        command, env=plain | {"TMPDIR": str(temporary)}, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    if last == "pass":
        assert (done.returncode, done.stderr) == (0, "")
    else:  # the program's own traceback, and nothing behind it
        assert done.returncode == 1 and done.stderr.count("Traceback") == 1
        assert done.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert list(temporary.iterdir()) == []
    if place != ":memory:":
        with muisti.open(tmp_path / place) as memory:
            assert [one.content for one in memory.list()] == ["tea"]
