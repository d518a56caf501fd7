"""Examples of replies about source code, of a repository of two files."""

from collections.abc import Mapping
from typing import Any

from muisti.core.model.code import CodeMap, Outline, Symbol, Symbols, Use, Uses
from muisti.service.openapi.story import RULE_ID, seq_at

GET = Symbol(
    name="get",
    qualified="Client.get",
    kind="method",
    path="app/client.py",
    document=RULE_ID,
    language="python",
    start=8,
    end=10,
    signature="def get(self, url)",
    doc="Send a request.",
    category=None,
)
RUN = Symbol(
    name="run",
    qualified="run",
    kind="function",
    path="main.py",
    document=RULE_ID,
    language="python",
    start=4,
    end=6,
    signature="def run()",
    doc="",
    category=None,
)
_AT = str(seq_at(4))

CODE_REPLIES: Mapping[str, Mapping[int, Any]] = {
    "findSymbols": {200: Symbols(items=(GET,), total=1, pending=0, degraded=(), seq=_AT)},
    "getCallers": {
        200: Uses(
            symbols=(GET,),
            items=(
                Use(
                    kind="calls",
                    symbol=RUN,
                    path="main.py",
                    used_in="main.py",
                    lines=(6,),
                    certainty="certain",
                    of="Client.get",
                ),
            ),
            total=1,
            pending=0,
            degraded=(),
            seq=_AT,
        )
    },
    "getCallees": {
        200: Uses(
            symbols=(RUN,),
            items=(
                Use(
                    kind="calls",
                    symbol=GET,
                    path="app/client.py",
                    used_in="main.py",
                    lines=(6,),
                    certainty="certain",
                    of="run",
                ),
            ),
            total=1,
            pending=0,
            degraded=(),
            seq=_AT,
        )
    },
    "getOutline": {
        200: Outline(
            path="main.py",
            document=RULE_ID,
            language="python",
            symbols=(RUN,),
            imports=("app/client.py",),
            unresolved=0,
            pending=0,
            degraded=(),
            seq=_AT,
        )
    },
    "getCodeMap": {
        200: CodeMap(
            text="app/client.py:\n  class Client(Base)\n    def get(self, url)",
            tokens=16,
            files=1,
            symbols=2,
            of_symbols=3,
            pending=0,
            degraded=(),
            seq=_AT,
        )
    },
}
