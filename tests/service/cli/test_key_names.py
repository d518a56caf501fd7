"""Keys by name, and the warning before the first one."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

pytestmark = pytest.mark.one_store

Run = Callable[..., Result]
FIRST = "This is the first key"


def test_only_the_first_key_warns_that_requests_need_one_from_now_on(run: Run):
    assert FIRST in run("keys", "create", "--admin").stderr
    assert FIRST not in run("keys", "create", "--admin").stderr


@pytest.mark.parametrize("words", [("revoke",), ("rotate", "--overlap", "0")])
def test_a_key_is_named_by_its_name(words: tuple[str, ...], run: Run):
    run("keys", "create", "--admin")
    run("keys", "create", "web agent", "--mode", "read-only", "--spaces", "acme")
    assert run("keys", *words, "web agent").exit_code == 0
    assert ended(run, "web agent") and not ended(run, "admin")


def test_a_name_of_several_open_keys_is_refused_with_their_ids(run: Run):
    for _ in range(2):
        run("keys", "create", "--admin")
    said = run("keys", "revoke", "admin")
    assert said.exit_code == 64
    assert all(one["id"] in said.stderr for one in listed(run))
    assert not ended(run, "admin")


def test_a_key_that_ended_does_not_make_a_name_ambiguous(run: Run):
    for _ in range(2):
        run("keys", "create", "--admin")
        assert run("keys", "revoke", "admin").exit_code == 0
    assert len(ended(run, "admin")) == 2


def listed(run: Run) -> list[dict[str, str]]:
    return json.loads(run("keys", "list", "--json").stdout)["items"]


def ended(run: Run, name: str) -> list[dict[str, str]]:
    return [one for one in listed(run) if one["name"] == name and (one["revoked_at"] or one["expires_at"])]
