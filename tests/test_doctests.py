"""The examples in docstrings, under the names by which the modules are imported."""

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import loadtests.quality
import muisti.client
import muisti.core
import muisti.service


def with_examples(package: ModuleType) -> Iterator[str]:
    for path in sorted(Path(package.__path__[0]).rglob("*.py")):
        if ">>> " in path.read_text("utf-8"):
            inner = path.relative_to(package.__path__[0]).with_suffix("").parts
            yield ".".join((package.__name__, *inner)).removesuffix(".__init__")


PACKAGES = (muisti.client, muisti.core, muisti.service, loadtests.quality)


@pytest.mark.parametrize("name", [name for package in PACKAGES for name in with_examples(package)])
def test_the_examples_of_a_module_hold(name: str):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed
