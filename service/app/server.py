"""Serve HTTP until a signal stops the process."""

import gc
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from errno import EADDRINUSE
from pathlib import Path

import uvicorn
from uvicorn.supervisors import Multiprocess

from muisti.core.engine import Engine
from muisti.core.operations.compiled_kernels import compile_kernels, compiled_kernels
from muisti.service.app.app import Front, open_engine
from muisti.service.app.protocol import AdmittingProtocol, Config
from muisti.service.background.tasks import sweeps_of
from muisti.service.metrics.scrape import VARIABLE
from muisti.service.observability import logs
from muisti.service.observability.logs import StageTimes
from muisti.service.observability.tracing import check_tracing
from muisti.service.runtime.databases import location_of, whereabouts
from muisti.service.runtime.running import Announcement
from muisti.service.settings import CONFIG, Settings, SettingsError, asks, check_binding, find_config, load, options

BACKLOG = 2048
OWNER_KEY = "_MUISTI_OWNER_KEY"  # in the environment of workers: the secret of commands on this machine
ACCEPTED = 16  # connections in a turn of the event loop: libuv takes one from each socket that it listens on
SPARE_FILES = 256  # open files beside connections: the database, the model, the log
IDLE_SECONDS = 30  # longest time that a connection stays open without a request
SWITCH_SECONDS = 0.0001  # longest time that a finished search waits for the thread that answers
GARBAGE = 10_000  # objects made between two garbage collections; a request makes some hundreds

_LOG = logging.getLogger("muisti.server")


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; then running requests finish and waiting writes are committed.

    Raises:
        SettingsError: the server cannot or must not listen on the address; or packages are missing.
        MuistiError: the database cannot be used.
    """
    check_binding(settings, lambda: _has_keys(settings))
    check_tracing(settings)
    logs.configure(settings)
    _compile()
    allow_files(settings.connection_limit + SPARE_FILES)
    with ExitStack() as closing:
        listener = closing.enter_context(listen(settings))
        taken = ACCEPTED if settings.workers == 1 else 1  # a worker that accepts many leaves none to the others
        listeners = [listener, *(closing.enter_context(listener.dup()) for _ in range(taken - 1))]
        announcement = closing.enter_context(Announcement(location_of(settings).file))
        if settings.workers == 1:
            _run_here(settings, listeners, announcement)
        else:
            _run_workers(settings, listeners, announcement)


def _compile() -> None:
    """Compile the kernels of an installation that came without them, before anything waits for the server."""
    found = compiled_kernels()
    if found.pending:
        detail = f"the first start compiles the search loops into {found.place}, for half a minute of processor time"
        _LOG.warning("kernels", extra={"detail": detail})
        with suppress(OSError):  # then numba compiles them when they are first used
            found = compile_kernels(lambda done, total: _LOG.debug("compiling", extra={"done": done, "of": total}))
    if found.warning:
        _LOG.warning("kernels", extra={"detail": found.warning})


def _has_keys(settings: Settings) -> bool:
    with open_engine(settings) as engine:
        return engine.keys.exist(surely=True)


def allow_files(wanted: int) -> None:
    """Raise the limit of open files for this process and its children, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the address of the settings.

    Raises:
        SettingsError: the process cannot listen there.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        advice = "; another server may run there, and --port names another port" if error.errno == EADDRINUSE else ""
        raise SettingsError(
            f"cannot listen on {settings.host} port {settings.port}: {os.strerror(error.errno or 0)}{advice}"
        ) from error


def application() -> Front:
    """Create the application of a worker process, with the settings from the environment."""
    settings = load(os.environ, None, {})
    logs.configure(settings)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    return _application(settings, None, os.environ[OWNER_KEY], Path(os.environ[VARIABLE]))


def from_environment() -> Front:
    """Create the application for another ASGI server, which listens and has its own log of requests.

    Raises:
        SettingsError: a setting has an unknown name or a bad value; or packages are missing.
    """
    settings = load(os.environ, find_config(os.environ, Path.cwd()), {})
    check_tracing(settings)
    logs.configure(settings)
    _compile()
    return _application(settings, None, None)


def _application(
    settings: Settings, engine: Engine | None, owner_key: str | None, workers: Path | None = None
) -> Front:
    host = None if settings.insecure else settings.host
    app = Front(
        settings,
        engine=engine,
        own_host=host,
        warm=True,
        upkeep=sweeps_of(settings),
        workers=workers,
        owner_key=owner_key,
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()  # loaded modules stay for ever, and searching them for garbage took .15 s each time
    gc.set_threshold(GARBAGE)
    gc.enable()
    return app


def _end_with_parent() -> None:
    """Stop this process when its parent is killed, because it would keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _run_here(settings: Settings, listeners: list[socket.socket], announcement: Announcement) -> None:
    laps = StageTimes("imports")
    engine = open_engine(settings)
    laps.end("database")
    warm = ThreadPoolExecutor(1)
    warming = warm.submit(engine.warm)  # while the application is created
    try:
        app = _application(settings, engine, announcement.secret)
        laps.end("application")
        warming.result()  # a model that cannot be loaded ends the start here, and not in a trace of uvicorn
        server = _Server(_config(settings, app), _known(engine, settings), laps, announcement)
        if threading.current_thread() is threading.main_thread():
            # uvicorn raises a signal again when it has stopped; this handler lets the engine close first.
            signal.signal(signal.SIGTERM, server.handle_exit)
            signal.signal(signal.SIGINT, server.handle_exit)
        server.run(sockets=listeners)
    finally:
        warm.shutdown()
        engine.close()


def _run_workers(settings: Settings, listeners: list[socket.socket], announcement: Announcement) -> None:
    with open_engine(settings) as engine:  # opened here once: a fault of the database would be one of every worker
        known = _known(engine, settings)
        if settings.model is not None:
            engine.warm()
    gc.enable()
    os.environ.pop(CONFIG, None)
    os.environ.update(environment(settings))
    config = _config(settings, "muisti.service.app.server:application")
    _LOG.info(f"Muisti starts {settings.workers} workers at {_url(listeners[0])} with {known}")
    with tempfile.TemporaryDirectory(prefix="muisti-") as folder:  # shared by the workers
        os.environ[VARIABLE], os.environ[OWNER_KEY] = folder, announcement.secret
        announcement.publish(_own_url(listeners[0]))
        Multiprocess(config, listeners).run()


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment variables that state these settings."""
    values = {option.variable: getattr(settings, option.name) for option in options()}
    return {name: "" if value is None else str(value) for name, value in values.items()}


def _config(settings: Settings, app: Front | str) -> Config:
    config = Config(
        app,
        factory=isinstance(app, str),
        workers=settings.workers,
        loop="auto",  # uvloop where it is installed
        http=AdmittingProtocol,
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=round(settings.shutdown_grace),
    )
    config.request_seconds = settings.request_timeout
    config.connections = settings.connection_limit
    return config


class _Server(uvicorn.Server):
    """Server that logs and announces when it is ready."""

    def __init__(self, config: uvicorn.Config, known: str, laps: StageTimes, announcement: Announcement) -> None:
        super().__init__(config)
        self._known, self._laps, self._announcement = known, laps, announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            self._laps.end("model")  # and the compiled loops, for which it waits before it takes requests
            _LOG.debug("started", extra={"ms": self._laps.taken})
            self._announcement.publish(_own_url(sockets[0]))
            _LOG.info(f"Muisti is ready at {_url(sockets[0])} with {self._known}")


def _known(engine: Engine, settings: Settings) -> str:
    """Describe the server in words: its spaces, their place, whether requests need a key, and what a browser shows."""
    spaces = len(engine.spaces.list())
    asked = "requires keys" if asks(settings) or engine.keys.exist(surely=True) else "requires no key"
    where = f"{spaces} {'space' if spaces == 1 else 'spaces'} in {whereabouts(settings)}"
    pages = "a browser shows the console there, and the API at /docs" if settings.console else "/docs describes the API"
    return f"{where}, {asked}; {pages}"


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _own_url(listener: socket.socket) -> str:
    """Return the URL at which this machine reaches a listener, which may listen on all addresses."""
    host, port = listener.getsockname()[:2]
    return f"http://{_LOOPBACK.get(host, f'[{host}]' if ':' in host else host)}:{port}"


_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
