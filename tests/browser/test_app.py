"""The review as an app inside a client: a small host shows it in a sandbox and speaks the protocol of MCP Apps."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.browser.served import serving
from tests.service.mcp_client import modern

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FrameLocator, Page

UI = {"extensions": {"io.modelcontextprotocol/ui": {}}}
MEMORIES = "/v1/spaces/default/memories"
ATTACK = "<img src=x onerror=\"parent.postMessage('attack','*')\"><script>parent.postMessage('attack','*')</script>"
# As hosts do: an iframe without an origin, with a policy, and requests of the app passed on to the server.
HOST = """
<!doctype html><title>Host</title><style>body{margin:0}iframe{border:0;width:100%;height:200px}</style>
<script>
const heard = [];
const frame = document.createElement("iframe");
const post = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", async (event) => {
  const {id, method, params} = event.data;
  heard.push(event.data);
  if (event.source !== frame.contentWindow) return;
  if (method === "ui/initialize") {
    const hostContext = {theme: THEME, displayMode: "inline"};
    const hostInfo = {name: "host", version: "1"}, hostCapabilities = {serverTools: {}, updateModelContext: {}};
    post({id, result: {protocolVersion: params.protocolVersion, hostInfo, hostCapabilities, hostContext}});
  } else if (method === "ui/notifications/initialized") {
    post({method: "ui/notifications/tool-input", params: {arguments: {}}});
    post({method: "ui/notifications/tool-result", params: await callTool("review", {})});
  } else if (method === "tools/call") {
    post({id, result: await callTool(params.name, params.arguments)});
  } else if (method === "ui/notifications/size-changed") frame.style.height = params.height + "px";
  else if (id !== undefined) post({id, result: {}});
});
frame.sandbox = "allow-scripts";
frame.srcdoc = HTML;
document.documentElement.append(frame);
</script>
"""


@pytest.fixture
def server(tmp_path: Path) -> Any:
    with serving(tmp_path, {}) as url, httpx.Client(base_url=url) as client:
        for text in ("Ann may like jazz, but nobody has asked her", f"Deploys {ATTACK}", "We may move to Oslo"):
            fields = {"content": text, "status": "candidate", "category": "captured", "author": "Ann", "tags": ["x"]}
            client.post(MEMORIES, json=fields).raise_for_status()
        for port in (9000, 9001):
            made = {"content": f"The server listens on port {port}"}
            client.post(f"{MEMORIES}?on_conflict=review", json=made).raise_for_status()
        yield client


def hosted(page: "Page", client: httpx.Client, theme: str) -> "FrameLocator":
    def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        return modern(client, "tools/call", UI, name=name, arguments=arguments)

    (found,) = modern(client, "resources/read", UI, uri="ui://muisti/review")["contents"]
    page.expose_function("callTool", call_tool)
    html = json.dumps(found["text"]).replace("<", "\\u003c")
    body = HOST.replace("THEME", json.dumps(theme)).replace("HTML", html)
    page.route("http://host.example/", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto("http://host.example/")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="Candidates (3)").wait_for()
    return frame


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_person_decides_inside_the_client(
    browser: "Browser", server: httpx.Client, theme: str, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 720, "height": 900})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    frame = hosted(page, server, theme)
    colour = frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") == (theme == "light")
    assert "Differs: 9000 → 9001" in frame.locator("li").first.inner_text()
    page.screenshot(path=tmp_path / f"review-{theme}.png", full_page=True)
    frame.get_by_role("button", name="Accept: Ann may like jazz").click()
    frame.get_by_text("Done: accept.").wait_for()
    assert frame.get_by_role("heading", name="Candidates (2)").is_visible()
    frame.get_by_role("button", name="Use the new one: The server").click()
    frame.get_by_role("heading", name="Conflicts").wait_for(state="detached")
    frame.get_by_role("button", name="Reject: Deploys").focus()
    page.keyboard.press("Enter")
    frame.get_by_role("heading", name="Candidates (1)").wait_for()
    frame.get_by_role("button", name="Accept: We may move").click()
    frame.get_by_text("Done: accept.").wait_for()
    assert frame.locator("li").count() == 0

    active = {one["content"] for one in server.get(MEMORIES, params={"status": "active"}).json()["items"]}
    assert active == {
        "Ann may like jazz, but nobody has asked her", "We may move to Oslo", "The server listens on port 9001",
    }  # fmt: skip
    heard: list[Any] = page.evaluate("heard")
    assert "attack" not in heard and {one.get("jsonrpc") for one in heard} == {"2.0"}
    told = [one["params"]["content"][0]["text"] for one in heard if one.get("method") == "ui/update-model-context"]
    assert len(told) == 4 and problems == []
    page.close()


def test_a_refusal_is_shown_and_nothing_is_lost(browser: "Browser", server: httpx.Client) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 700})
    frame = hosted(page, server, "light")
    (jazz,) = [
        one for one in server.get(MEMORIES, params={"status": "candidate"}).json()["items"] if "jazz" in one["content"]
    ]
    server.patch(f"{MEMORIES}/{jazz['id']}", json={"content": "Ann hates jazz"}).raise_for_status()
    frame.get_by_role("button", name="Accept: Ann may like jazz").click()
    frame.locator("#status.bad").wait_for()
    assert frame.get_by_role("heading", name="Candidates (3)").is_visible()
    assert frame.get_by_role("button", name="Accept: Ann may like jazz").is_enabled()
    wide = frame.locator("html").evaluate("html => html.scrollWidth > html.clientWidth")
    assert not wide, "it fits a narrow client"
    page.close()
