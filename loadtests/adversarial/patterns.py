"""Every regular expression of `core` and `service`, found in the source, with adversarial texts derived from its form.

A pattern that is assigned in a module is found and tried automatically. A pattern made within a function has an entry
in `ELSEWHERE`: the pattern, or the reason why no long text of a user reaches it.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from loadtests.adversarial.texts import Family, repeated
from muisti.core.model import anchors
from muisti.core.parsing import detect
from muisti.core.query import intent
from muisti.core.search import answering
from muisti.core.support.regex import Regex
from muisti.core.text import language, recognise, scripts, secrets
from muisti.service.agents import outcomes
from muisti.service.formats import markdown
from muisti.service.http import parameters

ROOT = Path(__file__).parents[2]
USES = ("search", "sub", "subn", "split", "findall", "finditer", "match", "fullmatch")
Use = Literal["search", "match", "fullmatch"]

_parser: Any = import_module("re._parser")
_codes: Any = import_module("re._constants")

OWN = "a file or setting of the person or operator who runs the command"
SHORT = "a text of bounded length: {}"
ELSEWHERE: Mapping[str, "str | Callable[[], Sequence[re.Pattern[str]]]"] = {
    "core/support/regex.py:__getattr__": "an expression of a module, found by its own name",
    "core/text/recognise.py:rule": lambda: [one.pattern for one in (*secrets.RULES, *recognise.RULES)],
    "core/graph/entities/recogniser.py:_places": lambda: [re.compile(r"(?<!\w)" + re.escape("a. b") + r"(?!\w)")],
    "core/text/scripts.py:_ASCII": lambda: [*scripts._ASCII],
    "core/text/scripts.py:ALL_SCRIPTS": lambda: [*scripts.ALL_SCRIPTS],
    "core/search/answering.py:": lambda: [*answering._ASKED.values()],
    "core/text/highlight.py:highlight": SHORT.format("single characters that a query names"),
    "core/text/language.py:_SCRIPTS": lambda: [*language._SCRIPTS.values()],
    "core/text/when/relative.py:_ago": SHORT.format("a number before a unit of time"),
    "core/text/when/time_spans.py:_CONNECTED": SHORT.format("the first 1,000 characters of a question"),
    "core/text/when/period_names.py:_HALF_READ": SHORT.format("20 characters before a period"),
    "core/text/aliases.py:_LEFT": SHORT.format("80 characters before a verb"),
    "core/parsing/detect.py:_ENCODED": lambda: [form for form, _ in detect._ENCODED],
    "core/parsing/zipped.py:_KINDS": SHORT.format("the name of a member of a ZIP, which is matched from its start"),
    "core/index/selections.py:_verdicts": SHORT.format("a glob of 1,000 characters, in which no star backs up"),
    "core/query/intent.py:_NAMED": lambda: [*intent._NAMED.values()],
    "core/query/intent.py:_read_tags": lambda: [re.compile(intent._ITEM), re.compile(r"\b(?:and|or|tag)\s")],
    "core/text/when/leads.py:_LEAD": SHORT.format("45 characters before a period"),
    "core/text/when/patterns.py:PERIOD": SHORT.format("the first 1,000 characters of a question"),
    "service/terminal/configuration.py:database_url": OWN,
    "service/terminal/options.py:seconds_of": OWN,
    "service/terminal/error_messages.py:in_words_of_a_person": SHORT.format("a refusal, shown to its person"),
    "service/connect/jsonc.py:_cut": OWN,
    "service/connect/jsonc.py:_unit": OWN,
    "service/connect/planning.py:undo": OWN,
    "service/http/decode.py:routable": lambda: [re.compile("%2[Ff]")],
    "service/formats/markdown.py:": lambda: [re.compile(f"^(?:{one})$") for one, _ in markdown._PLAIN.values()],
    "service/openapi/specification.py:_parameters": "paths of the routes",
    "core/embedding/encoder.py:__init__": "names of special tokens of a model, which are matched verbatim",
    "core/model/anchors.py:": lambda: [*anchors._HASHES.values()],
    "service/connect/yaml.py:put": OWN,
    "service/connect/yaml.py:_line": OWN,
    "service/mcp/review.py:page": "the style sheet of the console",
    "service/agents/outcomes.py:": lambda: [one for _, one in outcomes._WORDS],
    "service/memory_stores/names.py:space_names": lambda: [re.compile("[^a-z0-9]+")],
    "service/conversations/turn_and_topic_routes.py:summarise_exchange": SHORT.format(
        "a part of a path, of which 15 digits are read"
    ),
    "service/http/parameters.py:etags": lambda: [re.compile(parameters._TAG)],
    "service/formats/importers/basic_memory.py:_of": lambda: [
        re.compile(r"\n{3,}"),
        re.compile(r"(?m)^#+ (Observations|Relations)\s*$\n?"),
    ],
    "service/formats/importers/claude.py:_sections": lambda: [
        re.compile(r"^(?=#{1,6} |\*\*[^*\n]+\*\*\s*$)", re.MULTILINE)
    ],
    "service/formats/importers/items.py:clean": lambda: [re.compile("[\ud800-\udfff]")],
    "service/formats/importers/items.py:retrieved": SHORT.format("a number of digits"),
    "service/formats/importers/items.py:when": SHORT.format("a time, of which fullmatch reads each character once"),
    "service/mcp/refusals.py:_said": SHORT.format("the words of a refusal"),
    "service/formats/markdown.py:_name": SHORT.format("60 characters of a name"),
    "service/terminal/project.py:_letters": OWN,
    "service/terminal/project.py:_numbered": OWN,
    "service/terminal/project.py:space_name": OWN,
    "service/terminal/project.py:remote_path": OWN,
    "service/evaluation/dataset.py:_PLACES": OWN,
    "service/routes/transfer.py:undo_import": SHORT.format("a segment of a path"),
    "service/settings/forms.py:_citation": OWN,
    "service/settings/forms.py:parse_bytes": OWN,
    "service/settings/forms.py:read": OWN,
    "service/settings/sources.py:_hint": OWN,
}


class Used(NamedTuple):
    """A pattern, the place of it, and the way in which it is applied."""

    place: str
    pattern: "re.Pattern[Any]"
    use: Use
    top: int = 25_000  # characters

    def on(self, subject: str) -> object:
        """Apply it to all of a text, as the source does."""
        given = subject.encode("utf-8", "surrogatepass") if isinstance(self.pattern.pattern, bytes) else subject
        if self.use == "search":
            return sum(1 for _ in self.pattern.finditer(given))
        return self.pattern.match(given) if self.use == "match" else self.pattern.fullmatch(given)


@cache
def places() -> tuple[str, ...]:
    """Return the place of each call of `re` in the source: the file, and the name that is assigned, or the function."""
    return tuple(
        dict.fromkeys(f"{path.relative_to(ROOT).as_posix()}:{name}" for path in files() for name in _names(path))
    )


def used() -> Iterator[Used]:
    """Yield every pattern that a text of a user may reach.

    Raises:
        LookupError: a pattern is made where it cannot be found; it needs an entry in `ELSEWHERE`.
    """
    for place in places():
        found = ELSEWHERE.get(place)
        path, _, name = place.partition(":")
        if found is None:
            yield Used(place, _of(path, name), _use(path, name))
        elif not isinstance(found, str):
            yield from (Used(place, pattern, "search") for pattern in found())


def families(pattern: "re.Pattern[Any]") -> Mapping[str, Family]:
    """Texts against a pattern: each of its repetitions pumped, begun over and over, and its match all but finished."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = _parser.parse(source, pattern.flags & ~re.DEBUG)
    made: dict[str, Family] = {}
    whole = _example(tree)
    for before, unit in dict.fromkeys(_pumps(tree, "")):
        for end in ("", "\x01"):
            made[f"{before!r} + {unit!r}… + {end!r}"] = _pumped(before, unit, end)
        made[f"({before!r} + {unit!r})…"] = repeated(before + unit)
    for cut in {whole, whole[:-1], f"{whole}\x01"} - {""}:
        made[f"{cut!r}…"] = repeated(cut)
    return made


def _pumped(before: str, unit: str, end: str) -> Family:
    return lambda length: before + unit * (length // len(unit)) + end


def files() -> Iterator[Path]:
    for folder in ("core", "service"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def _names(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and _is_of_re(node.func):
                yield _name(statement, node)


def _is_of_re(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=ast.Name(id="re"), attr=called):
            return called in ("compile", *USES)
        case ast.Name(id="regex"):
            return True
        case _:
            return False


def _name(statement: ast.stmt, call: ast.Call) -> str:
    """The name that a module gives to a pattern, or the innermost function that makes one."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            inner = [one for one in ast.walk(statement) if isinstance(one, ast.FunctionDef) and call in ast.walk(one)]
            return inner[-1].name if inner else statement.name
        case _:
            return ""


def _of(path: str, name: str) -> "re.Pattern[Any]":
    module = import_module(f"muisti.{path.removesuffix('.py').replace('/', '.')}")
    found = getattr(module, name, None)
    if not isinstance(found, re.Pattern | Regex):
        raise LookupError(f"{path}:{name} is no pattern of the module: name it in loadtests/adversarial/patterns.py")
    return cast("re.Pattern[Any]", found)


def _use(path: str, name: str) -> Use:
    """Return the most costly way in which a pattern is applied; a private one is applied in its own file alone."""
    among = [ROOT / path] if name.startswith("_") else files()
    found = {use for file in among for use in re.findall(rf"\b{name}\.(\w+)", file.read_text("utf-8")) if use in USES}
    return "search" if not found or found - {"match", "fullmatch"} else "match" if "match" in found else "fullmatch"


def _pumps(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield, for each unbounded repetition, a text that matches the part before it and one that it repeats."""
    for code, value in tree:
        if code in (_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT):
            least, most, inner = value
            yield from _pumps(inner, before)
            for unit in _examples(inner):
                if most > 8 and unit:
                    yield before, unit
        else:
            for inner in _inside(code, value):
                yield from _pumps(inner, before)
        before += _example([(code, value)])


def _inside(code: Any, value: Any) -> list[Any]:
    if code is _codes.BRANCH:
        return value[1]
    if code is _codes.SUBPATTERN:
        return [value[3]]
    if code is _codes.ATOMIC_GROUP:
        return [value]
    if code in (_codes.ASSERT, _codes.ASSERT_NOT):
        return [value[1]]
    return []


def _examples(tree: Any) -> Iterator[str]:
    """Yield some texts that a tree matches: one for each branch or character that it may begin with."""
    if len(tree) == 1 and tree[0][0] is _codes.IN:
        yield from dict.fromkeys(_members(tree[0][1]))
    elif len(tree) == 1 and tree[0][0] is _codes.BRANCH:
        yield from map(_example, tree[0][1][1])
    else:
        yield _example(tree)


def _example(tree: Any) -> str:
    """Return a short text that a parsed pattern matches, as far as its form shows one."""
    return "".join(_piece(code, value) for code, value in tree)


def _piece(code: Any, value: Any) -> str:
    if code is _codes.LITERAL:
        return chr(value)
    if code is _codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if code is _codes.ANY:
        return "a"
    if code is _codes.IN:
        return next(iter(_members(value)), "a")
    if code is _codes.BRANCH:
        return _example(value[1][0])
    if code is _codes.SUBPATTERN:
        return _example(value[3])
    if code is _codes.ATOMIC_GROUP:
        return _example(value)
    if code in (_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT):
        return _example(value[2]) * min(max(value[0], 1), 64)
    return ""


_CATEGORIES = {"DIGIT": "1", "NOT_DIGIT": "a", "SPACE": " ", "NOT_SPACE": "!", "WORD": "a", "NOT_WORD": "-"}


def _members(charset: Any) -> Iterator[str]:
    """Yield some characters of a set."""
    if charset and charset[0][0] is _codes.NEGATE:
        wrong = (
            re.compile("[" + "".join(re.escape(char) for char in _members(charset[1:])) + "]") if charset[1:] else None
        )
        yield from [char for char in 'a !1"-([\n' if wrong is None or not wrong.match(char)][:2]
        return
    for code, value in charset[:3]:
        if code is _codes.LITERAL:
            yield chr(value)
        elif code is _codes.RANGE:
            yield chr(value[0])
        elif code is _codes.CATEGORY:
            yield _CATEGORIES[str(value).removeprefix("CATEGORY_")]
