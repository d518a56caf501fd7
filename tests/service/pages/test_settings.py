"""Settings: policy, quota and models of a space, for whom they are, and what is refused beside its form."""

import httpx
import pytest

from tests.service.pages.forms import SPACE, ended, form_to, reader, send

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/settings"


def policy(client: httpx.Client) -> dict[str, object]:
    return client.get(f"/v1/spaces/{SPACE}").json()["policy"]


def test_the_form_of_the_policy_changes_what_differs_and_nothing_else(client: httpx.Client):
    before = policy(client)
    form = form_to(client.get(PAGE).text, f"{PAGE}/policy")
    assert set(form.fields) - {"form_token"} == set(before)
    assert "The change was saved" in ended(client, send(client, form))
    assert policy(client) == before
    ended(client, send(client, form, secrets="refuse", history_days="30", inherits="a, b", purge_after_days=""))
    assert policy(client) == {**before, "secrets": "refuse", "history_days": 30, "inherits": ["a", "b"]}
    ended(client, send(client, form_to(client.get(PAGE).text, f"{PAGE}/policy"), history_days="", inherits=""))
    assert policy(client) == {**before, "secrets": "refuse"}


@pytest.mark.parametrize("wrong", [{"history_days": "soon"}, {"recency_weight": "7"}, {"time_zone": "Mars/Base"}])
def test_a_wrong_value_is_refused_beside_the_form_which_keeps_it(client: httpx.Client, wrong: dict[str, str]):
    before = policy(client)
    answer = send(client, form_to(client.get(PAGE).text, f"{PAGE}/policy"), **wrong)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text and f'value="{next(iter(wrong.values()))}"' in answer.text
    assert policy(client) == before


def test_a_quota_is_set_shown_and_taken_back(client: httpx.Client):
    form = form_to(client.get(PAGE).text, f"{PAGE}/quota")
    assert 'value="7"' in ended(client, send(client, form, memories="7", bytes="1MB"))
    assert 'value="1000000"' in client.get(PAGE).text
    assert send(client, form, memories="many").status_code == 422
    assert 'value="7"' not in ended(client, send(client, form, memories="", bytes=""))


def test_models_are_listed_and_the_one_in_use_cannot_be_deleted(client: httpx.Client):
    client.post(f"/v1/spaces/{SPACE}/memories", json={"content": "We deploy on Tuesdays"})
    assert f'hx-get="{PAGE}/models"' in client.get(PAGE).text
    page = client.get(f"{PAGE}/models").text
    current = client.get(f"/v1/spaces/{SPACE}/generations").json()["items"][0]["generation"]
    token = form_to(client.get(PAGE).text, f"{PAGE}/policy").fields["form_token"]
    assert "answers searches" in page
    asked = {"form_token": token, "step": "drop", "model": current}
    assert client.post(f"{PAGE}/models", data=asked).status_code == 409
    assert client.post(f"{PAGE}/models", data={**asked, "step": "switch"}).status_code == 409


def test_who_may_only_read_changes_nothing(keyed: httpx.Client):
    reader(keyed)
    page = keyed.get(PAGE).text
    assert "<button>Save" not in page and 'class="danger"' not in page
    token = form_to(page, "/console/sign-out").fields["form_token"]
    for part, values in (("policy", {"secrets": "refuse"}), ("quota", {"memories": "1"}), ("models", {"model": "x"})):
        assert keyed.post(f"{PAGE}/{part}", data={"form_token": token, **values}).status_code == 403
