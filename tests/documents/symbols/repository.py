"""Repositories of source files in a space, for tests: stored as documents, in chunks of a few lines."""

import hashlib
from collections.abc import Mapping

from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.documents.view import Cuts, Incoming
from muisti.core.engine import Engine
from muisti.core.model.places import DocumentName
from muisti.core.parsing.pieces import Cut
from tests.core.fakes import SPACE

FILES = {
    "app/__init__.py": "from app.client import Client\n",
    "app/client.py": (
        "from app.base import Base\nfrom .tools import helper\n\n\n"
        "class Client(Base):\n    '''Sends requests.'''\n\n"
        "    def get(self, url):\n        helper(url)\n        return self.send(url)\n"
    ),
    "app/base.py": "class Base:\n    def send(self, url):\n        return url\n",
    "app/tools.py": "def helper(x):\n    return x\n",
    "main.py": "from app import Client\n\n\ndef run():\n    client = Client()\n    return client.get('x')\n",
    "web/index.ts": "import { fetchAll } from './fetch'\nexport function start() { return fetchAll(1) }\n",
    "c/main.c": '#include "util.h"\nint main(void) { return far(1); }\n',
    "c/util.c": "int far(int x) { return x; }\n",
    "web/fetch.ts": "export const fetchAll = (n: number) => n\n",
}


def cuts(text: str) -> Cuts:
    lines = text.splitlines(keepends=True)
    return Cuts(Cut(text="".join(lines[n : n + 4]), kind="code") for n in range(0, max(1, len(lines)), 4))


def put(engine: Engine, files: Mapping[str, str], category: str | None = None, space: str = SPACE) -> None:
    """Store files, each with its own write."""
    for path, text in files.items():
        facts = FileFacts(sha256=hashlib.sha256(text.encode()).hexdigest(), size=len(text))
        new = NewDocument(path=path, facts=facts, category=category)
        engine.owner.documents.put(space, [Incoming(new=new, cuts=cuts(text))])


def delete(engine: Engine, path: str) -> None:
    engine.owner.documents.delete(SPACE, DocumentName(name=path))


def called(engine: Engine, symbol: str, space: str = SPACE) -> list[str]:
    """Return who calls a symbol, as path:name."""
    uses = engine.owner.code.callers(space, symbol)
    return [f"{use.path}:{use.symbol.qualified if use.symbol else ''}" for use in uses.items]
