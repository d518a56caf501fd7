"""Kinds of problems: the registry, what raises them, advice and the docs name the same codes."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from muisti.core import model
from muisti.core.model.errors import MuistiError
from muisti.service.mcp import refusals
from muisti.service.schemas.errors import KINDS, REMEDIES
from muisti.service.terminal import error_messages, opening

pytestmark = pytest.mark.one_store

ROOT = Path(__file__).parents[3]
FACTORIES = {"HttpError", "problem"}  # take a code first
OF_LITESTAR = {"no_route", "method_not_allowed", "too_large", "malformed_request"}  # by the status of its exceptions
ROW = re.compile(r"^\| ?`([a-z_.]+)` ?\| ?(\d{3}) ?\|", re.MULTILINE)


def subclasses(kind: type[MuistiError]) -> Iterator[type[MuistiError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from subclasses(one)


def of_core() -> set[str]:
    """Return the codes of errors that the core raises; `Conflict` is raised as such, too."""
    for module in pkgutil.iter_modules(model.__path__):
        importlib.import_module(f"{model.__name__}.{module.name}")
    return {kind.code for kind in subclasses(MuistiError) if kind.__module__.startswith("muisti.core.")}


def of_service() -> set[str]:
    """Return the codes that modules of the service write out where they make a problem."""
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "service").rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    firsts = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in FACTORIES]
    return {one.value for one in firsts if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_a_kind_is_declared_for_each_code_that_is_raised_and_for_no_other():
    assert set(KINDS) == of_core() | of_service() | OF_LITESTAR


def test_each_kind_has_a_remedy():
    assert set(REMEDIES) == set(KINDS)


def test_the_docs_list_each_kind_once_with_its_status():
    rows = ROW.findall((ROOT / "docs" / "reference" / "http.md").read_text("utf-8"))
    assert sorted(rows) == sorted((code, str(kind.status)) for code, kind in KINDS.items())


@pytest.mark.parametrize(
    "advice", [opening.ADVICE, opening.CODES, refusals.ADVICE], ids=["command line", "exit codes", "MCP"]
)
def test_advice_is_about_declared_kinds(advice: dict[str, object]):
    assert set(advice) - set(KINDS) == set()


def test_advice_on_errors_of_a_local_database_is_about_declared_kinds():
    assert {kind.code for kind in error_messages.NEXT} - set(KINDS) == set()
