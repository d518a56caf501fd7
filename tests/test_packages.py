"""The wheel contains all folders with Python modules, under one package name."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDERS = {
    "muisti": "clients/python/muisti", "muisti.client": "clients/python/muisti_client", "muisti.core": "core",
    "muisti.integrations": "integrations", "muisti.service": "service",
}  # fmt: skip


def found() -> set[str]:
    return {
        ".".join((name, *path.parent.relative_to(ROOT / folder).parts))
        for name, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*.py")
    }


def test_every_folder_with_a_module_is_a_package_that_is_installed_under_its_name():
    assert PROJECT["tool"]["setuptools"]["package-dir"] == FOLDERS
    assert found() == set(PROJECT["tool"]["setuptools"]["packages"]), "`packages` in pyproject.toml lists each folder"


def test_every_package_says_what_it_is_for():
    inits = [path for folder in FOLDERS.values() for path in (ROOT / folder).rglob("__init__.py")]
    assert len(inits) == len(found())
    assert [str(path) for path in inits if not path.read_text("utf-8").startswith('"""')] == []


def test_layers_name_folders_alone():
    """So that a new module costs no edit of pyproject.toml."""
    contracts = [one for one in PROJECT["tool"]["importlinter"]["contracts"] if "containers" in one]
    named = {name for one in contracts[:1] for layer in one["layers"] for name in layer.split(" | ")}
    assert {name for name in named if not (ROOT / "core" / name).is_dir()} == {"engine", "databases"}
