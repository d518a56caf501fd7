import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from loadtests.adversarial.patterns import ROOT, files
from muisti.core.support.regex import Regex, regex


@pytest.mark.parametrize("use", ["findall", "match", "search", "split", "fullmatch"])
def test_an_expression_does_what_its_pattern_does(use):
    made, kept = regex("(a+)|B", re.IGNORECASE), re.compile("(a+)|B", re.IGNORECASE)
    for _ in range(2):  # compiled by the first use, and then as it is
        assert str(getattr(made, use)("baaAc")) == str(getattr(kept, use)("baaAc"))
    assert made.sub(b"-".decode(), "baac") == "--c"
    assert (made.pattern, made.flags) == (kept.pattern, kept.flags)
    assert regex(b"a").findall(b"banana") == [b"a"] * 3


def test_a_wrong_expression_is_an_error_at_its_first_use():
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.search("a")


def test_every_expression_compiles():
    modules = [path.relative_to(ROOT).with_suffix("") for path in files() if "regex(" in path.read_text("utf-8")]
    values = [vars(import_module(f"muisti.{path.as_posix().replace('/', '.')}")) for path in modules]
    found = list(expressions(values))
    assert len(found) > 180
    for one in found:
        re.compile(one._text, one._flags)


def expressions(value: object) -> Iterator[Regex]:
    """Find the expressions of a module: in its names, and in its tables of any depth."""
    if isinstance(value, Regex):
        yield value
    elif isinstance(value, tuple | list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from expressions(one)
