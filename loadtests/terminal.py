"""Pictures of a terminal for first-memory.md, and the time of each step to the first recalled memory.

`python -m loadtests.terminal --docs docs` runs `muisti demo` and `muisti connect` on a terminal of its own, in an empty
home, then the official MCP client on what was written. Times are reliable only on a quiet machine.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from time import perf_counter

import anyio
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from rich.console import Console
from rich.text import Text

COLUMNS, ROWS = 110, 50
MUISTI = Path(sys.executable).with_name("muisti")
Step = tuple[str, float]
"""What was done, and the seconds that it took."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Output of a command on a terminal, and the seconds it took."""

    command: str
    output: str
    seconds: float


def on_terminal(words: Sequence[str], home: Path) -> Shown:
    """Run a command of Muisti on a terminal, with that home."""
    keeper, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MUISTI_", "XDG_", "CLAUDE_"))}
    environ = {**plain, "HOME": str(home), "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    began = perf_counter()
    streams = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
    with subprocess.Popen([MUISTI, *words], cwd=home, env=environ, **streams) as run:
        os.close(terminal)
        output = _all_of(keeper)
    os.close(keeper)
    if run.returncode:
        raise SystemExit(f"muisti {' '.join(words)} ended with {run.returncode}:\n{output}")
    return Shown(f"muisti {' '.join(words)}", output, perf_counter() - began)


def _all_of(keeper: int) -> str:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(keeper, 65_536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode("utf-8").replace("\r\n", "\n")


def picture(shown: Shown, path: Path, home: Path) -> None:
    """An SVG of the terminal, with shorter names for the folders of this machine."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    text = shown.output.replace(str(home), "/home/me").replace(str(MUISTI), "/usr/local/bin/muisti")
    console.print(Text("$ ", "green") + Text(shown.command, "bold"))
    console.print(Text.from_ansi(text.rstrip("\n")))
    drawn = console.export_svg(title="muisti", unique_id=path.stem)
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL), "utf-8")  # fonts of another host


def as_a_client(home: Path) -> list[Step]:
    """Use the configuration as an agent's client does: start the server, remember, recall."""
    entry = json.loads((home / ".claude.json").read_text("utf-8"))["mcpServers"]["muisti"]
    steps: list[Step] = []

    async def work() -> None:
        began = perf_counter()
        server = StdioServerParameters(command=entry["command"], args=entry["args"], env={"HOME": str(home)}, cwd=home)
        async with Client(stdio_client(server)) as client:
            tools = await client.list_tools()
            listed = f"The client starts the server and lists its {len(tools.tools)} tools"
            steps.append((listed, perf_counter() - began))
            await _timed("The agent's first `remember`", lambda: client.call_tool("remember", {"content": FIRST}))
            found = await _timed("The agent's first `recall`", lambda: client.call_tool("recall", {"query": ASKED}))
            assert FIRST in found.content[0].text, found

    async def _timed(title: str, call: Callable[[], object]) -> object:
        began = perf_counter()
        result = await call()
        steps.append((title, perf_counter() - began))
        return result

    anyio.run(work)
    return steps


FIRST = "We deploy on Tuesdays, after the backup."
ASKED = "When do we deploy?"


def steps_of(shown: Shown) -> list[Step]:
    """The steps that the demo tells, with their times."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.output)
    found = re.findall(r"^\d+\. (.*?)\s{3}([\d,]+) ms$", plain, re.MULTILINE)
    return [(title, int(milliseconds.replace(",", "")) / 1000) for title, milliseconds in found]


def table(steps: Sequence[Step]) -> str:
    rows = "\n".join(f"| {title} | {seconds * 1000:,.0f} |" for title, seconds in steps)
    return f"| step | milliseconds |\n| --- | --- |\n{rows}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where the pictures go")
    docs = parser.parse_args().docs
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        demo = on_terminal(["demo"], home)
        (home / ".claude.json").write_text('{\n  "numStartups": 1\n}\n', "utf-8")
        connect = on_terminal(["connect", "claude-code"], home)
        picture(demo, docs / "img" / "terminal-demo.svg", home)
        picture(connect, docs / "img" / "terminal-connect.svg", home)
        client = as_a_client(home)
    console = Console()
    console.print(table([*steps_of(demo), ("All of it, from the command to the prompt", demo.seconds)]))
    console.print(table([("`muisti connect claude-code`, its own call of a tool included", connect.seconds), *client]))


if __name__ == "__main__":
    main()
