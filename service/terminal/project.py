"""Default space of a command: that of the project to which the working directory belongs.

This module reads `.git/config` and does not run git. A container or an editor's hook may have no git. git refuses a
repository that another user owns, and follows `GIT_DIR` to another one; both would silently change the space. The
price: `include` and `insteadOf` in git's configuration have no effect on the name.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from urllib.parse import unquote

import msgspec

from muisti.core.model.errors import InvalidInput

DEFAULT = "default"
FLAG = "--space"
VARIABLE = "MUISTI_SPACE"
NEAR = 0.85  # least similarity of a mistyped name, as difflib measures it
NEAR_MAX = 5
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
NAME_RULE = "1 to 63 of a-z, 0-9, '.', '_' and '-', the first a letter or a digit"
NAME_MAX = 63
HASH_HEX = 6

_SECTION = re.compile(r'\[\s*+([A-Za-z0-9.-]++)\s*+(?:"([^"]*+)"\s*+)?\]')
_URL = re.compile(r"url\s*=(.*)", re.IGNORECASE)
_HASHED = re.compile(r"-[0-9a-f]{6}$")
_NO_NAMES = frozenset({"", ".", "..", ".git", "_git"})  # _git: Azure puts it before the repository


class Choice(msgspec.Struct, frozen=True):
    """Chosen space, and in words the reason."""

    space: str
    why: str


def choose(flag: str | None, environ: Mapping[str, str], cwd: Path) -> Choice:
    """Choose a space by the first of these that exists.

    They are the flag, MUISTI_SPACE, the git remote `origin`, the folder of the repository, the folder `cwd`, `default`.

    Raises:
        InvalidInput: the flag or the variable is no valid name, or the repository cannot be read.
    """
    if flag is not None:
        return Choice(_checked(flag, FLAG), FLAG)
    if environ.get(VARIABLE):
        return Choice(_checked(environ[VARIABLE], VARIABLE), VARIABLE)
    cwd = _resolved(cwd)
    try:
        found = _repository(cwd)
        url = _origin(found.config) if found else None
    except OSError as error:
        problem = f"the git repository around {cwd} cannot be read ({error.strerror}); name a space with --space"
        raise InvalidInput.at("$.space", problem) from error
    if remote := remote_path(url or ""):
        return Choice(space_name(remote), f"git remote origin, {'/'.join(remote)!r}")
    if found and found.name:
        return Choice(space_name([found.name]), f"folder of the git repository, {found.name!r}")
    if cwd.name:
        return Choice(space_name([cwd.name]), f"working directory, {cwd.name!r}")
    return Choice(DEFAULT, "nothing else names one")


class Kin(msgspec.Struct, frozen=True):
    """Another space that may belong to the same project, and advice on how to reach its memories."""

    space: str
    advice: str


def kin(choice: Choice, cwd: Path, spaces: Iterable[str]) -> list[Kin]:
    """Find spaces that may belong to the chosen project: its earlier names, folders above, similar names.

    Raises:
        InvalidInput: the repository cannot be read.
    """
    others = sorted({*spaces} - {choice.space})
    if choice.why in (FLAG, VARIABLE):
        return [Kin(name, f"Did you mean --space {name}?") for name in _similar(choice.space, others)]
    cwd = _resolved(cwd)
    found = _repository(cwd)
    remote = remote_path((_origin(found.config) if found else None) or "")
    merge = f"`muisti space merge {{}} {choice.space} --drop` joins them"
    earlier = _earlier(cwd, found, remote)
    alike = {*_similar(choice.space, others), *_same_repository(remote, others)}
    above = set[str]() if found else {space_name([folder.name]) for folder in cwd.parents if folder.name}
    advice = {
        **{name: f"--space {name} works in the space of a folder above." for name in above},
        **{name: f"{name} has a similar name. If it is the same project, {merge.format(name)}." for name in alike},
        **{name: f"{name} may hold earlier memories of this project: {merge.format(name)}." for name in earlier},
    }
    return [Kin(name, advice[name]) for name in others if name in advice]


def _earlier(cwd: Path, found: "_Repository | None", remote: Sequence[str]) -> set[str]:
    """Return names that the project may have had before it was a repository, or had a remote."""
    folders = [cwd.name]
    if found is not None:
        inside = [folder.name for folder in (cwd, *cwd.parents) if folder.is_relative_to(found.root)]
        folders = [found.name, *inside]
    return {space_name([name]) for name in (*remote[-1:], *folders) if name}


def _similar(space: str, others: Sequence[str]) -> list[str]:
    """Return names with the same letters, or with a likely typing error; `api-v1` and `api-v2` are neither."""
    near = get_close_matches(space, others, n=NEAR_MAX, cutoff=NEAR)
    return [name for name in others if _letters(name) == _letters(space) or name in near and not _numbered(name, space)]


def _same_repository(remote: Sequence[str], others: Sequence[str]) -> list[str]:
    """Names of a repository of the same name with another owner, such as a fork."""
    if len(remote) < 2:
        return []
    return [name for name in others if _letters(_HASHED.sub("", name).partition(".")[2]) == _letters(remote[-1])]


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _numbered(one: str, other: str) -> bool:
    """Tell whether names differ in their digits, as those of versions do."""
    return re.sub(r"[^0-9]", "", one) != re.sub(r"[^0-9]", "", other)


def space_name(segments: Sequence[str]) -> str:
    """Return a valid name for one or two segments of a path, joined by `.`.

    Two paths must not get one name. So six hex digits of a hash are appended when a character was replaced or cut, or a
    segment contains a `.`. Case needs no hash, because forges compare paths without it.

    >>> [space_name(s) for s in (["Acme", "Web"], ["acme", "next.js"], ["My Notes"])]
    ['acme.web', 'acme.next.js-bc8cd1', 'my-notes-6bc9a4']
    """
    original = "/".join(segments).lower()
    name = re.sub(r"[^a-z0-9._-]", "-", original.replace("/", ".")).lstrip("._-")
    exact = name == original.replace("/", ".") and original.count(".") == 0 and len(name) <= NAME_MAX
    if exact and name:
        return name
    digest = blake2b(original.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_HEX]
    return f"{name[: NAME_MAX - HASH_HEX - 1] or 'space'}-{digest}"


def remote_path(url: str) -> tuple[str, ...]:
    """Return the last two segments of a remote's path, without `.git`; fewer when there are fewer.

    Text before an `@` is removed, and so is a query string, so that no password gets into a name.

    >>> [remote_path(u) for u in ("git@github.com:acme/web.git", "https://me:s3cret@host:8443/deep/acme/web/")]
    [('acme', 'web'), ('acme', 'web')]
    """
    text = url.strip().replace("\\", "/")
    scheme, mark, rest = text.partition("://")
    if mark:
        rest = re.split(r"[?#]", rest)[0]
        path = rest if scheme == "file" else rest.partition("/")[2]
    elif re.match(r"\w+::", text):
        return ()  # a command that stands in for a remote
    else:
        head, slash, tail = text.partition("/")
        path = head.rpartition(":")[2] + slash + tail  # user@host:path, a drive of Windows, or a plain path
    path = re.sub(r"\A.*[^/]@", "", path)
    kept = [segment for segment in unquote(path).split("/") if segment not in _NO_NAMES][-2:]
    return (*kept[:-1], kept[-1].removesuffix(".git")) if kept else ()


def _checked(name: str, source: str) -> str:
    if not NAME.fullmatch(name):
        raise InvalidInput.at("$.space", f"{source} is {name!r}; a space name is {NAME_RULE}")
    return name


class _Repository(msgspec.Struct, frozen=True):
    name: str
    config: Path
    root: Path


def _resolved(path: Path) -> Path:
    """Return a path without links; links that lead to themselves stay, for which `Path.resolve` raises."""
    return Path(os.path.realpath(path))


def _repository(cwd: Path) -> _Repository | None:
    """Find the repository around `cwd`. A worktree counts as its main repository, a submodule as its own."""
    for folder in (cwd, *cwd.parents):
        marker = folder / ".git"
        if (marker / "HEAD").exists():
            return _Repository(folder.name, marker / "config", folder)
        if marker.is_file():
            link = marker.read_text(encoding="utf-8", errors="replace").partition(":")[2].strip()
            return _linked(folder, _resolved(folder / link))
    return None


def _linked(folder: Path, git: Path) -> _Repository:
    try:
        shared = _resolved(git / (git / "commondir").read_text(encoding="utf-8").strip())
    except FileNotFoundError:  # a submodule has none
        return _Repository(folder.name, git / "config", folder)
    name = shared.parent.name if shared.name == ".git" else shared.name.removesuffix(".git")
    return _Repository(name, shared / "config", folder)


def _origin(config: Path) -> str | None:
    try:
        text = config.read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError:
        return None
    inside = False
    for line in text.replace("\\\n", "").split("\n"):
        entry = line.strip()
        if section := _SECTION.match(entry):
            inside = section[1].lower() == "remote" and section[2] == "origin"
            entry = entry[section.end() :].strip()
        if inside and (url := _URL.match(entry)):
            return _unquoted(url[1])
    return None


def _unquoted(text: str) -> str:
    """Return a value of git's configuration without quotes, escapes and a comment."""
    kept: list[str] = []
    quoted, characters = False, iter(text.strip())
    for character in characters:
        if character == "\\":
            kept.append(next(characters, ""))
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            kept.append(character)
    return "".join(kept).strip()
