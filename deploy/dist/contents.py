"""Looks into a wheel: one package, the models, every licence, the library of kernels, and nothing else compiled."""

import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDED = (
    "muisti/core/embedding/weights/model.safetensors",
    "muisti/core/embedding/weights/tokenizer.json",
    "muisti/core/embedding/minilm/vocab.txt",
    "muisti/core/graph/entities/weights/tagger.safetensors",
    "muisti/core/graph/facts/weights/relations.npz",
    "muisti/core/conversations/context/ranks/o200k_base.zst",
    "muisti/core/kernels/native.c",
    "muisti/core/kernels/runtime.h",
    "muisti/service/console/static/vendor/vendor.json",
)
COMPILED = (".pyc", ".nbi", ".nbc", ".so", ".pyd", ".dylib")
LIBRARY = "muisti/core/kernels/native-"  # with a digest of its sources


def names(wheel: Path) -> list[str]:
    """Return the paths of the files in a wheel."""
    with zipfile.ZipFile(wheel) as opened:
        return sorted(opened.namelist())


def faults(wheel: Path) -> Iterator[str]:
    """Yield what is wrong with the files of a wheel."""
    found = names(wheel)
    stem = "-".join(wheel.name.split("-")[:2])
    about, data = f"{stem}.dist-info", f"{stem}.data/data/share/doc/muisti"
    for top in sorted({name.partition("/")[0] for name in found} - {"muisti", about, f"{stem}.data"}):
        yield f"{top} would be put beside the packages of others"
    for name in found:
        if name.endswith(COMPILED) and not name.startswith(LIBRARY) or "__pycache__" in name:
            yield f"{name} was compiled here"
    if len([name for name in found if name.startswith(LIBRARY)]) != 1:
        yield f"{LIBRARY}* is missing, or there are several"
    wanted = (*NEEDED, f"{data}/CHANGELOG.md", *(f"{about}/licenses/{name}" for name in licences()))
    yield from (f"{name} is missing" for name in wanted if name not in found)
    yield from (f"{name} is missing" for name in modules() if name not in found)


def licences() -> Sequence[str]:
    """Return the licences of the tree: ours, those of what the console sends, the cards of the models."""
    found = [
        path
        for pattern in ("LICEN[CS]E*", "MODEL.md")
        for top in ("core", "service")
        for path in (ROOT / top).rglob(pattern)
    ]
    return ["LICENSE", "NOTICE", *sorted(path.relative_to(ROOT).as_posix() for path in found)]


def modules() -> Iterator[str]:
    """Yield the path in the wheel of each module of the tree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for package, folder in project["tool"]["setuptools"]["package-dir"].items():
        for path in (ROOT / folder).rglob("*.py"):
            yield f"{package.replace('.', '/')}/{path.relative_to(ROOT / folder).as_posix()}"
