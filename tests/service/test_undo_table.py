"""An undo without arguments takes back the last call as a whole, or says clearly why not: every call, on every face."""

import re
from collections.abc import Iterator

import httpx
import pytest

from muisti.service.mcp.tools import TOOLS
from tests.service import undo_table
from tests.service.cli_commands import COMMANDS
from tests.service.undo_table import LIKE, READS, ROWS, Place, Row, all_rows, server, tried

pytestmark = pytest.mark.one_store

# Words that belong to another face than the one that answers.
FOREIGN = {
    "HTTP": re.compile("muisti |undo with"),
    "MCP": re.compile("POST|muisti "),
    "CLI": re.compile('POST|{"|undo with'),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Place]]:
    with server(tmp_path_factory.mktemp("undo")) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "row", "faces"), [*all_rows()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_undo_takes_back_the_last_call_or_says_why_not(
    places: Iterator[Place], name: str, row: Row, faces: tuple[str, ...], request: pytest.FixtureRequest
):
    for face in faces:
        outcome, words = tried(next(places), row, face)
        assert outcome == row.outcome, (face, words)
        assert re.search(r"change|import \d|your last call", words), (face, words)
        assert not FOREIGN[face].search(words), (face, words)


def test_every_call_that_changes_something_is_in_the_table(client: httpx.Client):
    paths = client.get("/openapi.json").json()["paths"].values()
    calls = {each["operationId"] for path in paths for method, each in path.items() if method != "get"}
    assert {name.partition(",")[0] for name in ROWS} | READS == calls
    tools = {tool.name for tool in TOOLS if not tool.read_only}
    assert {name.partition(",")[0] for name in undo_table.TOOLS} == tools
    writing = {name for name, (kind, _) in COMMANDS.items() if kind == "writes"}
    assert writing <= {*undo_table.COMMANDS, *LIKE}
    assert {*LIKE.values()} <= {*ROWS}
