"""Fixtures: files of other systems, and what makes them."""

import json
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

Make = Callable[[Path], None]


@dataclass(frozen=True)
class Fixture:
    """A file of a system. `texts` are the contents that must be stored; `skipped` and `failed` count the rest.

    `is_named`: the name of the file says which chat it is, so that the same bytes without it are another chat.
    """

    system: str
    name: str
    make: Make
    texts: Sequence[str]
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: int = 0
    is_named: bool = False

    @property
    def id(self) -> str:
        return f"{self.system} {self.name}"

    @property
    def rows(self) -> int:
        return len(self.texts) + sum(self.skipped.values()) + self.failed


def json_of(value: object) -> Make:
    return text(json.dumps(value, ensure_ascii=False))


def lines(*values: object) -> Make:
    return text("\n".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values))


def text(content: str) -> Make:
    def make(path: Path) -> None:
        path.write_text(content, "utf-8")

    return make


def database(script: str, rows: Mapping[str, Sequence[Sequence[Any]]]) -> Make:
    def make(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.executescript(script)
            for table, values in rows.items():
                marks = ",".join("?" * len(values[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
        connection.close()

    return make


def folder(files: Mapping[str, str]) -> Make:
    def make(path: Path) -> None:
        for name, content in files.items():
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")

    return make


def archive(files: Mapping[str, str]) -> Make:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
            for name, content in files.items():
                opened.writestr(zipfile.ZipInfo(name, (2025, 3, 1, 0, 0, 0)), content)

    return make


def tarred(files: Mapping[str, str]) -> Make:
    def make(path: Path) -> None:
        with tarfile.open(path, "w") as opened:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content.encode())
                opened.addfile(info, BytesIO(content.encode()))

    return make
