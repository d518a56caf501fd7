"""Messages of errors: refusals name the typed option in place of a field of the API, others say what to do."""

import errno
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from muisti.core.model.errors import InvalidInput, MuistiError, StoreCorrupt, StoreFull, StoreReplaced
from muisti.service.settings import SettingsError
from muisti.service.terminal.base import USAGE, Failure
from muisti.service.terminal.client import ApiError
from muisti.service.terminal.views import likeness

# Fields of the API, with the command-line parameters that set them under another name.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "content": ("text",),
    "half_life_days": ("half_life",),
    "recency": ("recency_weight",),
    "weight": ("recency_weight",),
    "from": ("from_", "system"),
    "other": ("other", "name"),
    "to": ("into", "to"),
    "version": ("to", "if_version"),
    "created_at": ("after", "before"),
    "any": ("tags",),
    "scopes": ("scopes", "mode"),
    "url": ("address", "target", "url"),
    "memory_id": ("id_", "name", "expected"),
    "language": ("languages",),
    "size": ("chunk_size",),
    "path": ("path", "name"),
    "topics": ("merge",),
    "overlap_seconds": ("overlap",),
    "qrels": ("judged",),
    "bytes": ("size",),
}
HEADS = {"duplicate": "a memory says the same already", "contradiction": "a memory says the contrary"}
# Phrases of the API in messages, with their replacements for the command line.
WORDS = (
    ("take next_cursor of the page before", "use the cursor that the page before printed"),
    (
        "looks like {epoch}:{number}, as Muisti-Seq gave it",
        "looks like EPOCH:NUMBER, as the last line of `muisti changes` shows it",
    ),
    ("send an RFC 3339 time such as", "give a time such as"),
    ("send its name,", "type its name,"),
    ("send the next turn, or PATCH that one to correct it", "give the next --turn; `muisti update` corrects that one"),
    ("PATCH or supersede that one to change it, or name it in derived_from", "--derived-from names it as the source"),
    ("send atomic=false to import in steps", "--each imports in steps"),
    ("send the file again", "import the file again"),
    ("send less at a time", "store less at a time"),
    ("; send it again", "; repeat the command"),
    ("send limit=", "give --limit "),
)
_PART = re.compile(r"[^.\[\]]+")
SYSTEM = {  # advice by the number of an error of the system
    errno.ENOSPC: "free some space, or name another place",
    errno.EDQUOT: "free some space, or name another place",
    errno.EFBIG: "free some space, or name another place",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: "change its permissions, or name another place",
    errno.EPERM: "change its permissions, or name another place",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "name a file",
}
NEXT: dict[type[MuistiError], str] = {
    StoreCorrupt: "`muisti doctor` says what is wrong; --database names another file",
    StoreFull: "free space on the disk, and repeat the command",
    StoreReplaced: "repeat the command",
}


def refusal_lines(error: ApiError, *, advised: bool) -> list[str]:
    """Return the lines of an error message: the fault, and the memories in conflict. `advised`: advice will follow."""
    lines = [field_line(str(bad["path"]), str(bad["message"])) for bad in error.errors or ()]
    if not lines or error.code not in ("invalid_input", "sensitive_content"):
        head = HEADS.get(error.code) if error.conflicts else None
        detail = str(error).partition("; ")[0] if advised else str(error)
        lines.insert(0, head or in_words_of_a_person(detail))
    elif advised:
        lines = [line.partition("; ")[0] for line in lines]
    unique = [*dict.fromkeys(lines)]
    return [*unique[:1], *(f"  {line}" for line in unique[1:]), *(f"  {likeness(one)}" for one in error.conflicts)]


def way_on(instead: Mapping[str, Any]) -> str:
    """Return the command that goes on where an undo was refused, or nothing.

    >>> way_on({"import_id": 3})
    '`muisti import --undo 3` takes back import 3.'
    """
    if (task := instead.get("task")) is not None:
        return f"`muisti tasks watch {task}` waits for its end, `muisti tasks cancel {task}` ends it."
    if (number := instead.get("import_id")) is not None:
        return f"`muisti import --undo {number}` takes back import {number}."
    request = instead.get("request")
    return "" if request is None else f"`muisti undo --request {request}` takes back the call before it."


def field_line(path: str, message: str) -> str:
    """Describe a bad field in one line.

    >>> field_line("$.filter.colour", "there is no field 'colour'")
    "filter.colour: there is no field 'colour'"
    """
    named = name_of(path)
    text = in_words_of_a_person(message)
    return text if not named or text.startswith(named) else f"{named}: {text}"


def name_of(path: str) -> str:
    """Return the option or argument of the running command for a JSON path, and the part of its value.

    >>> name_of("$.tags[2]"), name_of("$")
    ('tags', '')
    """
    parts = [part for part in _PART.findall(path.removeprefix("$")) if not part.isdecimal()]
    context = click.get_current_context(silent=True)
    known = {} if context is None else _names(context)
    for at, part in enumerate(parts):
        found = next((known[name] for name in FIELDS.get(part, (part,)) if name in known), None)
        if found is not None:
            rest = [one for one in parts[at + 1 :] if not (part == "recency" or one in ("any", "all"))]
            deeper = part == "recency" and "half_life_days" in parts and known.get("half_life")
            return str(deeper or found) + (f" ({'.'.join(rest)})" if rest else "")
    return ".".join(parts)


def in_words_of_a_person(message: str) -> str:
    """Return the message without JSON paths, and without terms of the API."""
    for theirs, ours in WORDS:
        message = message.replace(theirs, ours)
    return re.sub(r"\$\.([a-z_.\[\]0-9]+)", lambda found: name_of(found[0]), message)


def _names(context: click.Context) -> dict[str, str]:
    """Map the names of the command's parameters to how they are typed; its own hide the global ones."""
    found: dict[str, str] = {}
    shared = getattr(context.command, "shared", ())
    for param in [*shared, *(param for param in context.command.params if param not in shared)]:
        if param.name is None or param.name == "filter_" and not context.params.get("filter_"):
            continue
        label = _typed(param, context)
        found |= {param.name: label, param.name.rstrip("_"): label}
    return found


def _typed(param: click.Parameter, context: click.Context) -> str:
    if isinstance(param, click.Option):
        return max((name for name in param.opts), key=len)
    return param.make_metavar(context).strip("[]")


def failure_of(error: BaseException) -> Failure | None:
    """Return an error as a failure with a message for the user; None for a fault of Muisti itself.

    >>> failure_of(ExceptionGroup("", [OSError(errno.ENOSPC, "No space left on device", "a.db")])).message
    "No space left on device: 'a.db'; free some space, or name another place"
    """
    for found in _leaves(error):
        if isinstance(found, Failure):
            return found
        if isinstance(found, SettingsError):
            return Failure(str(found), USAGE)
        if isinstance(found, InvalidInput):
            return Failure("; ".join(problem.message for problem in found.problems), USAGE)
        if isinstance(found, MuistiError):
            return Failure(_with(str(found), NEXT.get(type(found))))
        if isinstance(found, OSError):
            where = f": {found.filename!r}" if found.filename is not None else ""
            said = f"{found.strerror or type(found).__name__}{where}"
            return Failure(_with(said, SYSTEM.get(found.errno or 0)))
        if isinstance(found, ImportError) and found.name == "numba":
            return Failure(str(found))
    return None


def _with(said: str, advice: str | None) -> str:
    return said if advice is None or ";" in said else f"{said}; {advice}"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
