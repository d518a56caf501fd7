"""Upload hostile files and mutated ones to a live server, and watch its workers and `/healthz` meanwhile.

    python -m loadtests.adversarial.files [--hostile N] [--generated N] [--seed 1] [--docs docs]

Hostile files are those of the parsers' tests, and code against each grammar. Generated ones are small files of every
format, in which bits are flipped and parts are cut, swapped, repeated or nested. A seed gives the same ones. Each is
uploaded as a document. The table has, for each kind of file, the answers, and the most that a worker took. A file that
is stored without a word of text is a fault.
"""

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx

from loadtests.document import put
from loadtests.services.muisti import serving
from muisti.core.model.values import is_blank
from muisti.core.parsing.code.grammars import GRAMMARS, is_available
from muisti.core.parsing.parsed import Options
from muisti.core.parsing.worker import BYTES_A_SECOND, MEMORY, SECONDS
from tests.core.parsing import hostile, old_office, samples

SPACE = "files"
PLACE = "adversarial-files"
OCTETS = {"Content-Type": "application/octet-stream"}
MOST = 500_000  # bytes of a generated file
LONGEST = 300.0  # seconds until a task that does not end is a fault
SLACK = 2.0  # seconds of processor time: a worker starts, and counts in hundredths
AGAINST_GRAMMARS = ("<!--", "->", "|!", "<!", "!]-", "((", "{[", "`${", "/*", '"""')
TEXT = "# Tea\n\nAnn Lee moved to Turku on 3 May 2024. She prefers tea.\n\n- bread\n- [a](b)\n" * 8


def _letter() -> bytes:
    """Return an e-mail with alternatives, a forwarded one, a calendar entry and attachments."""
    mail, inner = EmailMessage(), EmailMessage()
    mail["Subject"], inner["Subject"], inner["To"] = "Tea", "Cake", "ann@example.org"
    mail.set_content("Ann prefers tea.")
    mail.add_alternative("<p>Ann prefers <b>tea</b>.</p>", subtype="html")
    inner.set_content("Bring cake.")
    mail.add_attachment(inner)
    mail.add_attachment(samples.pdf("tea"), "application", "pdf", filename="a.pdf")
    mail.add_attachment("BEGIN:VEVENT\nSUMMARY:Tea\nDTSTART:20240503\nEND:VEVENT\n", subtype="calendar")
    for number, part in enumerate(mail.walk()):
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            part.set_boundary(f"b{number}")
    return mail.as_bytes()


SAMPLES: Mapping[str, Callable[[], bytes]] = {
    "a.md": lambda: TEXT.encode(),
    "a.txt": lambda: TEXT.encode("utf-16"),
    "a.csv": lambda: b"name,drink\n" + b'"Lee, Ann",tea\n' * 40,
    "a.html": lambda: b"<html><body><h1>Tea</h1><table><tr><td>a</td></tr></table><p>b &amp; c</p></body></html>",
    "a.pdf": lambda: samples.pdf("# Tea\nAnn prefers tea.", "Second page", outline=[("Tea", 0)]),
    "a.docx": lambda: samples.docx(samples.word_document(samples.paragraph("Tea") + samples.word_table([["a", "b"]]))),
    "a.pptx": lambda: samples.pptx("Tea\nAnn prefers tea.", "More"),
    "a.xlsx": lambda: samples.xlsx([["name", 1.5], ["tea", None]]),
    "a.odt": lambda: samples.odf("text", "<text:h>Tea</text:h><text:p>Ann prefers tea.</text:p>"),
    "a.ods": lambda: samples.odf(
        "spreadsheet",
        "<table:table><table:table-row><table:table-cell><text:p>tea</text:p></table:table-cell>"
        "</table:table-row></table:table>",
    ),
    "a.odp": lambda: samples.odf(
        "presentation", "<draw:page><draw:frame><text:p>tea</text:p></draw:frame></draw:page>"
    ),
    "a.fodt": lambda: samples.flat_odf(
        "text", "<text:h>Tea</text:h><text:list><text:list-item><text:p>a</text:p></text:list-item></text:list>"
    ),
    "a.fb2": lambda: (
        b"<FictionBook><description><book-title>Tea</book-title></description><body><section><title><p>One</p></title>"
        b"<p>Ann <strong>prefers</strong> tea.</p></section></body><binary>AAAA</binary></FictionBook>"
    ),
    "a.enex": lambda: (
        b"<en-export><note><title>Tea</title><content><![CDATA[<en-note>Ann &amp; Ben</en-note>]]></content></note>"
        b"</en-export>"
    ),
    "b.txt": lambda: "Анна пьёт чай. ".encode("koi8-r") * 40,
    "a.epub": lambda: samples.epub("<h1>Tea</h1><p>a</p>", "<p>b</p>"),
    "a.ipynb": lambda: (
        b'{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"code","source":["x = 1"],'
        b'"metadata":{},"outputs":[],"execution_count":1}]}'
    ),
    "a.eml": lambda: b"From: a@b.c\nTo: d@e.f\nSubject: =?utf-8?q?tea?=\nMIME-Version: 1.0\n\nAnn prefers tea.\n",
    "b.eml": _letter,
    "a.mbox": lambda: b"From a@b Mon May  3 10:00:00 2024\nSubject: tea\nFrom: a@b.c\n\nbody\n\n" * 3,
    "a.tsv": lambda: "näme\tdrink\nLee\ttea\n".encode("cp1252") * 40,
    "a.rtf": lambda: rb"{\rtf1\ansi\ansicpg1252{\fonttbl\f0 Arial;}\f0 Ann prefers t\'e9a.\par {\b Bread}\u8211?\par}",
    "a.doc": lambda: old_office.doc("Tea \x13TOC\x14with\x15 cake\rBread\x07\x07\rEnd\r", "Foot\r"),
    "a.xls": lambda: old_office.xls([["name", 1.5], ["tea", 2]], shared=["Größe", "a text that goes on in the next"]),
    "a.ppt": lambda: old_office.ppt(("Tea", "Ann likes it"), ("Cake", "Ben does")),
    "a.msg": lambda: old_office.msg("Tea", "Dear Ben", {"a.pdf": samples.pdf("tea")}, inner="Forwarded"),
    "a.vcf": lambda: b"BEGIN:VCARD\r\nFN:Ann Lee\r\nNOTE;ENCODING=QUOTED-PRINTABLE:tea=\r\n=20\r\nEND:VCARD\r\n",
    "a.ics": lambda: b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Tea\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    "a.zip": lambda: samples.zipped({"a.txt": "tea", "b/c.md": TEXT, "d.zip": samples.zipped({"e.txt": "deep"})}),
    "a.json": lambda: b'{"a": [1, 2, {"b": "tea"}]}',
    **{
        f"a{GRAMMARS[language].endings[0]}": lambda: b"class A {\n  f(a) { return g(a); }\n}\ndef f(a):\n    return 1\n"
        for language in GRAMMARS
        if is_available(language)
    },
}


@dataclass
class Seen:
    """Answers, costs and faults of the files of a kind."""

    files: int = 0
    answers: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0  # of a worker for one file, at most
    memory: int = 0  # bytes of a worker at most
    faults: list[str] = field(default_factory=list[str])


def hostile_files() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each hostile file and what makes it."""
    yield from ((case.name, case.make) for case in hostile.CASES)
    for language in GRAMMARS:
        if is_available(language):
            for number, unit in enumerate(AGAINST_GRAMMARS):
                yield f"{number}{GRAMMARS[language].endings[0]}", lambda unit=unit: (unit * 30_000)[:30_000].encode()


def generated_files(count: int, seed: int) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield files of every format in turn, each mutated some times."""
    names = [*SAMPLES]
    for number in range(count):
        chosen = random.Random(seed * 1_000_003 + number)
        name = names[number % len(names)]
        yield f"{number}-{name}", lambda name=name, chosen=chosen: _mutated(SAMPLES[name](), chosen)


def _mutated(data: bytes, chosen: random.Random) -> bytes:
    for _ in range(chosen.randint(1, 4)):
        at, stop = sorted(chosen.randrange(len(data) + 1) for _ in range(2))
        match chosen.randrange(7):
            case 0:
                changed = bytearray(data)
                for place in (chosen.randrange(len(data)) for _ in range(chosen.randint(1, 20)) if data):
                    changed[place] ^= 1 << chosen.randrange(8)
                data = bytes(changed)
            case 1:
                data = data[:stop]
            case 2:
                data = data[:at] + data[stop:]
            case 3:
                times = min(chosen.choice((2, 50, 2_000)), MOST // max(1, stop - at))
                data = data[:at] + data[at:stop] * times + data[stop:]
            case 4:
                data = data[:at] + chosen.randbytes(chosen.choice((1, 100, 10_000))) + data[at:]
            case 5:
                middle = chosen.randint(at, stop)
                data = data[:at] + data[middle:stop] + data[at:middle] + data[stop:]
            case _:
                data = data[:at] + chosen.choice((b"<", b"[", b"{", b"(", b"\0", b"> ")) * 20_000 + data[at:]
    return data[:MOST]


class Watch:
    """Threads that ask for `/healthz` all the time, and look at the workers of a server."""

    def __init__(self, url: str, process: int) -> None:
        self._url, self._process = url, process
        self._over = threading.Event()
        self._threads = [threading.Thread(target=run) for run in (self._ask, self._look)]
        self.slowest, self.unanswered, self.asked = 0.0, 0, 0
        self.used: dict[int, float] = {}  # seconds of processor time by worker, since `begin`
        self.memory = 0
        self._before: dict[int, float] = {}

    def __enter__(self) -> "Watch":
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for one in self._threads:
            one.join()

    def begin(self) -> None:
        """Count from here."""
        self.used, self.memory = {}, 0
        self._before = {worker: used for worker, used, _ in self._workers()}

    def _ask(self) -> None:
        with httpx.Client(base_url=self._url, trust_env=False, timeout=30) as client:
            while not self._over.wait(0.05):
                began = time.perf_counter()
                try:
                    good = client.get("/healthz").status_code == 200
                except httpx.HTTPError:
                    good = False
                self.asked, self.unanswered = self.asked + 1, self.unanswered + (not good)
                self.slowest = max(self.slowest, time.perf_counter() - began)

    def _look(self) -> None:
        while not self._over.wait(0.05):
            for worker, used, memory in self._workers():
                self.used[worker] = used - self._before.get(worker, 0.0)
                self.memory = max(self.memory, memory)

    def _workers(self) -> list[tuple[int, float, int]]:
        """Return the id, the seconds of processor time and the bytes in memory of each child process."""
        found: list[tuple[int, float, int]] = []
        with suppress(OSError, ValueError, IndexError):
            for task in Path(f"/proc/{self._process}/task").iterdir():
                for child in (task / "children").read_text("ascii").split():
                    fields = Path(f"/proc/{child}/stat").read_text("ascii").rpartition(")")[2].split()
                    ticks = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                    found.append((int(child), ticks, int(fields[21]) * os.sysconf("SC_PAGE_SIZE")))
        return found


@contextmanager
def watched(database: Path) -> Iterator[tuple[httpx.Client, Watch]]:
    """Run a server that is watched, with an empty space for the files."""
    with serving(database, extra={"MUISTI_EMBEDDINGS": "off"}) as server:
        url = f"http://127.0.0.1:{server.port}"
        with (
            httpx.Client(base_url=url, trust_env=False, timeout=LONGEST) as client,
            Watch(url, server.pid) as watch,
        ):
            client.post("/v1/spaces", json={"name": SPACE}).raise_for_status()
            yield client, watch


def measured(
    client: httpx.Client, watch: Watch, files: Sequence[tuple[str, Callable[[], bytes]]]
) -> Mapping[str, Seen]:
    """Upload files one after the other, each until its task has ended; return what was seen by kind of file.

    A run that is interrupted returns what was seen until then.
    """
    found: dict[str, Seen] = {}
    with suppress(KeyboardInterrupt):
        _measure(client, watch, files, found)
    return found


def _measure(
    client: httpx.Client, watch: Watch, files: Sequence[tuple[str, Callable[[], bytes]]], found: dict[str, Seen]
) -> None:
    for name, make in files:
        data = make()
        seen = found.setdefault(name.rpartition(".")[2], Seen())
        watch.begin()
        answer = _answer(client, name, data)
        used = max(watch.used.values(), default=0.0)
        seen.files += 1
        seen.answers[answer] += 1
        seen.seconds, seen.memory = max(seen.seconds, used), max(seen.memory, watch.memory)
        limit = min(Options().seconds, SECONDS + len(data) / BYTES_A_SECOND)
        if used > limit + SLACK or watch.memory > MEMORY:
            seen.faults.append(f"{name}: {used:.1f} s of {limit:.1f}, {watch.memory >> 20} MB")
        if answer.startswith("!"):
            seen.faults.append(f"{name}: {answer[1:]}")


def _answer(client: httpx.Client, name: str, data: bytes) -> str:
    """Return how a file was answered: `stored`, or the code of a refusal; what begins with `!` is a fault."""
    try:
        answer = client.put(f"/v1/spaces/{SPACE}/documents/{name}", content=data, headers=OCTETS)
    except httpx.HTTPError as error:
        return f"!{type(error).__name__}"
    body: dict[str, Any] = answer.json()
    if answer.status_code in (200, 201):
        text = client.get(f"/v1/spaces/{SPACE}/documents/{name}/text").text
        return "!stored without text" if is_blank(text) else "stored"
    if answer.status_code != 202:
        code = str(body.get("code"))
        is_clear = answer.status_code < 500 and body.get("detail") and code.startswith(("document.", "sensitive"))
        return code if is_clear else f"!{answer.status_code} {code}"
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        task = client.get(f"/v1/spaces/{SPACE}/tasks/{body['id']}").json()
        if task["state"] not in ("queued", "running"):
            return f"task {task['state']}"
        time.sleep(0.1)
    return "!the task does not end"


def lines_of(found: Mapping[str, Seen]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| kind | files | answers | seconds of a worker | MB of a worker |"
    yield "| --- | --- | --- | --- | --- |"
    for kind, seen in sorted(found.items()):
        answers = ", ".join(f"{number} {name}" for name, number in seen.answers.most_common())
        yield f"| {kind} | {seen.files} | {answers} | {seen.seconds:.1f} | {seen.memory >> 20} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.adversarial.files",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--hostile", type=int, default=1_000, help="hostile files at most")
    parser.add_argument("--generated", type=int, default=400, help="generated files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, help="the folder of security.md, which gets the table")
    asked = parser.parse_args()
    files = [*hostile_files()][: asked.hostile] + [*generated_files(asked.generated, asked.seed)]
    with tempfile.TemporaryDirectory() as folder, watched(Path(folder) / "m.db") as (client, watch):
        found = measured(client, watch, files)
        health = f"/healthz: {watch.asked:,} questions, {watch.unanswered} unanswered, at most {watch.slowest:.2f} s."
    lines = [*lines_of(found), "", health]
    faults = [one for seen in found.values() for one in seen.faults]
    sys.stdout.write("\n".join([*lines, *(f"FAULT {one}" for one in faults)]) + "\n")
    if asked.docs is not None:
        put({PLACE: "\n".join(lines) + "\n"}, asked.docs / "why" / "security.md")
    return 1 if faults or watch.unanswered else 0


if __name__ == "__main__":
    sys.exit(main())
