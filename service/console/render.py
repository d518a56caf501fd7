"""Draws pages from templates: values are escaped, names that are missing are errors."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from muisti.service.console import shown

MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATIC = "/console/static"


@dataclass(frozen=True, slots=True)
class View:
    """A page to draw: a template, the values that it shows, and the block that htmx gets instead of the page."""

    template: str
    model: Mapping[str, Any] = field(default_factory=dict[str, Any])
    block: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the console as it is sent. `url` changes with its content; `integrity` is its SHA-384 (SRI)."""

    content: bytes
    media: str
    url: str
    integrity: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return the files of the console by their name, those of other projects as `vendor/NAME`."""
    root = resources.files("muisti.service.console").joinpath("static")
    found = {one.name: one for one in root.iterdir() if one.is_file()}
    found |= {f"vendor/{one.name}": one for one in root.joinpath("vendor").iterdir()}
    return {name: _asset(name, one.read_bytes()) for name, one in found.items() if PurePosixPath(name).suffix in MEDIA}


def _asset(name: str, content: bytes) -> Asset:
    mark = hashlib.sha256(content).hexdigest()[:12]
    integrity = "sha384-" + shown.base64_of(hashlib.sha384(content).digest())
    return Asset(content, MEDIA[PurePosixPath(name).suffix], f"{STATIC}/{name}?v={mark}", integrity)


@cache
def environment() -> Environment:
    """Return the templates, with the functions and filters that they may use."""
    made = Environment(
        loader=PackageLoader("muisti.service.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= shown.FILTERS
    made.globals["asset"] = lambda name: assets()[name]
    made.policies["json.dumps_function"] = json.dumps
    return made


def warm() -> None:
    """Read all files and compile all templates, so that no request does it on the event loop."""
    assets()
    for name in environment().list_templates():
        environment().get_template(name)


def draw(view: View, shared: Mapping[str, Any], *, part: bool) -> str:
    """Return the HTML of a view; with `part` its block alone, if it names one."""
    template = environment().get_template(view.template)
    values = {**shared, **view.model}
    if part and view.block is not None:
        return "".join(template.blocks[view.block](template.new_context(values)))
    return template.render(values)
