"""Scripts and styles of others are those that `make vendor` fetched, with their licences, and all is small."""

import gzip
import json
from importlib import resources

import pytest

from muisti.service.console.render import assets

pytestmark = pytest.mark.one_store
VENDOR = resources.files("muisti.service.console").joinpath("static", "vendor")


def test_every_file_is_the_one_that_was_fetched():
    told = {one["file"]: one for one in json.loads(VENDOR.joinpath("vendor.json").read_text())}
    found = {name.removeprefix("vendor/"): asset for name, asset in assets().items() if name.startswith("vendor/")}
    assert {name: asset.integrity for name, asset in found.items()} == {
        name: one["sha384"] for name, one in told.items()
    }
    licences = {one.name for one in VENDOR.iterdir() if one.name.startswith("LICENCE.")}
    assert licences == {f"LICENCE.{one['package'].rpartition('/')[2]}.txt" for one in told.values()}


def test_all_scripts_and_styles_together_are_at_most_150_kb():
    assert sum(len(gzip.compress(asset.content, 9)) for asset in assets().values()) <= 150_000


def test_an_asset_is_kept_for_ever_under_a_url_that_names_its_content(client):
    asset = assets()["console.css"]
    answer = client.get(asset.url)
    assert answer.content == asset.content
    assert "immutable" in answer.headers["Cache-Control"]
    assert client.get("/console/static/..%2Fmount.py").status_code == 404
