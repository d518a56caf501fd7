"""Commands that pages show, as they are typed where this server was installed: from a wheel, an image or a clone."""

import os
import platform
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARKS = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}  # files of a container by the program that runs it
ON_FILES = frozenset({"ingest", "import", "connect", "verify-report"})  # commands about the reader's own machine


def typed(command: str, url: str) -> str:
    """Return a command as it is typed; `url` is the address of this server, which a command elsewhere needs."""
    return prefixed(command, url, container(), clone())


def prefixed(command: str, url: str, program: str | None, inside: str | None) -> str:
    """Return a command for a container that `program` runs, or a clone that has it at `inside`, or a wheel.

    >>> [prefixed("muisti spaces", "http://h", None, inside) for inside in (None, ".venv/bin/muisti")]
    ['muisti spaces', '.venv/bin/muisti spaces']
    >>> prefixed("muisti spaces", "http://h", "docker exec a1b2", None)
    'docker exec a1b2 muisti spaces'
    >>> prefixed("muisti --space a ingest b", "http://h", "docker exec a1b2", None)
    'MUISTI_URL=http://h muisti --space a ingest b'
    """
    words = command.split()
    if words[:1] != ["muisti"]:
        return command
    if inside or program is None:
        return command.replace("muisti", inside or "muisti", 1)
    if "connect" in words:
        return command
    return f"MUISTI_URL={url} {command}" if ON_FILES & {*words} else f"{program} {command}"


@cache
def container() -> str | None:
    """Return how a command is run in the container of this process; None outside of one."""
    program = next((name for mark, name in MARKS.items() if os.path.exists(mark)), None)
    return program and f"{program} exec {platform.node()}"


@cache
def clone() -> str | None:
    """Return the path of the command in the clone that this process runs from; None elsewhere."""
    command = Path(sys.prefix, "bin", "muisti")
    if not (ROOT / "pyproject.toml").exists() or not command.is_relative_to(ROOT):
        return None
    return str(command.relative_to(ROOT))
