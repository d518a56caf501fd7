"""Reading of Python files into records."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from muisti.core.parsing.code.building import DOC, LONGEST_CHAIN, Builder, nodes, text
from muisti.core.parsing.code.records import TOP, Chain, Form, Record
from muisti.core.parsing.code.types import types

if TYPE_CHECKING:
    from tree_sitter import Node

_PATTERNS = """
(function_definition) @function
(class_definition) @class
(import_statement) @import
(import_from_statement) @from
(call) @call
(decorator) @decorator
(assignment) @assignment
(named_expression) @walrus
(as_pattern) @as
(for_statement) @for
(for_in_clause) @for
(return_statement) @return
(type) @type
(argument_list (identifier) @reference)
(argument_list (attribute) @reference)
(keyword_argument value: (identifier) @reference)
(keyword_argument value: (attribute) @reference)
(except_clause (identifier) @reference)
(raise_statement (identifier) @reference)
"""
_NAMED = """
(function_definition) @function
(class_definition) @class
"""
_ORDER = {"function": 0, "class": 0}
_FLAGS = {
    "staticmethod": "static",
    "classmethod": "class",
    "property": "property",
    "cached_property": "property",
    "functools.cached_property": "property",
}
_THROUGH = frozenset(("await", "parenthesized_expression"))


def read(path: str, source: bytes) -> Record:
    """Return the record of a Python file. Broken code gives what could be read of it."""
    file = _File(Builder(path, "python", source))
    for name, node in nodes(source, "python", _PATTERNS, _ORDER):
        getattr(file, f"on_{name}")(file.builder.enter(node.start_byte), node)
    return file.builder.record()


def names(source: bytes) -> list[str]:
    """Return the names of the functions, methods and classes of a Python file, in the order of its record."""
    return [text(node.child_by_field_name("name")) for _, node in nodes(source, "python", _NAMED, _ORDER)]


def chain(node: "Node | None") -> Chain | None:
    """Return a dotted expression as a chain, None when it is something else."""
    found: list[str] = []
    while node is not None and len(found) < LONGEST_CHAIN:
        kind = node.type
        if kind == "identifier":
            return (text(node), *reversed(found))
        if kind == "attribute":
            found.append(text(node.child_by_field_name("attribute")))
            node = node.child_by_field_name("object")
        elif kind == "call":
            found.append("()")
            node = node.child_by_field_name("function")
        elif kind == "subscript":
            found.append("[]")
            node = node.child_by_field_name("value")
        elif kind in _THROUGH and node.named_child_count:
            node = node.named_children[-1]
        elif kind in ("string", "concatenated_string"):
            return ("''", *reversed(found))
        else:
            return None
    return None


def alternatives(node: "Node | None") -> list[Chain]:
    """Return the chains that the value of an expression may come from."""
    if node is None:
        return []
    if node.type == "conditional_expression" and node.named_child_count == 3:
        return _chains((node.named_children[0], node.named_children[2]))
    if node.type == "boolean_operator":
        return _chains(node.named_children)
    if node.type in ("list", "set", "tuple"):
        return [("[*]", *one) for one in _chains(node.named_children[:4])]
    if node.type == "dictionary":
        pairs = node.named_children[:4]
        return [("{*}", *one) for one in _chains(pair.child_by_field_name("value") for pair in pairs)]
    if node.type in ("list_comprehension", "set_comprehension", "generator_expression"):
        return [("[*]", *one) for one in _chains((node.child_by_field_name("body"),))]
    return _chains((node,))


def _chains(found: "Iterable[Node | None]") -> list[Chain]:
    return [one for node in found if (one := chain(node))]


class _File:
    """Handlers of the captured nodes, each of which gets the scope that it is in."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._decorators: list[str] = []

    def on_function(self, scope: int, node: "Node") -> None:
        builder = self.builder
        name, body = text(node.child_by_field_name("name")), node.child_by_field_name("body")
        method = builder.kind(scope) == "class"
        returned = node.child_by_field_name("return_type")
        parameters = node.child_by_field_name("parameters")
        given = [] if parameters is None else [*map(_parameter, parameters.named_children)]
        number = builder.define(
            node,
            name,
            "method" if method else "function",
            scope,
            scope=node,
            signature=builder.slice(node.start_byte, node.end_byte if body is None else body.start_byte).rstrip(" :"),
            doc=_doc(body),
            parameters=tuple(one for one, _ in given if one),
            returns=types(text(returned)) if returned is not None else (),
            flags=self._flags(),
        )
        for one, declared in given:
            if one:
                builder.bind(number, one, "type" if declared else "opaque", declared, scope)

    def on_class(self, scope: int, node: "Node") -> None:
        builder = self.builder
        body, above = node.child_by_field_name("body"), node.child_by_field_name("superclasses")
        named = [] if above is None else [one for one in above.named_children if one.type != "keyword_argument"]
        bases = [(one, tuple(part for part in found if part != "[]")) for one in named if (found := chain(one))]
        self._flags()
        for base, found in bases:
            builder.mention(scope, "inherit", found, base)
        builder.define(
            node,
            text(node.child_by_field_name("name")),
            "class",
            scope,
            scope=node,
            signature=builder.slice(node.start_byte, node.end_byte if body is None else body.start_byte).rstrip(" :"),
            doc=_doc(body),
            bases=tuple(found for _, found in bases),
        )

    def on_decorator(self, scope: int, node: "Node") -> None:
        inner = node.named_children[0] if node.named_child_count else None
        if inner is not None and inner.type in ("identifier", "attribute"):
            self._decorators.append(text(inner))
            self.builder.mention(scope, "reference", chain(inner), _place(inner))

    def on_import(self, scope: int, node: "Node") -> None:
        for one in node.named_children:
            line = one.start_point[0] + 1
            if one.type == "dotted_name":
                module = text(one)
                first = module.partition(".")[0]
                self.builder.bind(scope, first, "module", [(first,)])
            elif one.type == "aliased_import":
                module = text(one.child_by_field_name("name"))
                self.builder.bind(scope, text(one.child_by_field_name("alias")), "module", [(module,)])
            else:
                continue
            self.builder.imports.append((module, line))

    def on_from(self, scope: int, node: "Node") -> None:
        module = text(node.child_by_field_name("module_name"))
        self.builder.imports.append((module, node.start_point[0] + 1))
        if any(one.type == "wildcard_import" for one in node.children):
            self.builder.stars.append(module)
        for one in node.children_by_field_name("name"):
            name = text(one.child_by_field_name("name")) if one.type == "aliased_import" else text(one)
            alias = text(one.child_by_field_name("alias")) if one.type == "aliased_import" else name
            self.builder.bind(scope, alias, "from", [(module, name)])
            self.builder.mention(scope, "reference", (alias,), one)

    def on_call(self, scope: int, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is None:
            return
        place = _place(function)
        found = chain(function)
        if found is None and function.type == "attribute":
            found = ("?", text(place))
        self.builder.mention(scope, "call", found, place)

    def on_assignment(self, scope: int, node: "Node") -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        declared = node.child_by_field_name("type")
        if declared is not None:
            named = types(text(declared))
            self._assign(scope, left, "type" if named else "opaque", [*named])
            return
        while right is not None and right.type == "assignment":  # a = b = value
            right = right.child_by_field_name("right")
        if left is not None and left.type in ("pattern_list", "tuple_pattern"):
            same = right is not None and right.type in ("expression_list", "tuple")
            values = right.named_children if same and right is not None else []
            for number, one in enumerate(left.named_children):
                value = values[number] if len(values) == left.named_child_count else None
                self._assign(scope, one, "value", alternatives(value))
            return
        self._assign(scope, left, "value", alternatives(right))

    def on_walrus(self, scope: int, node: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        self._assign(scope, name, "value", alternatives(value))

    def on_as(self, scope: int, node: "Node") -> None:
        target = node.child_by_field_name("alias")
        value = node.named_children[0] if node.named_child_count else None
        if target is None or not target.named_child_count:
            return
        found = alternatives(value)
        if node.parent is not None and node.parent.type == "except_clause":
            found = [(*one, "()") for one in found]
        self._assign(scope, target.named_children[0], "value", found)

    def on_for(self, scope: int, node: "Node") -> None:
        self._assign(
            scope, node.child_by_field_name("left"), "element", alternatives(node.child_by_field_name("right"))
        )

    def on_return(self, scope: int, node: "Node") -> None:
        if scope >= 0 and self.builder.kind(scope) in ("function", "method") and node.named_child_count:
            self.builder.gives.setdefault(scope, []).extend(alternatives(node.named_children[0])[:2])

    def on_type(self, scope: int, node: "Node") -> None:
        inner = node.named_children[0] if node.named_child_count else None
        if inner is not None and (found := chain(inner)):
            self.builder.mention(scope, "reference", tuple(one for one in found if one != "[]"), _place(inner))

    def on_reference(self, scope: int, node: "Node") -> None:
        self.builder.mention(scope, "reference", chain(node), _place(node))

    def _flags(self) -> tuple[str, ...]:
        found = tuple(_FLAGS[name] for name in self._decorators if name in _FLAGS)
        self._decorators.clear()
        return found

    def _assign(self, scope: int, target: "Node | None", form: Form, chains: list[Chain]) -> None:
        if target is None:
            return
        if target.type in ("pattern_list", "tuple_pattern", "list_pattern"):
            for one in target.named_children:
                self._assign_name(scope, one, "opaque", [])
            return
        self._assign_name(scope, target, form, chains)

    def _assign_name(self, scope: int, target: "Node", form: Form, chains: list[Chain]) -> None:
        builder = self.builder
        if target.type == "identifier":
            name = text(target)
            builder.bind(scope, name, form if chains else "opaque", chains)
            if scope == TOP and name.isupper() and not name.startswith("_"):
                builder.define(target, name, "constant", scope, signature=_line(builder, target))
        elif target.type == "attribute" and (owner := builder.around(scope)) != TOP and chains:
            found = chain(target)
            first = builder.definitions[scope].parameters[:1]
            if found is not None and len(found) == 2 and (found[0],) == first:
                builder.bind(owner, found[1], form, chains, scope)


def _parameter(node: "Node") -> tuple[str, tuple[Chain, ...]]:
    """Return the name and the types of a parameter."""
    if node.type == "identifier":
        return text(node), ()
    name = node.child_by_field_name("name")
    if name is None:
        name = node.named_children[0] if node.named_child_count else None
    if name is not None and name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
        return text(name).lstrip("*"), ()
    declared = node.child_by_field_name("type")
    return text(name).lstrip("*"), types(text(declared)) if declared is not None else ()


def _doc(body: "Node | None") -> str:
    first = body.named_children[0] if body is not None and body.named_child_count else None
    if first is None or first.type != "expression_statement" or not first.named_child_count:
        return ""
    inner = first.named_children[0]
    if inner.type != "string":
        return ""
    lines = text(inner).lstrip("rRuUbBfF").strip("\"'").strip().splitlines()
    return lines[0].strip()[:DOC] if lines else ""


def _place(node: "Node") -> "Node":
    return (node.child_by_field_name("attribute") if node.type == "attribute" else None) or node


def _line(builder: Builder, target: "Node") -> str:
    end = builder.source.find(b"\n", target.start_byte)
    return builder.slice(target.start_byte, len(builder.source) if end < 0 else end, 120)
