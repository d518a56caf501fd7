"""Lint over HTTP: every fix is a request that can be sent unchanged."""

from typing import Any

import httpx

from tests.core.fakes import Clock
from tests.service.fakes import API, draft


def keep(client: httpx.Client, text: str, **fields: Any) -> str:
    return client.post(f"{API}/memories", json=draft(text, on_conflict="keep", **fields)).json()["id"]


def test_each_fix_is_a_dry_run_that_can_be_sent_and_mends_without_that(client: httpx.Client, clock: Clock):
    keep(client, "tea is green", tags=["a"])
    keep(client, "tea is green")
    keep(client, "the staging database runs on port 5433")
    keep(client, "the staging database runs on port 5434")
    keep(client, "\n\n".join(f"{number}. The lamp of a room is warm. " * 9 for number in range(9)), tags=["b"])
    clock.pass_days(40)
    params = {"oversized_tokens": 300, "limit": 2}
    first = client.get(f"{API}/lint", params=params)
    assert 'rel="next"' in first.headers["Link"] and first.json()["checked"] == 2
    whole = client.get(f"{API}/lint", params={**params, "limit": 1000}).json()
    assert whole["found"] == {"duplicate": 1, "contradiction": 1, "oversized": 1, "never_recalled": 5}
    fixes = [fix for one in whole["items"] for fix in one["fix"]]
    for fix in fixes:
        reply = client.request(fix["method"], fix["path"], json=fix["body"])
        assert reply.status_code == 200 and reply.json()["dry_run"], reply.text
    assert client.get(f"{API}/lint", params={**params, "limit": 1000}).json() == whole
    for one in whole["items"]:
        for fix in one["fix"] if one["check"] != "never_recalled" else ():
            done = client.request(fix["method"], fix["path"].replace("true", "false"), json=fix["body"])
            assert done.is_success, done.text
    assert set(client.get(f"{API}/lint", params={**params, "limit": 1000}).json()["found"]) == {"never_recalled"}
    refused = client.get(f"{API}/lint", params={"checks": "duplicate,typo"}).json()
    assert (refused["code"], refused["errors"][0]["path"]) == ("invalid_input", "$.checks")
